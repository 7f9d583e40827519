"""The command line: ``sds-conformance`` and ``python -m sds_conformance``."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from sds_harness import resources
from sds_harness.family import adopt, name_survivors
from sds_harness.signals import end_now, handle_signals
from sds_harness.systems import unsupported_system
from sds_harness.watchdog import run_watchdog

from ..judging.exits import Exit
from .command_groups import Commands
from .completion import VARIABLE, complete
from .configuration import explain as explain_configuration
from .configuration import use as use_configuration
from .output_filter import OutputError, filter_output
from .paths import INPUT_FILE

_SECTIONS = {
    "Start": {
        "new-adapter": "Write an adapter that runs, for you to complete.",
        "smoke": "Test that an adapter works, before anything is judged.",
        "docs": "Print a guide, or a file of the testee protocol.",
        "requirements": "List the requirements and how the suite tests them.",
        "list": "List the names that options take.",
    },
    "Judge": {
        "run": "Test an implementation against every requirement.",
        "scenarios": "List, show and validate scenarios.",
        "replay": "Play a schedule again, for example a counterexample.",
        "vectors": "Test an implementation with the golden vectors.",
        "baseline": "Write, update or check a file of known failures.",
        "explain": "Show a transcript as a readable dialogue.",
    },
    "Explore": {
        "fuzz": "Play generated schedules and judge them.",
        "exhaust": "Play every schedule of up to K events.",
        "limits": "Find the sizes at which an implementation fails.",
        "interop": "Test how implementations work together.",
        "corpus": "Record, judge, compare and show stored schedules.",
    },
    "Share": {
        "report": "Show a report, or convert it to another format.",
        "compare": "Compare the reports of several releases or implementations.",
        "history": "Write pages about a folder of dated reports.",
        "certificate": "Write, show or verify a certificate.",
    },
    "Develop the suite": {
        "selftest": "Prove that the checks reject faults and accept legal choices.",
    },
}
"""The headings of the help, each with its commands and the first sentence of their help."""
_EPILOG = """
\b
Examples:
  sds-conformance new-adapter python my-adapter
  sds-conformance smoke -- python3 my-adapter/adapter.py
  sds-conformance run --report out -- python3 my-adapter/adapter.py
  sds-conformance report out --html out/index.html

\b
Exit codes:
  0  conformant                   70   fault of this suite
  1  non-conformant               129  hung up (SIGHUP)
  2  usage error                  130  interrupted (SIGINT)
  3  implementation not tested    141  output pipe closed (SIGPIPE)
  4  nothing exercised            143  terminated (SIGTERM)

`sds-conformance docs tutorial` is the first guide to read, and
`sds-conformance docs completion` sets up completion in bash, zsh and fish.
"""


class SuiteCommands(Commands):
    """Commands that end cleanly when they are interrupted or terminated, so that no process of an implementation keeps
    running. After a fault of the suite, the exit code is never that of a verdict.
    """

    def main(  # type: ignore[override]  # of two overloads
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **more: Any
    ) -> Any:
        """Run a command. Without ``args``, the arguments come from the command line and the process exits at the
        end."""
        if why := unsupported_system():
            click.echo(why, err=True)
            sys.exit(Exit.USAGE)
        if args is None:
            adopt()
        _with_stderr()
        try:
            with filter_output():
                # click would exit with 1, the code of a verdict, after an interrupt and after a closed pipe.
                more["standalone_mode"] = False
                try:
                    if args is None and (wanted := os.environ.get(VARIABLE)):
                        sys.exit(complete(self, wanted))
                    code = super().main(args, prog_name, **more)
                    sys.exit(code if isinstance(code, int) else Exit.CONFORMANT)
                except OutputError:
                    raise
                except click.ClickException as error:
                    error.show()
                    if isinstance(error, click.UsageError):
                        if place := explain_configuration(error):
                            click.echo(place, err=True)
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
                        "This is a fault of the suite, not a verdict. Please report it, with all of this output.",
                        err=True,
                    )
                    sys.exit(Exit.OURS)
        except OutputError as lost:
            if lost.exit_code is Exit.OURS:
                with suppress(OSError, ValueError):
                    click.echo(f"Some output was lost: {lost}.", err=True)
            sys.exit(lost.exit_code)

    def invoke(self, ctx: click.Context) -> object:
        with handle_signals() as ending, name_survivors(_print_stderr), run_watchdog(_give_up):
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                click.echo(f"Ended by {ending.name}." if ending.by_others else "Interrupted.", err=True)
                ctx.exit(ending.exit_code if ending.number else Exit.INTERRUPTED)
            except (
                EOFError,
                BrokenPipeError,
            ) as error:  # A pipe to a worker process broke. Errors of stdout and stderr are instances of OutputError.
                raise ConnectionError("a process of the suite ended before its work was done") from error
            except SystemExit as end:
                if not isinstance(end.code, int | None):
                    raise ImportError(f"an imported module ended the program: {end}") from end
                # A command returns the exit code of SIGINT for any signal. Replace it by the exit code of the received
                # signal.
                sys.exit(ending.exit_code if ending.number and end.code == Exit.INTERRUPTED else end.code)


def _print_stderr(sentence: str) -> None:
    """Print a sentence on stderr, in lines that fit the terminal."""
    from .options import console  # not at the top, because `options` imports all protocols

    console(stderr=True).print(sentence)


def _give_up() -> NoReturn:
    """End the program from the thread of the watchdog, because a call blocks the main thread and nothing can be
    judged."""
    message = "The implementation blocked the harness beyond every timeout. Nothing was judged.\n"
    with suppress(OSError):
        os.write(2, message.encode())  # the main thread may hold the lock of sys.stderr
    end_now(Exit.NOT_DRIVEN)


def _suggest_dashes(error: click.UsageError, words: list[str]) -> None:
    from .missing_dashes import with_dashes  # import only after an error: `--help` does not need these modules

    if typed := with_dashes(error, words):
        click.echo(f"The command of an implementation follows `--`. Type\n  {typed}", err=True)


def _with_stderr() -> None:
    """Open the null device as stderr if the parent process has closed stderr. Otherwise the next file that is opened
    would take its descriptor, and every child process would write to that file."""
    try:
        os.fstat(2)
    except OSError:
        os.open(os.devnull, os.O_WRONLY)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end


def _show_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """The callback of --version: print one fact per line, as NAME: VALUE."""
    if not value or context.resilient_parsing:
        return
    from .version import facts  # not at the top, because `version` imports all protocols

    for name, fact in facts().items():
        click.echo(f"{name}: {fact}")
    context.exit()


@click.group(
    cls=SuiteCommands,
    package=__name__,
    sections=_SECTIONS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show versions and exit."
)
@click.option(
    "--config",
    type=INPUT_FILE,
    is_eager=True,
    expose_value=False,
    callback=use_configuration,
    metavar="FILE",
    help="Read defaults of options from FILE. Default: sds-conformance.toml, or the table [tool.sds-conformance] in "
    "pyproject.toml, in the current folder.",
)
def main() -> None:
    """Test an implementation against every requirement of its specification.

    The specification is SDS, the Scalable Data Sync protocol, or the ClearSkies database extension. The implementation
    is any program that speaks the testee protocol on stdin and stdout (`sds-conformance docs protocol`).
    """
