"""The log and causal histories in the proposal of 2024: sync messages are logged, and no order of histories is given.

Sections "Process message", "Send message" and "Periodic sync message" of the proposal.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

from ....vectors.model import Note, Outcome, Vector, legal, vector
from .texts import of_proposal

SYNCS = Note(
    "Sync messages are in the log: what names them is processed. One that does not show in it is not held against it.",
    ("FORUM-16", "FORUM-37"),
)
ANY_ORDER = Note("In which order a causal history names them is not said.", ("FORUM-16",))

Said = tuple[str, int, str]
"""ID, timestamp, and what it names; a sync message has an ID that begins with s."""


def _fields(arrivals: list[Said]) -> dict[str, Any]:
    out = []
    for message_id, lamport, names in arrivals:
        arrival: dict[str, Any] = {"message_id": message_id, "lamport_timestamp": str(lamport)}
        if message_id.startswith("s"):
            arrival["kind"] = "sync"
        if names:
            arrival["causal_history"] = names.split()
        out.append(arrival)
    return {"arrivals": out}


def _logs(arrivals: list[Said]) -> list[list[str]]:
    """The log, then the logs in which sync messages do not show, or not all."""
    log = [message_id for message_id, lamport, _ in sorted(arrivals, key=lambda a: (a[1], a[0].encode()))]
    syncs = [message_id for message_id in log if message_id.startswith("s")]
    hidden = [set(some) for count in range(len(syncs) + 1) for some in combinations(syncs, count)]
    return [[message_id for message_id in log if message_id not in some] for some in hidden]


def logs_with_syncs() -> list[Vector]:
    """Sync messages among others, named by others, and waiting."""
    named = "A message waits for the sync message that it names."
    tied = "A sync message has the timestamp of the message before it."
    among: list[Said] = [("b", 1010, ""), ("s", 1005, ""), ("a", 1000, "")]
    both_wait: list[Said] = [("s", 1010, "a"), ("b", 1020, "s"), ("a", 1000, "")]
    backwards: list[Said] = [("b", 1030, "s2"), ("s2", 1020, "s1"), ("s1", 1010, "a"), ("a", 1000, "")]
    rows: dict[str, tuple[str, str, list[Said]]] = {
        "sync-among-others": ("A sync message between two others.", "24 37", among),
        "sync-in-a-tie": (tied, "24 25 37", [("t", 1000, ""), ("s", 1000, ""), ("r", 1000, "")]),
        "sync-that-is-named": ("A message names a sync message.", "37", [("s", 1000, ""), ("a", 1010, "s")]),
        "sync-that-is-named-before": (named, "37 29 12", [("a", 1010, "s"), ("s", 1000, "")]),
        "sync-that-waits": ("A sync message waits, and a message waits for it.", "37 29 12", both_wait),
        "syncs-in-a-chain": ("Sync messages name one another, and arrive backwards.", "37 29 12", backwards),
    }
    out = []
    for slug, (comment, requirements, arrivals) in rows.items():
        outcomes: list[Outcome] = [{"log": log} for log in _logs(arrivals)]
        out.append(vector(slug, comment, "Syncs", of_proposal(requirements), _fields(arrivals), *outcomes))
    return out


def histories_of_three() -> list[Vector]:
    """Three entries in any order, and sync messages among what is named."""
    chain: list[Said] = [(f"m{n}", 1000 + 10 * n, "") for n in range(6)]
    third_last: list[Said] = [("a", 1000, ""), ("b", 1010, ""), ("d", 1030, ""), ("e", 1040, ""), ("c", 1020, "")]
    with_a_sync: list[Said] = [("a", 1000, ""), ("s", 1010, ""), ("b", 1020, "")]
    late = "LastOfTheLog AnyOrder Late"
    rows: tuple[tuple[str, str, str, int, list[Said]], ...] = (
        ("last-three", "The last three of six.", "LastOfTheLog AnyOrder", 3, chain),
        ("last-three-backwards", "They arrive backwards.", late, 3, chain[::-1]),
        ("three-of-three", "Three have arrived, three are wanted.", "ShortLog AnyOrder", 3, chain[:3]),
        ("three-with-a-late-arrival", "The last to arrive is the third of the log.", late, 3, third_last),
        ("a-sync-at-the-end", "The last is a sync message.", "Syncs", 1, with_a_sync[:2]),
        ("a-sync-among-the-last", "A sync message is the last but one.", "Syncs AnyOrder", 2, with_a_sync),
    )
    out = []
    for slug, comment, flags, size, arrivals in rows:
        outcomes: list[Outcome] = []
        for log in _logs(arrivals):
            last = log[-size:]
            orders = [last, last[::-1], *map(list, permutations(last))]
            outcomes += [{"causal_history": order} for order in orders]
        listed = list({tuple(outcome["causal_history"]): outcome for outcome in outcomes}.values())
        if len(listed) > 1 and "Syncs" not in flags:
            listed[1] = legal(listed[1], "AMB-29")
        fields = {**_fields(arrivals), "size": size}
        out.append(vector(slug, comment, flags, of_proposal("16"), fields, *listed))
    return out
