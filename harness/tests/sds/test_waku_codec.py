"""The codec operations of @waku/sds, through its adapter: the library's own codec, filter and repair computation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sds_harness.link import Limits, LocalLink, StdioLink
from sds_harness.sds.codec import Codec, DecodedMessage, FilterSize, Refused, RepairOffsets
from sds_harness.sds.language import open_session
from sds_reference import HistoryEntry, Kind, Message, encode
from sds_reference.testee import server
from sds_testee.framing import Framing
from waku_adapter import waku_command

LIMITS = Limits(start_s=30, command_s=10, exit_s=5)
MANY_DIGITS = 2**53 + 1
TIMES = {"t_min_ms": 30_000, "t_max_ms": 120_000, "num_response_groups": 5}

FULL = Message(
    "Ж字🦊",
    "m-1",
    "c1",
    2**64 - 1,
    (HistoryEntry("a", b"", ""), HistoryEntry("b"), HistoryEntry("b", b"\x00\xff", "bob")),
    b"\x80",
    (HistoryEntry("z", None, "bob"),),
    b"\x00\xff",
)


@pytest.fixture(scope="module")
def waku() -> Iterator[Codec]:
    command = waku_command()
    session = open_session(lambda: StdioLink(command, Framing.JSON, LIMITS), LIMITS, "sds-2026-01")
    yield Codec(session)
    session.close()


@pytest.fixture(scope="module")
def reference() -> Codec:
    return Codec(
        open_session(lambda: LocalLink(server.Testee(server.TesteeOptions("1")).handle), LIMITS, "sds-2026-01")
    )


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (FULL, Kind.CONTENT),
        (replace(FULL, lamport_timestamp=MANY_DIGITS), Kind.CONTENT),
        (replace(FULL, content=None), Kind.SYNC),
        (Message("", "", "", 0, (HistoryEntry("", b"", ""),), b""), Kind.SYNC),
        (Message("alice", "e-1", "c1", content=b"typing"), Kind.EPHEMERAL),
    ],
)
def test_messages_are_encoded_and_decoded_with_the_presence_of_each_field(
    waku: Codec, message: Message, kind: Kind
) -> None:
    assert waku.encode(message) == encode(message)
    assert waku.decode(encode(message)) == DecodedMessage(message, kind)


def test_its_filters_are_those_of_its_profile(waku: Codec, reference: Codec) -> None:
    made = waku.build_filter(["a", "Ж字🦊", "c"])
    assert isinstance(made, bytes)
    assert made == reference.build_filter(["a", "Ж字🦊", "c"])
    assert waku.query_filter(made, ["a", "b", "c"]) == (True, False, True)
    size = FilterSize(3, 0.01)
    small = waku.build_filter(["a", "b"], size)
    assert isinstance(small, bytes)
    assert small == reference.build_filter(["a", "b"], size)
    assert waku.query_filter(small, ["a", "c"], size) == (True, False)
    refused = waku.query_filter(b"", ["a"])
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("fromBytes threw: ")


@pytest.mark.parametrize("participant_id", ["alice", "bob", "Ж字🦊"])
@pytest.mark.parametrize("now_ms", [0, 1_800_000_000_000])
def test_its_repair_times_are_those_of_its_hash_profile(
    waku: Codec, reference: Codec, participant_id: str, now_ms: int
) -> None:
    for message_id in ("m-1", "", "字"):
        output, expected = (
            codec.repair_times(participant_id, message_id, "alice", **TIMES, now_ms=now_ms)
            for codec in (waku, reference)
        )
        assert isinstance(output, RepairOffsets)
        assert output == expected
