"""Options and errors that the commands for corpora share: where Spark runs, and how to install it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console
from rich.text import Text

from sds_harness import signals
from sds_harness.corpus.errors import CorpusError, SparkFailedError, SuiteFaultError
from sds_testee.installation import install_extra

from ...judging.exits import Exit
from ...protocols import default
from ..implementation_options import memory_size
from ..name_types import NameChoice
from ..options import PROFILES, combine, console
from ..progress import progress_bar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sds_harness.corpus.manifest import Corpus
    from sds_harness.corpus.spark import SparkOptions

SPARK_MEMORY = "1g"
of_profile = click.option(
    "--profile",
    type=NameChoice(PROFILES),
    default=default().rules.full,
    show_default=True,
    help=f"Part of {default().name} to judge.",
)


def on_spark(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select where Spark runs. The command receives them as ``spark_options``. An error in a
    corpus ends the command with one sentence.
    """

    @wraps(function)
    def wrapper(master: str, spark_memory: int, **rest: Any) -> None:
        with corpus_errors(console(stderr=True)):
            from sds_harness.corpus.spark import SparkOptions

            function(spark_options=SparkOptions(master, f"{spark_memory >> 20}m"), **rest)

    # In commands that drive an implementation, --memory already is the memory limit of the implementation.
    taken = any("--memory" in option.opts for option in getattr(function, "__click_params__", ()))
    names = ["--spark-memory"] if taken else ["--memory", "--spark-memory"]
    return combine(
        click.option(
            *names,
            "spark_memory",
            callback=memory_size,
            default=SPARK_MEMORY,
            show_default=True,
            metavar="SIZE",
            help="Memory of the Java process of Spark; on a cluster, of each executor.",
        ),
        click.option(
            "--master",
            default="local[*]",
            show_default=True,
            metavar="URL",
            help="Run Spark on this machine (local[*]), on a cluster (spark://HOST:PORT) or with Spark Connect (sc://HOST:PORT).",
        ),
    )(wrapper)


@contextmanager
def corpus_errors(err: Console) -> Iterator[None]:
    """Context manager: print one sentence for an error, and end the command. The exit code is 2 for an error in a
    corpus or a missing package, and 70 for a fault of Spark or of the suite.
    """
    try:
        yield
    except CorpusError as error:
        _end(err, str(error), Exit.USAGE)
    except SparkFailedError as error:
        _end(err, str(error), Exit.OURS)
    except SuiteFaultError as error:
        _end(err, f"A fault of this suite, please report it: {error}", Exit.OURS)
    except ImportError as missing:
        package = (missing.name or "").partition(".")[0]
        if not package or package.startswith("sds_"):
            raise
        why = f"Corpora need PySpark and Arrow, and {package} is not installed"
        _end(err, f"{why}: type `{install_extra('spark')}`.", Exit.USAGE)


def _end(err: Console, text: str, code: Exit) -> NoReturn:
    if signals.end_was_requested():  # Ctrl-C stopped Java and the workers: their end is not an error
        raise KeyboardInterrupt
    err.print(Text(text, "bold red"), soft_wrap=True)
    sys.exit(code)


def corpus_at(folder: str, *, complete: bool = True) -> Corpus:
    """Open the corpus in a folder. Raises CorpusError, also for an incomplete corpus if ``complete``."""
    from sds_harness.corpus.manifest import read_complete, read_corpus
    from sds_harness.corpus.place import Place

    from ...corpus.kinds import kind_of

    return (read_complete if complete else read_corpus)(Place.from_name(folder), kind_of)


@contextmanager
def spark_job(
    options: SparkOptions, title: str, err: Console, what: str
) -> Iterator[tuple[SparkSession, Callable[[int, int], None]]]:
    """Yield a Spark session, and a function that sets the number of finished items and the total in a progress bar with
    the label ``what``. Raises CorpusError.
    """
    from sds_harness.corpus.spark import spark_session

    err.print(Text(f"Starting Spark ({options.printable_master})."), soft_wrap=True)
    with spark_session(options, title) as spark, progress_bar(err, what) as bar:
        yield spark, partial(bar, what)
