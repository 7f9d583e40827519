"""The command line: ``sds-conformance`` and ``python -m sds_conformance``."""

from __future__ import annotations

import io
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

import click

from sds_testee.version import suite_version

from ..judging.exits import Exit
from .later import Commands

_COMMANDS = {
    "corpus": "Record many schedules, judge them without the implementation, compare two implementations.",
    "explain": "Print a transcript, the FILE of `--transcript`, as a dialogue that people can read.",
    "fuzz": "Play generated schedules and judge everything in them.",
    "hunt": "Prove that generated schedules find faults, and accuse nobody who has none.",
    "interop": "See what implementations understand of each other.",
    "new-adapter": "Write an adapter to DIR that runs as it is, for you to fill in.",
    "replay": "Play the schedule in FILE again, on the implementation that it was found with or on any other.",
    "requirements": "List the requirements, and how each is tested.",
    "run": "Drive an implementation and judge every requirement.",
    "selftest": "Prove that the checks can fail, and that they accept what is legal.",
    "smoke": "See whether an adapter works at all, before anything is judged.",
    "vectors": "Golden vectors: inputs and legal outcomes as plain JSON files.",
}
_EPILOG = """
\b
Exit codes:
  0  conformant                  3  the implementation could not be driven
  1  non-conformant              4  nothing was exercised
  2  wrong use of this command   130  interrupted
"""


EXIT_TERMINATED = 128 + signal.SIGTERM


class Suite(Commands):
    """Commands that end in order when they are interrupted or terminated: no process of an implementation stays."""

    def invoke(self, ctx: click.Context) -> object:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _terminate)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(Exit.INTERRUPTED)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(EXIT_TERMINATED)


@click.group(
    cls=Suite,
    package=__name__,
    said=_COMMANDS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(suite_version(), prog_name="sds-conformance")
def main() -> None:
    """Say, requirement by requirement, whether an implementation is SDS.

    SDS is the Scalable Data Sync protocol for distributed logs. An implementation under test is any program that
    speaks the testee protocol (proto/sds/testee/v1/testee.proto) on stdin and stdout.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
