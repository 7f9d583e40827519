"""``sds-conformance docs``."""

from __future__ import annotations

import click

from .documentation import PAGES
from .options import program

_LIST = "\n".join(f"  {name:<16} {page.said}" for name, page in PAGES.items())
_EPILOG = f"""
\b
PAGE is one of:
{_LIST}

\b
Examples:
  sds-conformance docs adapter
  sds-conformance docs proto > testee.proto
  sds-conformance docs tutorial --path
"""


@click.command("docs", epilog=_EPILOG)
@click.argument("name", metavar="[PAGE]", type=click.Choice(list(PAGES)), required=False)
@click.option("--path", is_flag=True, help="Print the path of the file.")
def docs_command(name: str | None, path: bool) -> None:
    """Print a guide, or a file of the testee protocol.

    The pages are part of the installation. Without PAGE all pages are listed.
    """
    if name is not None:
        page = PAGES[name]
        click.echo(page.file if path else page.file.read_text("utf-8"), nl=path)
        return
    for known, page in PAGES.items():
        click.echo(f"{known:<16} {page.file if path else page.said}")
    if not path:
        click.echo(f"\n`{program()} docs PAGE` prints one, Markdown or a file for programs.")
