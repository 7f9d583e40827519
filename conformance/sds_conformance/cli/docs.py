"""``sds-conformance docs``: prints files of the checkout, which the wheel has under the same paths in ``documents``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import click

from .browser import show_page
from .name_types import NameChoice
from .options import console, full_id, program

_CHECKOUT = Path(__file__).parents[3]
_INSTALLED = Path(__file__).parents[1] / "documents"
_PACKAGES = Path(__file__).parents[2]
_SOURCES = "reference/"


@dataclass(frozen=True)
class DocPage:
    """A page of the documentation."""

    path: str
    """Path in a checkout."""
    summary: str
    """Topic of the page, in a phrase."""

    @property
    def file(self) -> Path:
        """Path of the page on this machine. An installed page that is a file of the reference is read from the package
        of the reference; ``documents`` has no copy.
        """
        own = root() == _INSTALLED and self.path.startswith(_SOURCES)
        return _PACKAGES / self.path.removeprefix(_SOURCES) if own else root() / self.path


PAGES = {
    "adapter": DocPage("harness/adapters/README.md", "how an implementation is driven, and what to declare"),
    "tutorial": DocPage("harness/adapters/TUTORIAL.md", "from a checkout to a certificate"),
    "protocol": DocPage("harness/adapters/PROTOCOL.md", "the testee protocol of SDS, message by message"),
    "proto": DocPage("proto/sds/testee/v1/testee.proto", "the testee protocol of SDS, as protobuf"),
    "request-schema": DocPage("reference/sds_proto/testee/v1/request.schema.json", "JSON Schema of a request of SDS"),
    "reply-schema": DocPage("reference/sds_proto/testee/v1/reply.schema.json", "JSON Schema of a reply of SDS"),
    "clearskies-protocol": DocPage(
        "harness/adapters/PROTOCOL-CLEARSKIES.md", "the testee protocol of ClearSkies, message by message"
    ),
    "clearskies-proto": DocPage(
        "proto/clearskies/testee/v1/testee.proto", "the testee protocol of ClearSkies, as protobuf"
    ),
    "clearskies-request": DocPage(
        "reference/clearskies_proto/testee/v1/request.schema.json", "JSON Schema of a request of ClearSkies"
    ),
    "clearskies-reply": DocPage(
        "reference/clearskies_proto/testee/v1/reply.schema.json", "JSON Schema of a reply of ClearSkies"
    ),
    "wire": DocPage("proto/sds/wire/v2026_01/message.proto", "the messages of SDS, as protobuf"),
    "wire-forum-2024": DocPage("proto/sds/wire/forum_2024/message.proto", "the messages of the proposal of 2024"),
    "commands": DocPage("docs/commands.md", "all commands by purpose, and optional packages"),
    "reading-a-report": DocPage("docs/reading-a-report.md", "the parts of a report and of a finding, and transcripts"),
    "glossary": DocPage("docs/glossary.md", "the words of the suite"),
    "verdicts": DocPage("docs/verdicts.md", "verdicts, severity, positions and exit codes"),
    "baselines": DocPage("docs/baselines.md", "a file of known failures, which do not fail CI"),
    "certificate": DocPage("docs/certificate.md", "what certificates mean, and how to verify them"),
    "ci": DocPage("docs/ci.md", "GitHub, GitLab and other CIs"),
    "compare-releases": DocPage("docs/compare-releases.md", "how to compare releases and implementations"),
    "positions": DocPage("docs/contest-a-position.md", "what a position means, and how to object to a position"),
    "pytest": DocPage("docs/pytest.md", "the suite as pytest items"),
    "transports": DocPage("docs/transports.md", "JSON lines, binary frames, gRPC, dialects and timeouts"),
    "environments": DocPage("docs/environments.md", "the eight environments, and the system clock"),
    "refusals": DocPage("docs/refusals-and-limits.md", "the meaning of refusals, and what a limit excuses"),
    "scenario-files": DocPage("docs/scenario-files.md", "test cases of your own as YAML or JSON files"),
    "fuzz-and-exhaust": DocPage("docs/fuzz-and-exhaust.md", "generated schedules, and all schedules of a small group"),
    "limits": DocPage("docs/limits.md", "the sizes at which an implementation breaks"),
    "interop": DocPage("docs/interop.md", "several implementations in one group"),
    "corpora": DocPage("docs/corpora.md", "record traces of many schedules, judge or compare them"),
    "cluster": DocPage("docs/corpora-on-a-cluster.md", "spark-submit, clusters and object stores"),
    "corpora-at-scale": DocPage("docs/corpora-at-scale.md", "how corpora are stored, judged and compared"),
    "revisions": DocPage("docs/revisions.md", "the revisions of SDS, and the ClearSkies extension"),
    "selftest": DocPage("docs/selftest.md", "how the suite proves that its checks work"),
    "threat-model": DocPage("docs/threat-model.md", "trusted parties, bounds on untrusted input, open attacks"),
    "vectors": DocPage("vectors/README.md", "the golden vectors: groups, fields, versions"),
    "plain-vectors": DocPage("docs/vectors-without-python.md", "the vectors in tests of any language"),
    "completion": DocPage("docs/completion.md", "completion of the command line in bash, zsh and fish"),
    "corpus": DocPage("harness/sds_harness/corpus/FORMAT.md", "what is in a stored corpus"),
}
"""The pages by their names, as in `docs PAGE`."""


def root() -> Path:
    """Return the folder to which paths of pages are relative: the checkout, or else the installed documents."""
    return _CHECKOUT if (_CHECKOUT / "harness" / "adapters").is_dir() else _INSTALLED


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
            show_page(console(stderr=True), address)
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
