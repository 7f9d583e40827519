"""Schedules in which `fuzz` once accused a legal implementation, as files: replaying them finds nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from suite_terminal import typed

SDS = {
    "version": 1,
    "name": "legal",
    "seed": 0,
    "members": [{"name": "alice"}, {"name": "bob"}, {"name": "carol"}],
    "channels": ["c1"],
    "notes": {"cast": "together", "revision": "sds-2026-01"},
}
CLEARSKIES = {
    "version": 1,
    "name": "legal",
    "seed": 0,
    "members": [{"name": "alice"}, {"name": "bob"}],
    "channels": [],
    "notes": {"cast": "together", "revision": "clearskies-database"},
}


@pytest.mark.parametrize(
    ("command", "schedule"),
    [
        pytest.param(
            ("sds_reference",),
            SDS
            | {
                "configuration": {"bloom_capacity": 10},
                "operations": [
                    {"op": "send", "who": "bob", "label": "m1", "times": 14},
                    {"op": "send", "who": "alice", "label": "m2", "times": 7},
                    {"op": "look"},
                ],
            },
            id="own messages roll the filter over",
        ),
        pytest.param(
            ("sds_reference", "--variant", "only-plans-answers"),
            SDS
            | {
                "configuration": {"sds_r": True, "sync_interval_ms": 10_000},
                "operations": [
                    {"op": "send", "who": "carol", "label": "m1", "route": {"lost": ["bob"]}},
                    {"op": "calm", "rounds": 7},
                    {"op": "look"},
                ],
            },
            id="answers are planned and not sent",
        ),
        pytest.param(
            ("clearskies_reference", "--variant", "times-in-seconds"),
            CLEARSKIES
            | {
                "operations": [
                    *({"op": "put", "who": "alice", "label": f"m{number}", "key": "k"} for number in (1, 2, 3)),
                    {"op": "link", "who": "alice", "to": "bob"},
                ]
            },
            id="three changes within a second",
        ),
        pytest.param(
            ("clearskies_reference", "--variant", "answers-at-ticks"),
            CLEARSKIES
            | {
                "operations": [
                    {"op": "ask", "peer": "xavier", "to": "alice", "known": 1 << 63},
                    {"op": "put", "who": "alice", "label": "m1"},
                    {"op": "calm", "rounds": 2},
                ],
            },
            id="a request claims to know what does not exist yet",
        ),
        pytest.param(
            ("clearskies_reference", "--variant", "deletes-what-is-gone"),
            CLEARSKIES
            | {
                "operations": [
                    {"op": "link", "who": "alice", "to": "bob"},
                    {"op": "put", "who": "alice", "label": "m1", "key": "k"},
                    {"op": "rename", "who": "alice", "label": "m2", "key": "k"},
                    {"op": "delete", "who": "bob", "label": "m3", "key": "k"},
                    {"op": "calm", "rounds": 2},
                ],
            },
            id="a key is deleted that was renamed before",
        ),
        pytest.param(
            ("sds_reference", "--variant", "ephemerals-raise-the-clock"),
            SDS
            | {
                "operations": [
                    {"op": "send", "who": "alice", "label": "m1"},
                    {"op": "ephemeral", "who": "alice"},
                    {"op": "look"},
                ],
            },
            id="an ephemeral message moves the clock",
        ),
        pytest.param(
            ("clearskies_reference", "--variant", "relays-at-ticks"),
            CLEARSKIES
            | {
                "members": [{"name": "alice"}, {"name": "bob"}, {"name": "carol"}],
                "operations": [
                    {"op": "link", "who": "alice", "to": "bob"},
                    {"op": "link", "who": "bob", "to": "carol"},
                    {"op": "link", "who": "carol", "to": "alice"},
                    {"op": "put", "who": "bob", "label": "m1", "key": "k"},
                    {"op": "close", "who": "bob"},
                    {"op": "put", "who": "carol", "label": "m2", "key": "k"},
                    {"op": "reopen", "who": "bob"},
                    {"op": "link", "who": "bob", "to": "alice"},
                    {"op": "put", "who": "bob", "label": "m3", "key": "k"},
                    {"op": "calm", "rounds": 3},
                    {"op": "look"},
                ],
            },
            id="a revision is used again by who has lost its store",
        ),
        pytest.param(
            ("clearskies_reference", "--variant", "sends-at-ticks"),
            CLEARSKIES
            | {
                "members": [{"name": "alice"}, {"name": "bob"}, {"name": "carol"}],
                "operations": [
                    {"op": "link", "who": "carol", "to": "alice"},
                    {"op": "say", "peer": "dave", "to": "carol", "label": "m1", "key": "k", "at_ms": 3_600_000},
                    {"op": "say", "peer": "dave", "to": "bob", "label": "m2", "after": "m1", "clock_number": 1},
                    {"op": "put", "who": "alice", "label": "m3", "key": "k"},
                    {"op": "link", "who": "bob", "to": "alice"},
                    {"op": "calm", "rounds": 4},
                    {"op": "look"},
                ],
            },
            id="two versions of a record have one clock",
        ),
        pytest.param(
            ("clearskies_reference", "--variant", "sends-at-ticks"),
            CLEARSKIES
            | {
                "operations": [
                    {"op": "link", "who": "alice", "to": "bob"},
                    {"op": "put", "who": "alice", "label": "m1", "key": "k"},
                    {"op": "calm", "rounds": 3},
                    {"op": "close", "who": "alice"},
                    {"op": "reopen", "who": "alice"},
                    {"op": "link", "who": "alice", "to": "bob"},
                    {"op": "ask", "peer": "xavier", "to": "alice"},
                    {"op": "put", "who": "alice", "label": "m2", "key": "l"},
                    {"op": "put", "who": "alice", "label": "m3", "key": "m"},
                    {"op": "calm", "rounds": 4},
                ],
            },
            id="a peer that lost its store receives its own updates",
        ),
    ],
)
def test_nothing_is_found(command: tuple[str, ...], schedule: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "legal.json"
    file.write_text(json.dumps(schedule), "utf-8")
    result = typed("replay", file, "--", sys.executable, "-m", *command)
    assert "FAIL" not in result.stdout
    assert result.exit_code == 0
