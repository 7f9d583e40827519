"""``sds-conformance docs``."""

from __future__ import annotations

import re

import click

from .browser import show_address
from .documentation import PAGES
from .name_types import NameChoice
from .options import console, full_id, program

_LIST = "\n".join(f"  {name:<19} {page.summary}" for name, page in PAGES.items())
_EPILOG = f"""
\b
PAGE is one of:
{_LIST}

\b
Examples:
  sds-conformance docs adapter
  sds-conformance docs proto > testee.proto
  sds-conformance docs tutorial --path
  sds-conformance docs SDS-RECV-06
  sds-conformance docs SDS-RECV-06 --open
"""
_ID = re.compile(r"(?:[A-Za-z]+-)*[A-Za-z]+-\d+")


class _PageName(NameChoice):
    """Parameter type: the name of a page, or an ID of the catalogue."""

    def __init__(self) -> None:
        super().__init__(list(PAGES))

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in PAGES:
            return value
        # Read the catalogue only for an ID, because reading takes time.
        if _ID.fullmatch(value):
            return full_id(value)
        return super().convert(value, param, ctx)


@click.command("docs", epilog=_EPILOG)
@click.argument("name", metavar="[PAGE]", type=_PageName(), required=False)
@click.option("--path", is_flag=True, help="Print the path of the file.")
@click.option("--open", "opened", is_flag=True, help="Show the page of an ID in the browser.")
def docs_command(name: str | None, path: bool, opened: bool) -> None:
    """Print a guide, or a file of the testee protocol.

    The pages are part of the installation. Without PAGE all pages are listed. PAGE can also be the ID of a requirement,
    a position or a property, such as SDS-RECV-06: then the page of the ID is printed, with links to the public text.

    --open shows the page of the ID on the documentation site or, if the site has no address yet, the section of the
    public text.
    """
    if opened and (name is None or name in PAGES or path):
        raise click.UsageError("--open needs an ID of the catalogue, such as in `docs SDS-RECV-06 --open`")
    if name is not None and name not in PAGES:
        if path:
            raise click.UsageError(f"{name} is an ID of the catalogue and has no file: leave out --path")
        from .requirements import address_of, describe_entry, select_entries, show  # the catalogue takes time to read

        if opened:
            (entry,) = select_entries([name])
            if not (address := address_of(entry)):
                message = "the documentation site has no address yet, and no section of a public text belongs to the ID"
                raise click.UsageError(f"{name} cannot be opened: {message}. Leave out --open to print the page.")
            show_address(console(stderr=True), address)
            return
        show(console(), [(entry.protocol, describe_entry(entry, None)) for entry in select_entries([name])])
        return
    if name is not None:
        page = PAGES[name]
        click.echo(page.file if path else page.file.read_text("utf-8"), nl=path)
        return
    for known, page in PAGES.items():
        click.echo(f"{known:<19} {page.file if path else page.summary}")
    if not path:
        click.echo(f"\n`{program()} docs PAGE` prints a page: Markdown, protobuf or JSON Schema.")
