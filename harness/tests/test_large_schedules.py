"""A small file cannot request too much work, and a large file is rejected fast."""

from __future__ import annotations

from typing import Any

import pytest

from sds_harness.schedules import ScheduleFileError, files
from sds_harness.sds.notation import NOTATION

pytestmark = pytest.mark.every_python


def data(*operations: dict[str, Any]) -> dict[str, Any]:
    members = [{"name": name} for name in ("alice", "bob", "carol")]
    return {"version": 1, "seed": 0, "members": members, "channels": ["c1"], "operations": list(operations)}


def sends(who: str, times: int) -> dict[str, Any]:
    return {"op": "send", "who": who, "label": "m", "times": times}


@pytest.mark.parametrize(
    "operations",
    [[sends("alice", 1_501), sends("bob", 1_500)], [sends("alice", 1_000), sends("bob", 1), sends("alice", 2_000)]],
)
def test_a_short_file_asks_for_no_endless_work(operations: list[dict[str, Any]]) -> None:
    with pytest.raises(ScheduleFileError) as caught:
        NOTATION.from_json(data(*operations))
    assert str(caught.value) == (
        "operations: 3,001 messages to 2 participants are 6,002 arrivals, but only 6,000 can be played: "
        "lower `times`, or use fewer members"
    )


def test_a_short_file_asks_for_no_endless_calm() -> None:
    many = data(*[{"op": "calm"}] * 3_000)
    many["members"] = [{"name": f"member {number}"} for number in range(32)]
    with pytest.raises(ScheduleFileError) as caught:
        NOTATION.from_json(many)
    assert str(caught.value) == (
        "operations: 6,000 calm rounds of 32 participants are 192,000 steps or more, but only 50,000 can be played: "
        "use fewer calm operations, or fewer members"
    )


def test_a_million_of_anything_is_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[object] = []

    def look(validator: object, cases: object, instance: object, schema: object) -> tuple[()]:
        looked_at.append(instance)
        return ()

    monkeypatch.setattr(files, "_case", look)
    with pytest.raises(ScheduleFileError, match=r"^operations: the length 1,000,000 exceeds the maximum of 10,000$"):
        NOTATION.from_json(data(*[{}] * 1_000_000))
    assert looked_at == []


@pytest.mark.parametrize("wrong", [{}, {"op": "wait", "ms": "x"}])
def test_of_many_that_are_wrong_the_first_few_are_enough(wrong: dict[str, Any]) -> None:
    with pytest.raises(ScheduleFileError, match=r"^operations\[\d\d?\]"):
        NOTATION.from_json(data(*[wrong] * 10_000))
