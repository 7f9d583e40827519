"""Traces in files are read again as they were played, whatever is in them, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from run_helpers import T, stage
from sds_conformance.presentation.traces import TraceFileError, load_trace
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.sds.stage import Stage

ODD = "a\u2028b\x85\u202e\n'\"<script>"
"""What breaks lines, turns the writing round, and stands for markup."""


def played() -> Stage:
    out = stage(dialect="nim-sds")
    somebody = out.open(ODD, channels=(ODD, "c2"))
    out.advance(5)
    somebody.observe(ODD, channel_id="c2")
    out.trace.stopped = ODD
    return out


def kept(out: Stage, folder: Path) -> Path:
    file = folder / "trace.jsonl"
    file.write_text("".join(f"{line}\n" for line in out.trace.to_json_lines()), "utf-8")
    return file


def test_a_trace_is_the_same_again(tmp_path: Path) -> None:
    out = played()
    before = out.trace
    before.breakdown = Breakdown(FaultKind.HANG, "no answer")
    again = load_trace(kept(out, tmp_path))
    assert again.breakdown == before.breakdown
    assert [(s.participant, s.request, s.reply) for s in again.steps] == [
        (s.participant, s.request, s.reply) for s in before.steps
    ]
    assert (again.parties, again.start_ms, again.stopped) == (before.parties, T, ODD)
    assert again.dialect is not None
    assert (again.dialect.name, again.revision, again.environment) == ("nim-sds", before.revision, "plain")
    assert again.declaration == before.declaration


def test_no_file_is_opened_for_a_dialect_that_a_file_names(tmp_path: Path) -> None:
    file = kept(played(), tmp_path)
    file.write_text(file.read_text("utf-8").replace('"dialect":"nim-sds"', '"dialect":"/dev/zero.json"'), "utf-8")
    assert load_trace(file).dialect is None


@pytest.mark.parametrize("instead", ['"revision":"none"', '"revision":5', '"revision":null'])
def test_what_is_no_trace_is_refused(tmp_path: Path, instead: str) -> None:
    file = kept(played(), tmp_path)
    file.write_text(file.read_text("utf-8").replace('"revision":"sds-2026-01"', instead), "utf-8")
    with pytest.raises(TraceFileError, match="not a trace"):
        load_trace(file)
