"""Schedules in which `fuzz` once accused a legal implementation, as files: replaying them finds nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from suite_terminal import typed


class Legal(NamedTuple):
    """A legal variant, and a schedule with one operation a line."""

    model: str
    variant: str
    operations: str
    participants: str = "alice bob carol"
    configuration: str = ""


LEGAL = {
    "own messages roll the filter over": Legal(
        "sds_reference",
        "",
        """
        send who=bob label=m1 times=14
        send who=alice label=m2 times=7
        look
        """,
        configuration="bloom_capacity=10",
    ),
    "answers are planned and not sent": Legal(
        "sds_reference",
        "only-plans-answers",
        """
        send who=carol label=m1 route={"lost":["bob"]}
        calm rounds=7
        look
        """,
        configuration="sds_r=true sync_interval_ms=10000",
    ),
    "an ephemeral message moves the clock": Legal(
        "sds_reference",
        "ephemerals-raise-the-clock",
        """
        send who=alice label=m1
        ephemeral who=alice
        look
        """,
    ),
    "three changes within a second": Legal(
        "clearskies_reference",
        "times-in-seconds",
        """
        put who=alice label=m1 key=k
        put who=alice label=m2 key=k
        put who=alice label=m3 key=k
        link who=alice to=bob
        """,
        "alice bob",
    ),
    "a request claims to know what does not exist yet": Legal(
        "clearskies_reference",
        "answers-at-ticks",
        """
        ask peer=xavier to=alice known=9223372036854775808
        put who=alice label=m1
        calm rounds=2
        """,
        "alice bob",
    ),
    "a key is deleted that was renamed before": Legal(
        "clearskies_reference",
        "deletes-what-is-gone",
        """
        link who=alice to=bob
        put who=alice label=m1 key=k
        rename who=alice label=m2 key=k
        delete who=bob label=m3 key=k
        calm rounds=2
        """,
        "alice bob",
    ),
    "a revision is used again by a peer that has lost its store": Legal(
        "clearskies_reference",
        "relays-at-ticks",
        """
        link who=alice to=bob
        link who=bob to=carol
        link who=carol to=alice
        put who=bob label=m1 key=k
        close who=bob
        put who=carol label=m2 key=k
        reopen who=bob
        link who=bob to=alice
        put who=bob label=m3 key=k
        calm rounds=3
        look
        """,
    ),
    "two versions of a record have one clock": Legal(
        "clearskies_reference",
        "sends-at-ticks",
        """
        link who=carol to=alice
        say peer=dave to=carol label=m1 key=k at_ms=3600000
        say peer=dave to=bob label=m2 after=m1 clock_number=1
        put who=alice label=m3 key=k
        link who=bob to=alice
        calm rounds=4
        look
        """,
    ),
    "a peer that lost its store receives its own updates": Legal(
        "clearskies_reference",
        "sends-at-ticks",
        """
        link who=alice to=bob
        put who=alice label=m1 key=k
        calm rounds=3
        close who=alice
        reopen who=alice
        link who=alice to=bob
        ask peer=xavier to=alice
        put who=alice label=m2 key=l
        put who=alice label=m3 key=m
        calm rounds=4
        """,
        "alice bob",
    ),
}


def fields(words: list[str]) -> dict[str, Any]:
    """Fields written as name=value; a value is JSON or text."""
    pairs = [word.split("=", 1) for word in words]
    return {name: json.loads(value) if value[0] in '{0123456789"t' else value for name, value in pairs}


@pytest.mark.parametrize("legal", LEGAL.values(), ids=LEGAL)
def test_nothing_is_found(legal: Legal, tmp_path: Path) -> None:
    sds = legal.model == "sds_reference"
    lines = [line.split() for line in legal.operations.strip().splitlines()]
    schedule = {
        "version": 1,
        "name": "legal",
        "seed": 0,
        "members": [{"name": name} for name in legal.participants.split()],
        "channels": ["c1"] if sds else [],
        "notes": {"cast": "together", "revision": "sds-2026-01" if sds else "clearskies-database"},
        "configuration": fields(legal.configuration.split()),
        "operations": [{"op": op, **fields(rest)} for op, *rest in lines],
    }
    file = tmp_path / "legal.json"
    file.write_text(json.dumps(schedule), "utf-8")
    variant = ["--variant", legal.variant] if legal.variant else []
    result = typed("replay", file, "--", sys.executable, "-m", legal.model, *variant)
    assert "FAIL" not in result.stdout
    assert result.exit_code == 0
