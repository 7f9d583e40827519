"""Commands that read mutated files and replies end with a documented exit code, and never with a traceback.

`python conformance/tests/fuzz_decoders.py` does the same for ten minutes in each format.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from fuzzed_formats import FORMATS
from fuzzing import Attempt
from mutations import Mutation


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.spark) if name == "corpora" else name for name in FORMATS]
)
def test_a_mutated_input_never_crashes_the_suite(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "corpora":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)  # where some commands write by default
    form = FORMATS[name]

    @settings(
        max_examples=2,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(form.attempts())
    def attempted(attempt: Attempt) -> None:
        assert form.attempted(attempt) == ""

    attempted()


def test_a_report_with_values_that_no_baseline_has_writes_none() -> None:
    # The seed of generated schedules is a list of objects.
    copied = Mutation("copy", 480, 839), Mutation("replace", 160787, 483)
    assert FORMATS["outcomes"].attempted(Attempt(25583, 2308, 18364, copied, (), False)) == ""
