"""Shapes on hashes and their results: the hash itself, T_req, T_resp and response groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES

from .....vectors.model import Vector
from .....vectors.running.subject import REFUSED, Status, VectorResult, VectorSkippedError, format_value, judge_outcome
from .codec_shapes import convert_answer
from .hash_use import find_ignored_argument
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
    ignored = find_ignored_argument(subject, vector["function"])
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
