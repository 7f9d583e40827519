"""Shapes on hashes and their results: the hash itself, T_req, T_resp and response groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from sds_harness.sds.codec import RepairOffsets
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES

from .....vectors.model import Vector
from .....vectors.running.subject import REFUSED, Status, VectorResult, VectorSkippedError, format_value, judge_outcome
from .codec_shapes import convert_answer
from .subject import SdsSubject

ANY = "any"
"""The hash profile of vectors whose outcomes hold for every hash."""
MODULI = (2**32 - 5, 2**32 - 17, 2**31 - 1)
"""Primes whose remainders together identify a hash of up to 64 bits."""


def _need_hash(subject: SdsSubject, profile: str) -> None:
    declared = subject.declaration.profile("hash")
    if profile not in (ANY, declared):
        raise VectorSkippedError(
            f"declares the hash {declared}, but the vector has another hash" if declared else "declares no known hash"
        )


def ask_hash(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Compare the hash of a text by its remainders: T_req is the hash modulo the range from T_min to T_max.

    The named hashes join two IDs to one text, so any text can be split into a participant ID and a message ID.
    """
    _need_hash(subject, vector["profile"])
    text = "".join(vector["parts"])
    first, second = vector["parts"] if len(vector["parts"]) == 2 else (text[:1], text[1:])
    if not first:
        raise VectorSkippedError("the hash of an empty text cannot be observed: no participant has an empty ID")
    seen = []
    for modulus in MODULI:
        times = subject.codec.repair_times(
            first, second, "somebody", t_min_ms=0, t_max_ms=modulus, num_response_groups=1
        )
        offsets = convert_answer(times)
        if offsets == REFUSED or offsets.t_req_ms is None:
            raise VectorSkippedError(f"does not reveal a T_req within {modulus} ms")
        seen.append(offsets.t_req_ms)
    value = int(vector["outcomes"][0]["hash"])
    expected = [value % modulus for modulus in MODULI]
    if seen == expected:
        return VectorResult(Status.PASS)
    return VectorResult(
        Status.FAIL, f"the hash {value}, with the remainders {expected} modulo {list(MODULI)}", f"the remainders {seen}"
    )


def ask_repair_times(subject: SdsSubject, vector: Vector) -> VectorResult:
    """Judge T_req, T_resp or the membership in a response group, as the codec computes them; or the default number of
    response groups, as a new participant uses it. Every hash must give the same result when it is asked twice.
    """
    function = _FUNCTIONS[vector["function"]]
    answer = function(subject, vector)
    if vector.get("hash_profile") != ANY or answer.status is Status.FAIL:
        return answer
    again = function(subject, vector)
    if (again.status, again.seen, again.raw_answer) != (answer.status, answer.seen, answer.raw_answer):
        return VectorResult(Status.FAIL, f"{answer.raw_answer}, as before", f"{again.raw_answer} for the same question")
    return _fail_if_hash_is_unused(subject, vector) or answer


def _fail_if_hash_is_unused(subject: SdsSubject, vector: Vector) -> VectorResult | None:
    """Return a failure if results do not depend on all IDs, although the implementation has a hash without a known
    name.
    """
    degenerate = vector.get("t_max_ms", 1) <= vector.get("t_min_ms", 0) or vector.get("num_response_groups", 1) < 1
    if subject.declaration.profile("hash") in HASH_PROFILES or degenerate:
        return None
    ignored = _find_ignored_argument(subject, vector["function"])
    return VectorResult(Status.FAIL, "a result that depends on all IDs in the request", ignored) if ignored else None


def _ask_for_offsets(subject: SdsSubject, vector: Vector, **defaults: int) -> Any:
    _need_hash(subject, vector["hash_profile"])
    values = {key: vector.get(key, value) for key, value in defaults.items()}
    return convert_answer(
        subject.codec.repair_times(
            vector["participant_id"], vector["message_id"], vector.get("sender_id", "somebody"), **values
        )
    )


def _ask_for_t_req(subject: SdsSubject, vector: Vector) -> VectorResult:
    offsets = _ask_for_offsets(subject, vector, t_min_ms=0, t_max_ms=0, num_response_groups=1)
    return _judge_offset(vector, offsets, "t_req_ms")


