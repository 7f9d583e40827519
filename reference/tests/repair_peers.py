"""Helpers for tests of SDS-R: hashes that a test chooses, messages with requests, and views of the two repair buffers.

Alice is under test, "bob" sent what is missing or asked for, and "carol" asks. Times in the views are milliseconds
after T.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scripted_peers import T, content, copies, joined
from sds_reference import (
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    Config,
    Effects,
    HashProfile,
    HistoryEntry,
    Message,
    Participant,
    RepairConfig,
    Revision,
    decode,
    encode,
)
from sds_reference.repair import Repair

both_revisions = pytest.mark.parametrize("revision", [SDS_2026_01, SDS_2025_10_AMENDED], ids=lambda r: r.name)

SECOND = 1_000
T_MIN, T_MAX = 30 * SECOND, 120 * SECOND

U, V, W = (T_MIN + after for after in (5 * SECOND, 10 * SECOND, 15 * SECOND))
"""When the requester asks for "u", "v" and "w" if she misses them from T on."""

LATER = 200 * SECOND
"""When every T_req of T has long passed."""

M, N = 50 * SECOND, 80 * SECOND
"""How long after a request the holder answers for "m" and for "n" of bob."""


def chosen(hashes: Mapping[str, int]) -> HashProfile:
    """``hash(a)`` is ``hashes["a"]``, ``hash(a, b)`` is ``hashes["a, b"]``; 0 where nothing is given."""
    return HashProfile("", "chosen by a test", lambda text: hashes.get(text, 0), lambda a, b: f"{a}, {b}")


def requesting(**after_t_min_ms: int) -> HashProfile:
    """Alice asks for each of these IDs so long after T_min; for others right at T_min."""
    return chosen({f"alice, {message_id}": offset for message_id, offset in after_t_min_ms.items()})


def responding(**offsets_ms: int) -> HashProfile:
    """Alice answers for each of these IDs, all sent by bob, so long after the request; others at once."""
    return chosen({"alice": 3, "bob": 2, **offsets_ms})


def repairing(hash_profile: HashProfile, revision: Revision = SDS_2026_01, **repair: Any) -> Config:
    """SDS-R, without automatic sync messages and resends."""
    return Config(
        revision=revision,
        sync_interval_ms=None,
        resend_unacknowledged_ms=10**12,
        sds_r=True,
        repair=RepairConfig(hash_profile=hash_profile, **repair),
    )


def requester(revision: Revision = SDS_2026_01, hash_profile: HashProfile | None = None, **repair: Any) -> Participant:
    """Alice, who asks for "u" 5 s after T_min, for "v" 10 s, for "w" 15 s and for "x" 20 s after it."""
    times = requesting(u=5 * SECOND, v=10 * SECOND, w=15 * SECOND, x=20 * SECOND)
    return joined(repairing(hash_profile or times, revision, **repair))


ANSWERS = repairing(responding(m=M, n=N))


def holder(config: Config = ANSWERS) -> Participant:
    """Alice has "m" and "n" of bob."""
    alice = joined(config)
    for message_id in ("m", "n"):
        alice.receive(content(message_id, at=1, sender="bob"), T)
    return alice


def answers(alice: Participant, since_ms: int = 0, until_ms: int = 3 * T_MAX) -> dict[int, list[str]]:
    """When a tick every second broadcasts what, in milliseconds after T."""
    ticks = {after: copies(alice.tick(T + after)) for after in range(since_ms, until_ms, SECOND)}
    return {after: ids for after, ids in ticks.items() if ids}


def of_bob(*message_ids: str) -> tuple[HistoryEntry, ...]:
    return tuple(HistoryEntry(message_id, None, "bob") for message_id in message_ids)


def asking(
    *wanted: str | HistoryEntry,
    naming: tuple[HistoryEntry, ...] = (),
    message_id: str = "asks",
    sender: str = "carol",
    channel: str = "c",
    payload: bytes | None = None,
) -> bytes:
    """A sync message, or with ``payload`` a content message, that requests repairs; IDs stand for messages of bob."""
    entries = tuple(HistoryEntry(want, None, "bob") if isinstance(want, str) else want for want in wanted)
    return encode(Message(sender, message_id, channel, T, naming, None, entries, payload))


def asked(effects: Effects) -> list[str]:
    """IDs in the repair request of the one message that was broadcast."""
    (wire,) = effects.broadcasts
    return [entry.message_id for entry in decode(wire).repair_request]


def asks(participant: Participant, after_ms: int) -> list[str]:
    """The request of a sync message that is sent this time after T."""
    return asked(participant.send_sync("c", T + after_ms))


def repair(participant: Participant, channel: str = "c") -> Repair:
    state = participant.channel(channel).repair
    assert state is not None
    return state


def t_req(participant: Participant, channel: str = "c") -> dict[str, int]:
    """The outgoing repair request buffer: T_req by ID, ascending."""
    return {item.entry.message_id: item.due_ms - T for item in repair(participant, channel).outgoing}


def t_resp(participant: Participant, channel: str = "c") -> dict[str, int]:
    """The incoming repair request buffer: T_resp by ID, ascending."""
    return {item.entry.message_id: item.due_ms - T for item in repair(participant, channel).incoming}
