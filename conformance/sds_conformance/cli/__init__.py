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

from ..judging.certification import EXIT_INTERRUPTED
from .corpus import corpus
from .fuzz import fuzz
from .hunt import hunt_command
from .interop import interop
from .replay import replay
from .requirements import requirements
from .run import run
from .selftest import selftest
from .smoke import smoke
from .vectors import vectors

_EPILOG = """
\b
Exit codes:
  0  conformant                  3  the implementation could not be driven
  1  non-conformant              4  nothing was exercised
  2  wrong use of this command   130  interrupted
"""


EXIT_TERMINATED = 128 + signal.SIGTERM


class Suite(click.Group):
    """Commands that end in order when they are interrupted or terminated: no process of an implementation stays."""

    def invoke(self, ctx: click.Context) -> object:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _terminate)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(EXIT_INTERRUPTED)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(EXIT_TERMINATED)


@click.group(
    cls=Suite, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80}
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


for command in (run, fuzz, replay, interop, corpus, smoke, requirements, selftest, vectors):
    main.add_command(command)
main.add_command(hunt_command, "hunt")
