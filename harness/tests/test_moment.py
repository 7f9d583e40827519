"""Deadlines do not depend on the wall clock, and hold in other processes and on other machines."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sds_harness import moment
from sds_harness.link import Limits, LocalLink
from sds_harness.moment import after
from sds_harness.sds.language import open_session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions

pytestmark = pytest.mark.every_python

HOUR_S = 3_600


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S])
def test_a_jump_of_the_wall_clock_ends_no_run(monkeypatch: pytest.MonkeyPatch, jump_s: int) -> None:
    limits = Limits(total_s=60)
    session = open_session(lambda: LocalLink(Testee(TesteeOptions("1")).handle), limits, "sds-2026-01")
    there = time.time
    monkeypatch.setattr(time, "time", lambda: there() + jump_s)
    assert session.call(pb.Request(open=pb.Open(now_ms=1, participant_id="alice"))).HasField("opened")
    assert 0 < limits.left_s <= 60


def test_a_moment_is_the_same_in_another_process_of_the_machine(tmp_path: Path) -> None:
    until = after(60)
    kept = tmp_path / "limits"
    kept.write_bytes(pickle.dumps((Limits(total_s=60, began=until), until)))
    time.sleep(0.2)  # the time that the transfer takes is counted, too
    code = "import pickle, sys; limits, at = pickle.load(open(sys.argv[1], 'rb')); print(limits.began.at_s, at.at_s)"
    output = subprocess.run([sys.executable, "-c", code, kept], capture_output=True, text=True, check=True).stdout
    assert [float(word) for word in output.split()] == [until.at_s, until.at_s]


def test_on_another_machine_as_many_seconds_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = pickle.dumps(Limits(total_s=60, began=after(-20)))
    monkeypatch.setattr(moment, "_machine", lambda: "another machine")
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    limits = pickle.loads(kept)
    assert limits.left_s == pytest.approx(40, abs=1)
    assert limits.began.at_s == pytest.approx(-15, abs=1)
