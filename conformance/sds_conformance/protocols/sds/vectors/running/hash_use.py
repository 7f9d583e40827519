"""Tests whether results of SDS-R with an unknown hash depend on all IDs that the specification hashes.

A test of T_req or T_resp varies one ID and keeps the others, for several choices of the other IDs. With a legal hash,
all results are equal with a probability far below 1e-6: offsets are in a range of at least 120 seconds, which has 120
values even in whole seconds. A test of response groups uses several numbers of groups, because a weak hash can be
constant modulo one of these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.codec import RepairOffsets

from .subject import SdsSubject

T_MAX = 240_000
VALUES = 6
"""Number of values of the varied ID."""
CHOICES = 4
"""Number of choices of the IDs that are not varied. With one choice, all results may be equal by chance, with a
legal hash: T_resp is a product modulo T_max, and one factor may be 0.
"""
GROUPS = (3, 5, 7, 11)
PAIRS = 24
"""Number of pairs of a message and a participant. With a good hash, the probability is 7e-10 that every participant is
outside of the response group of its message, for all numbers of groups.
"""

ARGUMENTS = {"t-req": ("participant", "message"), "t-resp": ("participant", "sender", "message")}
FACTORS = {"participant": 7, "sender": 11, "message": 13}

Ids = dict[str, str]
"""Maps ``participant``, ``sender`` and ``message`` to an ID."""


def find_ignored_argument(subject: SdsSubject, function: str) -> str:
    """Describe an ID that does not change the results of ``function``, although it must; "" if there is none, or if
    this is unknown.
    """
    if function == "response-group":
        return _find_constant_membership(subject)
    for argument in ARGUMENTS[function]:
        for choice in range(CHOICES):
            offsets = {_ask_for_offset(subject, function, ids) for ids in _vary_argument(argument, choice)}
            if None in offsets:
                return ""
            if len(offsets) > 1:
                break
        else:
            return (
                f"the same result for {VALUES} different {argument} IDs, with each of {CHOICES} choices of the other "
                "IDs"
            )
    return ""


def _vary_argument(argument: str, choice: int) -> Iterator[Ids]:
    for value in range(VALUES):
        numbers = {name: value if name == argument else 10 + choice for name in FACTORS}
        yield {name: f"{number}-{name}-{FACTORS[name] * number}" for name, number in numbers.items()}


def _ask_for_offset(subject: SdsSubject, function: str, ids: Ids) -> int | None:
    offsets = _ask_for_offsets(subject, ids, 1)
    if offsets is None:
        return None
    return offsets.t_req_ms if function == "t-req" else offsets.t_resp_ms


def _ask_for_offsets(subject: SdsSubject, ids: Ids, groups: int) -> RepairOffsets | None:
    offsets = subject.codec.repair_times(
        ids["participant"], ids["message"], ids["sender"], t_min_ms=0, t_max_ms=T_MAX, num_response_groups=groups
    )
    return offsets if isinstance(offsets, RepairOffsets) else None


def _find_constant_membership(subject: SdsSubject) -> str:
    seen = set()
    for n in range(PAIRS):
        ids = {
            "participant": f"{n}-participant-{3 * n}",
            "sender": f"{2 * n}-sender-{n}",
            "message": f"{n}-message-{n}",
        }
        for groups in GROUPS:
            offsets = _ask_for_offsets(subject, ids, groups)
            if offsets is None or offsets.in_response_group is None:
                return ""
            seen.add(offsets.in_response_group)
            if len(seen) > 1:
                return ""
    always = "inside" if seen == {True} else "outside"
    return (
        f"each of {PAIRS} participants is {always} the response group of its message, "
        f"with {', '.join(map(str, GROUPS))} groups"
    )
