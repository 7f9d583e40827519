"""``sds-conformance history``."""

from __future__ import annotations

from pathlib import Path

import click

from ..reports.comparing.page import INDEX, history_site
from .browser import show_page
from .files import refuse_link, usage_errors, write_errors, write_file
from .options import console
from .paths import INPUT, OUTPUT_FOLDER

_EPILOG = """
\b
Examples:
  sds-conformance history nightly
  sds-conformance history nightly --out site
  sds-conformance history nightly --open
"""


@click.command("history", epilog=_EPILOG)
@click.argument("folder", metavar="DIR", type=INPUT)
@click.option("--out", type=OUTPUT_FOLDER, metavar="DIR", help="Write the pages to this folder; default: DIR/pages.")
@click.option("--open", "shown", is_flag=True, help="Show the first page in the browser.")
def history_command(folder: Path, out: Path | None, shown: bool) -> None:
    """Write pages about a folder of dated reports.

    The first page, index.html, lists the runs of each implementation and what changed from run to run. It links to a
    page for each run. The pages load nothing, so they can be published as they are.

    `sds-conformance compare DIR` prints the changes instead.
    """
    out = out or folder / "pages"
    with usage_errors():
        for place, text in history_site(folder):
            file = out / place
            with write_errors(f"cannot make {file.parent}", "Name another DIR."):
                file.parent.mkdir(parents=True, exist_ok=True)
            refuse_link(file)
            write_file(file, text)
    err = console(stderr=True)
    err.print(f"Written: {out / INDEX}", soft_wrap=True)
    if shown:
        show_page(err, out / INDEX)
