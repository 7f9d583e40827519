"""``sds-conformance smoke``."""

from __future__ import annotations

import sys

import click
from rich.text import Text

from sds_harness.faults import TesteeFault

from ..judging.certification import plan
from ..judging.exits import Exit
from ..judging.rules import UnknownDialect
from ..judging.runner import BrokenRun, Runner
from ..telling.story import show_breakdown, show_certificate, show_doubts
from .options import Driven, console, driving, spoken

_EPILOG = """
\b
Examples:
  sds-conformance smoke -- node my-adapter.mjs
  sds-conformance smoke --framing binary -- ./my-adapter
  sds-conformance smoke --grpc unix:/tmp/sds.sock
"""


@click.command("smoke", epilog=_EPILOG)
@driving
def smoke_command(driven: Driven) -> None:
    """See whether an adapter works at all, before anything is judged.

    Starts it, shakes hands, asks for a command that does not exist, and shows a short conversation.
    """
    out, err = console(), console(stderr=True)
    protocol = spoken(None)
    what = plan(protocol.rules, scenarios=protocol.words.greeting)
    traces = []
    runner = Runner(driven.connect, driven.limits, what.rules, what.revision, driven.dialect)
    try:
        declared = runner.start()
        show_certificate(out, declared, driven.dialect or declared.profile("dialect"), what)
        for _, trace in runner.play(what.runs):
            traces.append(trace)
            out.print(Text(f"\n{trace.schedule}", "bold"))
            narrator = protocol.words.narrator(trace)
            for step in trace.steps:
                out.print(Text(f"  {step.index:>3} {narrator.done(step)}"))
                for line in narrator.came_out(step):
                    out.print(Text(f"        {line}", "cyan"))
            if trace.stopped:
                out.print(Text(f"  stopped: {trace.stopped}", "yellow"))
        runner.close()
    except TesteeFault as fault:
        show_breakdown(err, BrokenRun.at("handshake", fault.breakdown))
        sys.exit(Exit.NOT_DRIVEN)
    except UnknownDialect as error:
        err.print(f"The implementation declares a dialect that is not known here: {error}", style="bold red")
        sys.exit(Exit.NOT_DRIVEN)
    finally:
        runner.kill()
    out.print()
    show_doubts(out, what.revision, traces)
    for broken in runner.breakdowns:
        show_breakdown(out, broken)
    if runner.breakdowns:
        sys.exit(Exit.NON_CONFORMANT)
    out.print(Text("The adapter answers. Next:", "green"))
    out.print(f"  {driven.typed('run')}", soft_wrap=True)
    sys.exit(Exit.CONFORMANT)
