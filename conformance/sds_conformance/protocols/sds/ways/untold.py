"""Positions of which no run tells which way an implementation goes, each with the reason."""

from __future__ import annotations

_ENFORCED = "one way alone is accepted: who goes another violates the requirements that it is about"
_LIKE = "told with {}, which is about the same"
_SUITE = "a choice of the suite, and none of an implementation"
_HASH = "part of a hash function, which is told as a whole with AMB-01"
_NEVER = "no scenario brings the situation about in which the ways differ"

_BY_REASON = {
    _ENFORCED: """
        03 04 13 16 26 27 28 30 32 33 40 41 43 53 58 59 60 78 79 89 90 91 98 104 106 110 121 144 146 147
        C3 C4 C5 C6 C7 C8 C9 C10 C11 C12 C16
    """,
    _SUITE: "56 82 93 100 117 119 122 123 145",
    _HASH: "02",
    _NEVER: "22 25 37 39 69 73 74 80 81 84 95",
}

UNTOLD: dict[str, str] = {
    f"AMB-{number}": reason for reason, numbers in _BY_REASON.items() for number in numbers.split()
} | {
    "AMB-06": "two times that are equal or are not come by chance, under every reading",
    "AMB-07": "the ends of the intervals are hit once in tens of thousands of times",
    "AMB-20": "whether a message is logged just before or just after it is broadcast, within one step, does not show",
    "AMB-55": "which IDs are left after a roll-over hangs on the filter's size, and some are found by chance",
    "AMB-61": "whether a buffer becomes empty hangs on what others send",
    "AMB-62": "a broadcast that fails cannot be told apart from one that nobody receives",
    "AMB-83": "a sync message that carries a due request may have gone out at that time anyhow",
    "AMB-97": "nothing is started again with what it kept",
    "AMB-105": "it is not tested, for SDS has no authentication",
    "AMB-112": "the number of IDs at which a filter rolls over shows within a wide margin only",
    "AMB-114": "a share of answers without delay is one of chance, whatever the hash",
    "AMB-115": "how even times are is judged over many, by what the formula yields",
    "AMB-116": "a run is about one revision",
    "AMB-120": "of two copies in one sweep none says what it is for",
    "AMB-128": "copies come together with other messages too often to say which of them puts a sync message off",
    "AMB-133": "every participant of the suite has an ID of its own",
    "AMB-C1": _LIKE.format("AMB-42"),
    "AMB-C2": _LIKE.format("AMB-22"),
    "AMB-C13": "what a participant keeps of a message does not show but in its answers",
    "AMB-C14": _LIKE.format("AMB-11"),
    "AMB-C17": "a note that asks for nothing",
}
