"""``sds-conformance smoke``."""

from __future__ import annotations

import sys

import click
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.faults import TesteeError
from sds_harness.stage import NEEDS, NOT_OPENED

from ..judging.exits import Exit
from ..judging.plan import plan
from ..judging.rules import UnknownDialectError
from ..judging.runner import BrokenRun, Runner
from ..presentation.last_screen import command_lines
from ..presentation.story import print_hanging, print_labelled, show_breakdown, show_doubts, show_implementation
from ..protocols import protocol_of
from .driving import DrivenImplementation, add_driving_options
from .options import CURRENT, REVISION, console
from .transcript_option import add_transcript_option
from .validate_option import Validation

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