def _ask_for_t_resp(subject: SdsSubject, vector: Vector) -> VectorResult:
    # With a T_min of 0, the test would not detect a T_resp that wrongly depends on T_min.
    t_min_ms = vector["t_max_ms"] // 4
    offsets = _ask_for_offsets(subject, vector, t_min_ms=t_min_ms, t_max_ms=0, num_response_groups=1)
    return _judge_offset(vector, offsets, "t_resp_ms")


def _judge_offset(vector: Vector, offsets: Any, name: str) -> VectorResult:
    if offsets == REFUSED:
        return judge_outcome(REFUSED, vector["outcomes"])
    value = getattr(offsets, name)
    if value is None:
        raise VectorSkippedError(f"does not reveal {name.removesuffix('_ms')}")

    def matches(seen: Any, outcome: dict[str, Any]) -> bool:
        if "from_ms" in outcome:
            return bool(outcome["from_ms"] <= seen <= outcome["to_ms"])
        return bool(seen == outcome.get("offset_ms"))

    return replace(judge_outcome(value, vector["outcomes"], matches, f"{value} ms"), raw_answer=f"{value} ms")


def _ask_for_membership(subject: SdsSubject, vector: Vector) -> VectorResult:
    offsets = _ask_for_offsets(subject, vector, t_min_ms=30_000, t_max_ms=120_000, num_response_groups=1)
    if offsets == REFUSED:
        return judge_outcome(REFUSED, vector["outcomes"])
    if offsets.in_response_group is None:
        raise VectorSkippedError("does not reveal the response group")
    seen = {"member": offsets.in_response_group}
    return replace(judge_outcome(seen, vector["outcomes"]), raw_answer=format_value(seen))


def _ask_for_default_groups(subject: SdsSubject, vector: Vector) -> VectorResult:
    subject.need(pb.CAPABILITY_SDS_R)
    asked = pb.Configuration(sds_r=True, num_participants=vector["num_participants"])
    in_force = subject.stage(vector["id"]).open(configuration=asked).party.in_force
    if not in_force.HasField("num_response_groups") or in_force.num_participants != vector["num_participants"]:
        raise VectorSkippedError("does not derive the number of groups from the number of participants")
    return judge_outcome({"num_response_groups": in_force.num_response_groups}, vector["outcomes"])


_FUNCTIONS: dict[str, Callable[[SdsSubject, Vector], VectorResult]] = {
    "t-req": _ask_for_t_req,
    "t-resp": _ask_for_t_resp,
    "response-group": _ask_for_membership,
    "default-response-groups": _ask_for_default_groups,
}


# ---- unknown hashes --------------------------------------------------------------------------------------------------

# Results of SDS-R with an unknown hash must depend on all IDs that the specification hashes.
#
# A test of T_req or T_resp varies one ID and keeps the others, for several choices of the other IDs. With a legal hash,
# all results are equal with a probability far below 1e-6: offsets are in a range of at least 120 seconds, which has 120
# values even in whole seconds. A test of response groups uses several numbers of groups, because a weak hash can be
# constant modulo one of these numbers.

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


def _find_ignored_argument(subject: SdsSubject, function: str) -> str:
    """Describe an ID that does not change the results of ``function``, although it must; "" if there is none, or if
    this is unknown.
    """
    if function == "response-group":
        return _find_constant_membership(subject)
    for argument in ARGUMENTS[function]:
        for choice in range(CHOICES):
            offsets = {_compute_offset(subject, function, ids) for ids in _vary_argument(argument, choice)}
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


def _compute_offset(subject: SdsSubject, function: str, ids: Ids) -> int | None:
    offsets = _compute_offsets(subject, ids, 1)
    if offsets is None:
        return None
    return offsets.t_req_ms if function == "t-req" else offsets.t_resp_ms


def _compute_offsets(subject: SdsSubject, ids: Ids, groups: int) -> RepairOffsets | None:
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
            offsets = _compute_offsets(subject, ids, groups)
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
