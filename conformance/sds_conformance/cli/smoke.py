"""``sds-conformance smoke``."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.faults import TesteeError
from sds_harness.language import Language
from sds_harness.link import Link
from sds_harness.stage import NEEDS, NOT_OPENED
from sds_harness.validation import MessageOrigin, SchemaComplaint, Validator
from sds_testee.framing import Framing

from ..judging.exits import Exit
from ..judging.formats import format_count
from ..judging.plan import plan
from ..judging.rules import UnknownDialectError
from ..judging.runner import BrokenRun, Runner
from ..presentation.last_screen import command_lines
from ..presentation.story import print_hanging, print_labelled, show_breakdown, show_doubts, show_implementation
from ..protocols import protocol_of
from .docs import PAGES
from .implementation_options import DrivenImplementation, add_driving_options
from .options import CURRENT, REVISION, console
from .transcript_option import add_transcript_option

_EPILOG = """
\b
Examples:
  sds-conformance smoke -- node my-adapter.mjs
  sds-conformance smoke --validate -- node my-adapter.mjs
  sds-conformance smoke --transcript talk.jsonl -- node my-adapter.mjs
  sds-conformance smoke --framing binary -- ./my-adapter
  sds-conformance smoke --grpc unix:/tmp/sds.sock
"""

_HINT_OPEN = (
    "Open must accept every configuration, except values of SDS-R that make no sense: ignore settings that the "
    "implementation does not have."
)
_HINT = "`sds-conformance docs adapter` lists the effects of each command."


@click.command("smoke", epilog=_EPILOG)
@click.option(
    "--validate",
    is_flag=True,
    help="Validate each request and reply with its JSON Schema, and name each wrong field.",
)
@REVISION
@add_driving_options
@add_transcript_option
def smoke_command(driven: DrivenImplementation, validate: bool, revision: str) -> None:
    """Test that an adapter works, before anything is judged.

    The adapter is started, answers the handshake and an unknown command, and plays a short conversation, which is
    shown.
    """
    out, err = console(), console(stderr=True)
    protocol = protocol_of(revision)
    what = plan(protocol.rules, scenarios=protocol.greeting, revision=revision)
    traces = []
    validation = Validation(protocol.rules.language, driven) if validate else None
    runner = Runner(
        validation.connect if validation else driven.connect, driven.limits, what.rules, what.revision, driven.dialect
    )
    driven.begin()
    try:
        declared = runner.start()
        show_implementation(
            out, declared, declared.dialect(driven.dialect), what.revision, what.profile, driven.transport
        )
        for _, trace in runner.play(what.runs):
            traces.append(trace)
            out.print(Text(f"\n{trace.schedule}", "bold"))
            narrator = protocol.narrator(trace)
            for step in trace.steps:
                print_hanging(out, Text(f"  {step.index:>3} "), Text(narrator.done(step)))
                for line in narrator.came_out(step):
                    print_hanging(out, Text(" " * 8), Text(line, "cyan"))
            if trace.stopped:
                out.print(Text(f"  stopped: {trace.stopped}", "yellow"))
        runner.close()
    except TesteeError as fault:
        if validation is not None:
            validation.show(err, wrong_only=True)
        show_breakdown(err, BrokenRun.at_last_step("handshake", fault.breakdown))
        sys.exit(Exit.NOT_DRIVEN)
    except UnknownDialectError as error:
        err.print(str(error), style="bold red", soft_wrap=True)
        sys.exit(Exit.NOT_DRIVEN)
    finally:
        runner.kill()
    out.print()
    show_doubts(out, protocol.doubts(map(what.rules.extract_doubt_data, traces)))
    for broken in runner.breakdowns:
        show_breakdown(out, broken)
    valid = validation is None or validation.show(out)
    if runner.breakdowns or not valid:
        sys.exit(Exit.NON_CONFORMANT)
    if failed := [trace for trace in traces if trace.stopped and not trace.stopped.startswith(NEEDS)]:
        out.print(
            Text(f"The adapter answers, but it does not work yet: {printable(failed[0].stopped, 300)}.", "bold red")
        )
        hint = _HINT_OPEN if failed[0].stopped.startswith(NOT_OPENED) else _HINT
        print_labelled(out, "Hint", hint)
        sys.exit(Exit.NON_CONFORMANT)
    out.print(Text("The adapter answers. Next:", "green"))
    asked = ["--revision", revision] if revision != CURRENT else []
    first, *rest = command_lines(out, driven.format_command("run", *asked), 2)
    for line in (f"  {first}", *rest):
        out.print(line, soft_wrap=True)
    sys.exit(Exit.CONFORMANT)


class Validation:
    """Validates the messages of the driven implementation, and prints the complaints."""

    def __init__(self, language: Language, driven: DrivenImplementation) -> None:
        self._driven = driven
        package = language.request.DESCRIPTOR.file.package.partition(".")[0]
        self._page_name = f"{package}-protocol" if f"{package}-protocol" in PAGES else "protocol"
        self._validator = Validator(
            language, Framing.JSON if driven.transport == Framing.JSON.value else Framing.BINARY
        )
        self._heard = True

    def connect(self, variables: Mapping[str, str]) -> Link:
        """Connect like ``driven``, and validate every message of the connection."""
        link: Link = self._driven.connect(variables)
        self._heard = link.listen(self._validator)
        return link

    def show(self, out: Console, *, wrong_only: bool = False) -> bool:
        """Print the complaints. Return True if there are none; then ``wrong_only`` prevents any output."""
        validator = self._validator
        if wrong_only and not validator.complaints:
            return True
        if not self._heard:
            out.print(Text("  Not validated: the bytes of this conversation cannot be observed.\n", "yellow"))
            return True
        for complaint in validator.complaints:
            _show_complaint(out, complaint, self._page_name)
        if validator.dropped:
            out.print(f"  and {format_count(validator.dropped, 'complaint')} more\n")
        if not validator.complaints:
            of = f"{format_count(validator.requests, 'request')} and as many replies"
            text = "match the schemas"
            if validator.framing is Framing.BINARY:
                text = "contain no unknown fields (binary messages contain no names that could be misspelt)"
            print_labelled(out, "Valid", Text(f"{of} {text}.", "green"))
            out.print()
        return not validator.complaints


def _show_complaint(out: Console, complaint: SchemaComplaint, page_name: str) -> None:
    adapter = complaint.side is MessageOrigin.ADAPTER
    message = "reply" if adapter else "request"
    what = f" ({complaint.message_kind})" if complaint.message_kind else ""
    where = f"the {message} {'to request ' if adapter else ''}{complaint.number}{what}"
    out.print(Text.assemble(("INVALID", "bold red"), (f"  {complaint.side.value}", "bold"), f", in {where}"))
    print_labelled(out, "Field", Text(complaint.path or "the whole message", "bold"))
    print_labelled(out, "Wrong", complaint.message)
    if complaint.more:
        print_labelled(out, "", Text(f"and {complaint.more} more of this kind", "dim"))
    page = PAGES[page_name].file
    mend = f"See {page} for the fields." if adapter else "This is a fault of the suite: please report it."
    print_labelled(out, "Hint", mend)
    out.print()
