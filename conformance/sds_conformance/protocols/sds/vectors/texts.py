"""Requirements of both texts, for vectors that hold in both: what each of them calls the same rule."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = {
    "SDS-ACK-01": "FORUM-26",
    "SDS-ACK-02": "FORUM-27",
    "SDS-ACK-03": "FORUM-28",
    "SDS-ACK-05": "FORUM-26",
    "SDS-ACK-07": "FORUM-19",
    "SDS-CONFLICT-01": "FORUM-25",
    "SDS-CONFLICT-02": "FORUM-25",
    "SDS-DELIVER-04": "FORUM-24",
    "SDS-DELIVER-05": "FORUM-25",
    "SDS-MSG-05": "FORUM-04",
    "SDS-MSG-07": "FORUM-07",
    "SDS-MSG-17": "FORUM-17",
    "SDS-RECV-01": "FORUM-13",
    "SDS-RECV-03": "FORUM-19",
    "SDS-RECV-11": "FORUM-19",
    "SDS-SEND-04": "FORUM-16",
    "SDS-SEND-06": "FORUM-16",
    "SDS-SEND-09": "FORUM-17",
    "SDS-STATE-05": "FORUM-10",
    "SDS-STATE-06": "FORUM-20",
    "SDS-STATE-11": "FORUM-24",
    "SDS-STATE-12": "FORUM-13",
    "SDS-STATE-13": "FORUM-27",
    "SDS-STATE-14": "FORUM-26",
    "SDS-SYNC-10": "FORUM-37",
    "SDS-SYNC-12": "FORUM-37",
}
"""By requirement of SDS: the requirement of the proposal of which the same answer is wrong."""


def of_sds(shorts: str) -> list[str]:
    """Requirements of SDS, without their prefix in ``shorts``."""
    return [f"SDS-{short}" for short in shorts.split()]


def of_proposal(shorts: str) -> list[str]:
    """Requirements of the proposal, by their numbers."""
    return [f"FORUM-{short}" for short in shorts.split()]


def of_both(shorts: str) -> list[str]:
    """The same of SDS, and of the proposal what it calls the same."""
    return with_proposal(of_sds(shorts))


def with_proposal(ids: Iterable[str]) -> list[str]:
    """The IDs, then those of the proposal that stand for the same."""
    ids = list(ids)
    return ids + list(dict.fromkeys(ALIKE[i] for i in ids if i in ALIKE))
