"""How commands on corpora end where something is wrong: whose fault it is, in a sentence and in the exit code."""

from __future__ import annotations

import signal

import pytest

from sds_conformance.cli.corpus.shared import corpus_errors
from sds_conformance.cli.options import console
from sds_conformance.exploration.campaign import CampaignTally
from sds_conformance.judging.exits import Exit
from sds_harness import signals
from sds_harness.corpus.errors import CorpusError, SparkFailedError, SuiteFaultError
from sds_harness.declaration import Declaration
from sds_harness.sds.language import SDS

INSTALL = "pip install 'sds-conformance[spark]'"


@pytest.mark.parametrize(
    ("error", "code", "output"),
    [
        (CorpusError("steps/part-1 is damaged."), Exit.USAGE, "steps/part-1 is damaged."),
        (SparkFailedError("A Spark job failed: Job aborted"), Exit.OURS, "A Spark job failed: Job aborted"),
        (SuiteFaultError("ValueError: zip()"), Exit.OURS, "A fault of this suite, please report it: ValueError: zip()"),
        (
            ImportError(name="pyarrow.lib"),
            Exit.USAGE,
            f"and pyarrow is not installed: type `{INSTALL}`.",
        ),
    ],
)
def test_one_sentence_and_a_code(error: Exception, code: Exit, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, corpus_errors(console(stderr=True)):
        raise error
    said = capsys.readouterr().err
    assert ended.value.code == code
    assert said.endswith(f"{output}\n")
    assert "\n" not in said.rstrip("\n")


@pytest.mark.parametrize(
    "error", [SparkFailedError("its Java process has ended"), SuiteFaultError("gone"), CorpusError("gone")]
)
def test_what_fails_because_of_a_signal_is_the_signal(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    with signals.handle_signals() as ending:
        assert not signals.end_was_requested()
        ending.number = signal.SIGTERM
        with pytest.raises(KeyboardInterrupt), corpus_errors(console(stderr=True)):
            raise error
        ending.number = 0
    assert capsys.readouterr().err == ""


def test_a_module_of_ours_that_is_not_there_is_no_missing_package() -> None:
    with pytest.raises(ImportError), corpus_errors(console(stderr=True)):
        raise ImportError(name="sds_harness.nowhere")


def test_a_check_that_fails_is_no_verdict() -> None:
    tally = CampaignTally(Declaration.for_unknown("", SDS), schedules=1, errors={"a check": "ValueError"})
    assert tally.exit_code == Exit.OURS
