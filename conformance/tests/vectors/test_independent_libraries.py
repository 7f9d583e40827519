"""Golden vectors and implementations that the model does not run on: two more of protobuf, and hashlib.

The model hashes with Google's FarmHash and with mmh3. Results of other libraries for these hashes, filters and wire
bytes are in test_vectors_in_node: the second library for FarmHash on PyPI takes the same module name as the first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from typing import Any

import pytest

from run_helpers import REPOSITORY

SDS = REPOSITORY / "vectors" / "sds"
PROGRAM = REPOSITORY / "conformance" / "tests" / "other_protobuf.py"
READERS = ("python", "protoc")
LAYOUTS = {"v2026_01": "", "forum_2024": "-forum-2024"}
"""By layout of messages: how the names of the files with its vectors end."""

WARNED = {"python": "wire-decoding/long-tag", "protoc": ""}
"""Plain Python looks a tag up by its bytes: one with more of them than it needs is an unknown field to it."""


def vectors_of(group: str) -> list[dict[str, Any]]:
    """All tests of a file."""
    tests = json.loads((SDS / f"{group}.json").read_bytes())["tests"]
    assert len(tests) > 10
    return list(tests)


def read_by(reader: str, layout: str, wires: list[str]) -> list[dict[str, Any] | None]:
    """What another implementation of protobuf makes of messages."""
    runs_on = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"} if reader == "python" else {}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), reader, layout],
        input="".join(f"{wire}\n" for wire in wires),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **runs_on},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    out = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(out) == len(wires)
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("reader", READERS)
def test_other_implementations_of_protobuf_read_and_refuse_what_the_vectors_say(reader: str, layout: str) -> None:
    tests = vectors_of(f"wire-decoding{LAYOUTS[layout]}")
    warned, differing = set(), set()
    for test, message in zip(tests, read_by(reader, layout, [test["wire"] for test in tests]), strict=True):
        fits = [outcome for outcome in test["outcomes"] if is_read(message, outcome)]
        if not fits:
            differing.add(test["id"])
        elif all("warned" in outcome for outcome in fits):
            warned.add(test["id"].partition("@")[0])
    assert (differing, warned) == (set(), {WARNED[reader]} - {""})


def is_read(message: dict[str, Any] | None, outcome: dict[str, Any]) -> bool:
    """Return whether it equals the outcome, except in fields that the outcome leaves open."""
    if message is None or "message" not in outcome:
        return (message is None) is ("rejected" in outcome)
    left_out = outcome.get("except", ())
    return all(message.get(k) == outcome["message"].get(k) for k in {*message, *outcome["message"]} - {*left_out})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("reader", READERS)
def test_other_implementations_of_protobuf_read_what_was_encoded(reader: str, layout: str) -> None:
    tests = vectors_of(f"wire-encoding{LAYOUTS[layout]}")
    wires = [test["outcomes"][0]["wire"] for test in tests]
    assert read_by(reader, layout, wires) == [test["message"] for test in tests]


def big_endian(*parts: str) -> int:
    return int(sha256("".join(parts).encode()).hexdigest()[:16], 16)


def test_hashlib_gives_the_hashes_of_sha256_be64() -> None:
    for test in vectors_of("hash-sha256-be64"):
        assert test["outcomes"] == [{"hash": str(big_endian(*test["parts"]))}], test["id"]


def test_hashlib_gives_the_repair_times_and_groups_of_sha256_be64() -> None:
    computed = 0
    for group in ("t-req", "t-resp", "response-groups"):
        for test in vectors_of(group):
            if test.get("hash_profile") != "sha256-be64":
                continue
            computed += 1
            who, what, sender = test["participant_id"], test["message_id"], test.get("sender_id", "")
            if test["function"] == "t-req":
                low, high = test["t_min_ms"], test["t_max_ms"]
                expected: dict[str, Any] = {"offset_ms": low + big_endian(who, what) % (high - low)}
            elif test["function"] == "t-resp":
                distance = big_endian(who) ^ big_endian(sender)
                expected = {"offset_ms": distance * big_endian(what) % test["t_max_ms"]}
            else:
                mine, theirs = (big_endian(name, what) % test["num_response_groups"] for name in (who, sender))
                expected = {"member": mine == theirs}
            assert test["outcomes"] == [expected], test["id"]
    assert computed > 30
