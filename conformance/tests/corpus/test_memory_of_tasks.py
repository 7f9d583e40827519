"""A task holds one group trace in memory at a time."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from corpus_comparison import corpus
from recorded_corpora import order_of, record_here, recording_of
from sds_harness.corpus.reader import stored_in
from sds_harness.corpus.recorder import prepare, record_shard
from sds_harness.sds.generator import Grammar
from sds_harness.sds.trace import Trace

pytestmark = pytest.mark.spark

SCHEDULES = 60
LIGHT = Grammar(most=3, passages=("burst", "quiet-time"), longest=2)


@pytest.fixture
def most_traces(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """The most traces that were alive at a time, without garbage collection."""
    alive: list[weakref.ref[Trace]] = []
    most = 0
    made = Trace.__init__

    def counted(self: Trace, *args: Any, **named: Any) -> None:
        nonlocal most
        made(self, *args, **named)
        alive[:] = [one for one in alive if one() is not None] + [weakref.ref(self)]
        most = max(most, len(alive))

    monkeypatch.setattr(Trace, "__init__", counted)
    gc.collect()
    gc.disable()
    yield lambda: most
    gc.enable()


def test_a_recording_holds_one_group_trace(tmp_path: Path, most_traces: Callable[[], int]) -> None:
    recording = recording_of(tmp_path / "c", order_of(schedules=SCHEDULES, grammar=LIGHT), per_shard=SCHEDULES)
    prepare(recording, overwrite=False)
    assert record_shard(recording, 0).schedules == SCHEDULES
    assert most_traces() == 1


def test_reading_makes_one_group_trace_again_at_a_time(tmp_path: Path, most_traces: Callable[[], int]) -> None:
    folder = record_here(tmp_path / "c", order_of(schedules=SCHEDULES, grammar=LIGHT), per_shard=SCHEDULES)
    steps = 0
    for stored in stored_in(corpus(folder), 0):
        steps += len(stored.group_trace().compared)
    assert steps == corpus(folder).manifest.steps
    assert most_traces() == 1
