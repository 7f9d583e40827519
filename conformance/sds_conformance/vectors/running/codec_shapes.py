"""Shapes that the codec operations answer: decode, encode, filters, hashes, T_req, T_resp and response groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sds_harness.codec import DecodedMessage, FilterSize, NoAnswer, Refused, Undeclared
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, BloomParameters, ForeignFilter, MalformedMessage, Message
from sds_reference.wire_fields import WireField, split
from sds_reference.wire_formats import V2026_01, WireFormat

from ..fields import message_json, message_of
from .filter_paths import built_by_participant, hits_by_participant
from .subject import Answer, Skip, Status, Subject, among, worst

Vector = dict[str, Any]
REFUSED = {"rejected": True}

MODULI = (2**32 - 5, 2**32 - 17, 2**31 - 1)
"""Primes: the remainders by all of them tell a hash of up to 64 bits from every other."""


def ask_decode(subject: Subject, vector: Vector) -> Answer:
    """What does it make of the bytes?"""
    answer = subject.codec.decode(bytes.fromhex(vector["wire"]))
    seen: Any = _answered(answer)
    if isinstance(answer, DecodedMessage):
        seen = {"message": message_json(answer.message)}
    return among(seen, vector["outcomes"], _reads)


def _answered(answer: object) -> Any:
    """An answer as an outcome; a refusal is one, and what is not declared cannot be asked for."""
    if isinstance(answer, Undeclared):
        raise Skip(answer.reason)
    return REFUSED if isinstance(answer, Refused) else answer


def _reads(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    if "message" in seen and _below_zero(outcome):
        # The testee protocol has no timestamps below zero: there is no telling what it was read as.
        seen = {"message": {**seen["message"], "lamport_timestamp": outcome["message"]["lamport_timestamp"]}}
    if "message" in seen and "message" in outcome:
        return _plain(seen["message"]) == _plain(outcome["message"])
    return bool(seen.get("rejected")) == bool(outcome.get("rejected")) and ("accepted" in outcome or seen == REFUSED)


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """Content of no length is no content (AMB-34)."""
    return {key: value for key, value in message.items() if key != "content" or value}


def _below_zero(outcome: dict[str, Any]) -> bool:
    return bool(outcome.get("message", {}).get("lamport_timestamp", "").startswith("-"))


def ask_encode(subject: Subject, vector: Vector) -> Answer:
    """Which bytes does it make? The same fields in another order are as good."""
    message = message_of(vector["message"])
    wire = _answered(subject.codec.encode(message))
    expected = [bytes.fromhex(outcome["wire"]) for outcome in vector["outcomes"]]
    if wire == REFUSED:
        return Answer(Status.FAIL, "bytes", "a refusal")
    if wire == expected[0]:
        return Answer(Status.PASS)
    form = subject.session.revision.wire
    if any(_same_fields(form, wire, other, message) for other in expected):
        return Answer(Status.ACCEPTABLE, reason="the same fields, written in another way")
    return Answer(Status.FAIL, expected[0].hex(), wire.hex()[:400])


def _same_fields(form: WireFormat, wire: bytes, expected: bytes, message: Message) -> bool:
    try:
        return form.decode(wire) == message and _sorted(form, wire) == _sorted(form, expected)
    except MalformedMessage:
        return False


def _sorted(form: WireFormat, wire: bytes) -> list[tuple[int, int, object]]:
    """The fields by their numbers, those of entries as well; entries keep their order among themselves."""
    return sorted(((f.number, f.wire_type, _inside(form, f)) for f in split(wire)), key=lambda field: field[0])


def _inside(form: WireFormat, field: WireField) -> object:
    if form is V2026_01 and field.number in (11, 13) and isinstance(field.value, bytes):
        return sorted((f.number, f.wire_type, f.value) for f in split(field.value))
    return field.value


# ---- filters -------------------------------------------------------------------------------------------------------


def _size(vector: Vector) -> FilterSize:
    return FilterSize(vector["capacity"], vector["error_rate_millionths"] / 1_000_000)


def _need_profile(subject: Subject, vector: Vector) -> None:
    declared = subject.declaration.bloom_profile
    if declared != vector["profile"]:
        raise Skip(
            f"declares filters of {declared}: these are others" if declared else "declares no known kind of filters"
        )


def ask_bloom_build(subject: Subject, vector: Vector) -> Answer:
    """Which filter does it make of the IDs: by its codec, and as a participant that received them?"""
    _need_profile(subject, vector)
    ids = vector["message_ids"]
    built = subject.codec.build_filter(ids, _size(vector))
    answers = []
    if not isinstance(built, Undeclared):
        answers.append(_judged_filter(vector, built, []))
    path = built_by_participant(subject, vector)
    if path is not None:
        wire, own = path
        answers.append(_judged_filter(vector, wire, own))
    if not answers:
        assert isinstance(built, Undeclared)
        raise Skip(built.reason)
    return worst(answers)


def _judged_filter(vector: Vector, built: bytes | NoAnswer, own: list[str]) -> Answer:
    if not isinstance(built, bytes):
        return Answer(Status.FAIL, "a filter", "a refusal")

    def matches(seen: Any, outcome: dict[str, Any]) -> bool:
        if "bloom_filter" in outcome:
            exact = bytes.fromhex(outcome["bloom_filter"])
            return bool(seen == exact) or (bool(own) and seen == _with(vector, exact, own))
        return _holds(vector, seen, outcome["holds"])

    return among(built, vector["outcomes"], matches, f"{len(built)} bytes: {built[:32].hex()}")


def _parameters(vector: Vector) -> BloomParameters:
    return BloomParameters.sized(vector["capacity"], vector["error_rate_millionths"] / 1_000_000)


def _with(vector: Vector, exact: bytes, own: list[str]) -> bytes:
    """The filter with own IDs in it, too, which is legal (AMB-19)."""
    profile, size = PROFILES[vector["profile"]], _parameters(vector)
    if not exact:
        return exact
    bits = bytearray(profile.read(exact, size).bits)
    for message_id in own:
        for byte, mask in profile.positions(message_id, size):
            bits[byte] |= mask
    return profile.wrap(bytes(bits), size)


def _holds(vector: Vector, wire: bytes, ids: list[str]) -> bool:
    try:
        view = PROFILES[vector["profile"]].read(wire, _parameters(vector))
    except ForeignFilter:
        return False
    return all(message_id in view for message_id in ids)


def ask_bloom_query(subject: Subject, vector: Vector) -> Answer:
    """What does it find in the filter: by its codec, and as a participant whose messages have these IDs?"""
    _need_profile(subject, vector)
    wire, ids = bytes.fromhex(vector["bloom_filter"]), vector["message_ids"]
    asked = subject.codec.query_filter(wire, ids, _size(vector))
    answers = []
    if not isinstance(asked, Undeclared):
        seen: Any = REFUSED if isinstance(asked, Refused) else {"hits": list(asked)}
        answers.append(among(seen, vector["outcomes"], _found))
    hits = hits_by_participant(subject, vector, wire)
    if hits is not None:
        nothing = any(outcome.get("rejected") for outcome in vector["outcomes"])
        found = among({"hits": hits}, vector["outcomes"], _found)
        # As a participant it has no other way to skip a filter than to find nothing in it.
        answers.append(Answer(Status.PASS) if nothing and found.status is Status.ACCEPTABLE else found)
    if not answers:
        assert isinstance(asked, Undeclared)
        raise Skip(asked.reason)
    return worst(answers)


def _found(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    if seen.get("rejected") or outcome.get("rejected"):
        return bool(seen.get("rejected")) and bool(outcome.get("rejected"))
    return bool(seen["hits"] == outcome["hits"])


# ---- hashes and times ----------------------------------------------------------------------------------------------


def _need_hash(subject: Subject, profile: str) -> None:
    declared = subject.declaration.hash_profile
    if profile not in ("any", declared):
        raise Skip(f"declares the hash {declared}: this is another" if declared else "declares no known hash")


def ask_hash(subject: Subject, vector: Vector) -> Answer:
    """Its hash, from the remainders that T_req shows. The named hashes join two strings, so one can be split."""
    _need_hash(subject, vector["profile"])
    text = "".join(vector["parts"])
    first, second = vector["parts"] if len(vector["parts"]) == 2 else (text[:1], text[1:])
    if not first:
        raise Skip("the hash of nothing cannot be seen from outside: no participant has an empty ID")
    seen = []
    for modulus in MODULI:
        times = subject.codec.repair_times(
            first, second, "somebody", t_min_ms=0, t_max_ms=modulus, num_response_groups=1
        )
        offsets = _answered(times)
        if offsets == REFUSED or offsets.t_req_ms is None:
            raise Skip(f"does not tell a T_req within {modulus} ms")
        seen.append(offsets.t_req_ms)
    value = int(vector["outcomes"][0]["hash"])
    expected = [value % modulus for modulus in MODULI]
    if seen == expected:
        return Answer(Status.PASS)
    return Answer(Status.FAIL, f"{value}: remainders {expected} by {list(MODULI)}", f"{seen}")


def ask_repair_times(subject: Subject, vector: Vector) -> Answer:
    """T_req, T_resp and membership by its own computation; the default number of groups from a configuration."""
    return _FUNCTIONS[vector["function"]](subject, vector)


def _offsets(subject: Subject, vector: Vector, **defaults: int) -> Any:
    _need_hash(subject, vector["hash_profile"])
    values = {key: vector.get(key, value) for key, value in defaults.items()}
    return _answered(
        subject.codec.repair_times(
            vector["participant_id"], vector["message_id"], vector.get("sender_id", "somebody"), **values
        )
    )


def _t_req(subject: Subject, vector: Vector) -> Answer:
    told = _offsets(subject, vector, t_min_ms=0, t_max_ms=0, num_response_groups=1)
    return _offset(vector, told, "t_req_ms")


def _t_resp(subject: Subject, vector: Vector) -> Answer:
    # T_min has no part in it, which a T_min of 0 would not show.
    t_min_ms = vector["t_max_ms"] // 4
    told = _offsets(subject, vector, t_min_ms=t_min_ms, t_max_ms=0, num_response_groups=1)
    return _offset(vector, told, "t_resp_ms")


def _offset(vector: Vector, told: Any, name: str) -> Answer:
    if told == REFUSED:
        return among(REFUSED, vector["outcomes"], lambda seen, outcome: bool(outcome.get("rejected")))
    value = getattr(told, name)
    if value is None:
        raise Skip(f"does not tell {name.removesuffix('_ms')}")

    def matches(seen: Any, outcome: dict[str, Any]) -> bool:
        if "from_ms" in outcome:
            return bool(outcome["from_ms"] <= seen <= outcome["to_ms"])
        return bool(seen == outcome.get("offset_ms"))

    return among(value, vector["outcomes"], matches, f"{value} ms")


def _member(subject: Subject, vector: Vector) -> Answer:
    told = _offsets(subject, vector, t_min_ms=30_000, t_max_ms=120_000, num_response_groups=1)
    if told == REFUSED:
        return among(REFUSED, vector["outcomes"], lambda seen, outcome: bool(outcome.get("rejected")))
    if told.in_response_group is None:
        raise Skip("does not tell the response group")
    return among(
        {"member": told.in_response_group}, vector["outcomes"], lambda s, o: bool(s["member"] is o.get("member"))
    )


def _default_groups(subject: Subject, vector: Vector) -> Answer:
    subject.need(pb.CAPABILITY_SDS_R)
    asked = pb.Configuration(sds_r=True, num_participants=vector["num_participants"])
    in_force = subject.stage(vector["id"]).open(configuration=asked).party.in_force
    if not in_force.HasField("num_response_groups") or in_force.num_participants != vector["num_participants"]:
        raise Skip("does not derive the number of groups from that of the participants")
    seen = {"num_response_groups": in_force.num_response_groups}
    return among(seen, vector["outcomes"], lambda s, o: bool(s["num_response_groups"] == o["num_response_groups"]))


_FUNCTIONS: dict[str, Callable[[Subject, Vector], Answer]] = {
    "t-req": _t_req,
    "t-resp": _t_resp,
    "response-group": _member,
    "default-response-groups": _default_groups,
}
