"""The command line: ``sds-conformance`` and ``python -m sds_conformance``."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import click

from sds_harness import resources
from sds_harness.family import adopt, naming
from sds_harness.signals import end_now, heeded
from sds_harness.systems import unsupported
from sds_harness.watchdog import watching
from sds_testee.version import suite_version

from ..judging.exits import Exit
from .door import OutputLost, doors
from .later import Commands

_COMMANDS = {
    "baseline": "Keep a file of known failures, for --baseline.",
    "certificate": "Write a certificate on what a run has found, show one, verify one.",
    "compare": "Set reports side by side: what differs, and what got better and worse.",
    "corpus": "Record many schedules, judge them without the implementation, compare two implementations.",
    "docs": "Print what is written about adapters, the testee protocol, vectors and the rest.",
    "exhaust": "Play every schedule of a small world, the shortest first.",
    "explain": "Print a transcript, the FILE of `--transcript`, as a dialogue that people can read.",
    "fuzz": "Play generated schedules and judge everything in them.",
    "hunt": "Prove that generated schedules find faults, and accuse nobody who has none.",
    "interop": "See what implementations understand of each other.",
    "limits": "Find out how far an implementation holds: where it breaks, and how.",
    "new-adapter": "Write an adapter to DIR that runs as it is, for you to fill in.",
    "replay": "Play the schedule in FILE again, on the implementation that it was found with or on any other.",
    "report": "Tell what stands in DIR, which `run --report` left, or write it in another form.",
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
  2  wrong use of this command   70   a fault of this suite
  130  interrupted               143  terminated, 129 hung up: as interrupted
                                 141  whoever read this went away
"""


class Suite(Commands):
    """Commands that end in order when they are interrupted or terminated: no process of an implementation stays. And
    no fault of ours ends with the code of a verdict."""

    def main(  # type: ignore[override]  # of two overloads
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **more: Any
    ) -> Any:
        """Without arguments to take in their place, those of the command line: this is the whole program."""
        if why := unsupported():
            click.echo(why, err=True)
            sys.exit(Exit.USAGE)
        if args is None:
            adopt()
        _with_stderr()
        try:
            with doors():
                # click would end with 1, the code of a verdict, at an interrupt and at what it takes for a lost reader.
                more["standalone_mode"] = False
                try:
                    code = super().main(args, prog_name, **more)
                    sys.exit(code if isinstance(code, int) else Exit.CONFORMANT)
                except OutputLost:
                    raise
                except click.ClickException as error:
                    error.show()
                    if isinstance(error, click.UsageError):
                        _suggest_dashes(error, sys.argv[1:] if args is None else list(args))
                    sys.exit(error.exit_code)
                except click.Abort:
                    click.echo("Interrupted.", err=True)
                    sys.exit(Exit.INTERRUPTED)
                except Exception as error:
                    if why := resources.explain(error):
                        click.echo(why, err=True)
                        sys.exit(Exit.OURS)
                    traceback.print_exc()
                    click.echo(
                        "This is a fault of the suite, and no verdict. Please report it, with all of this.", err=True
                    )
                    sys.exit(Exit.OURS)
        except OutputLost as lost:
            if lost.exit_code is Exit.OURS:
                with suppress(OSError, ValueError):
                    click.echo(f"Not all was told: {lost}.", err=True)
            sys.exit(lost.exit_code)

    def invoke(self, ctx: click.Context) -> object:
        with heeded() as ending, naming(partial(click.echo, err=True)), watching(_give_up):
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                click.echo(f"Ended by {ending.name}." if ending.by_others else "Interrupted.", err=True)
                ctx.exit(ending.exit_code if ending.number else Exit.INTERRUPTED)
            except (EOFError, BrokenPipeError) as error:  # of a process of ours: stdout and stderr raise OutputLost
                raise ConnectionError("a process of the suite ended before its work was done") from error
            except SystemExit as end:
                if not isinstance(end.code, int | None):
                    raise ImportError(f"an imported module ended the program: {end}") from end
                # Commands know that they were interrupted, but not by what.
                sys.exit(ending.exit_code if ending.number and end.code == Exit.INTERRUPTED else end.code)


def _give_up() -> NoReturn:
    """End the program while the main thread is stuck, so that nothing can be judged any more."""
    message = "The implementation held up the harness past every timeout. Nothing was judged.\n"
    with suppress(OSError):
        os.write(2, message.encode())  # the main thread may hold the lock of sys.stderr
    end_now(Exit.NOT_DRIVEN)


def _suggest_dashes(error: click.UsageError, words: list[str]) -> None:
    from .dashes import with_dashes  # after an error only: it imports what `--help` does without

    if typed := with_dashes(error, words):
        click.echo(f"The command of an implementation follows `--`. Type\n  {typed}", err=True)


def _with_stderr() -> None:
    """Where whoever started us has closed stderr, the next file that is opened would be in its place, and whatever is
    started would write to it."""
    try:
        os.fstat(2)
    except OSError:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end


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
    speaks the testee protocol (`sds-conformance docs proto`) on stdin and stdout.
    """
