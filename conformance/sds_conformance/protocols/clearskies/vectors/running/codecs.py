"""Vectors that codec operations answer: clocks, framing and signatures."""

from __future__ import annotations

import json
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import (
    AccessLevel,
    BrokenFramingError,
    MalformedMessageError,
    Parser,
    SignatureProfile,
    signature_profile,
)
from sds_harness.clearskies.clubs import private_pem, public_pem, signer

from .....vectors.model import Outcome, Vector
from .....vectors.running.subject import REFUSED, Status, VectorResult, VectorSkippedError, judge_outcome
from .subject import ClearSkiesSubject, legal_outcomes

DEFAULT_PROFILE = "rsa-pkcs1-sha256"


def _is_refusal(reply: pb.Reply) -> bool:
    return bool(reply.WhichOneof("answer") == "rejected")


def ask_comparison(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Let the implementation compare two clocks, and judge the order that it finds."""
    subject.need(pb.CAPABILITY_CLOCK_CODEC)
    if "Wide" in vector["flags"]:
        subject.need(pb.CAPABILITY_WIDE_INTEGERS)
    texts = {name: vector[name].encode() for name in ("one", "other")}
    members = subject.declaration.limit("clock_members")
    if members is not None and any(_count_members(text) > members for text in texts.values()):
        raise VectorSkippedError("declares a limit on the members of a vector clock, which this vector exceeds")
    reply = subject.call(pb.Request(compare_clocks=pb.CompareClocks(**texts)))
    outcomes = legal_outcomes(vector)
    if _is_refusal(reply):
        return judge_outcome(REFUSED, outcomes)
    relation = {(True, True): "equal", (True, False): "before", (False, True): "after", (False, False): "concurrent"}
    comparison = reply.comparison
    return judge_outcome({"relation": relation[comparison.one_before_other, comparison.other_before_one]}, outcomes)


def _count_members(text: bytes) -> int:
    try:
        clock = json.loads(text)
    except ValueError:
        return 0
    return len(clock) if isinstance(clock, dict) else 0


# ---- Framing -------------------------------------------------------------------------------------------------------


def _require_body_limit(subject: ClearSkiesSubject, size: int) -> None:
    room = subject.declaration.limit("body_bytes")
    if room is not None and size > room:
        raise VectorSkippedError("declares a limit on the size of a body, which this vector exceeds")


def ask_unframe(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Compare the messages that the implementation reads from the bytes with the outcomes of the vector."""
    subject.need(pb.CAPABILITY_MESSAGE_CODEC)
    stream = bytes.fromhex(vector["stream"])
    _require_body_limit(subject, max(len(stream), _declared_length(stream)) if not _may_be_refused(vector) else 0)
    reply = subject.call(pb.Request(unframe=pb.Unframe(data=stream)))
    if _is_refusal(reply):
        return judge_outcome(REFUSED, vector["outcomes"])
    messages: list[dict[str, Any]] = [
        {"body": each.body.hex(), **({"signature": each.signature.hex()} if each.HasField("signature") else {})}
        for each in reply.unframed.messages
    ]
    return judge_outcome({"messages": messages, "rest": reply.unframed.rest}, vector["outcomes"])


def _may_be_refused(vector: Vector) -> bool:
    return any(outcome.get("rejected") for outcome in vector["outcomes"])


def _declared_length(stream: bytes) -> int:
    """The length that an unsigned message declares at the beginning of a stream; 0 if there is none."""
    digits = stream[1:].partition(b"{")[0]
    return int(digits) if digits.isdigit() and len(digits) < 10 else 0


def ask_frame(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Compare the bytes that the implementation writes for a body with the outcomes of the vector."""
    subject.need(pb.CAPABILITY_MESSAGE_CODEC)
    body = bytes.fromhex(vector["body"])
    _require_body_limit(subject, len(body))
    reply = subject.call(pb.Request(frame=pb.Frame(body=body)))
    return judge_outcome(REFUSED if _is_refusal(reply) else {"wire": reply.framed.data.hex()}, vector["outcomes"])


# ---- Signatures ----------------------------------------------------------------------------------------------------


def _require_profile(subject: ClearSkiesSubject, vector: Vector) -> SignatureProfile:
    declared = subject.declaration.profile("signature") or DEFAULT_PROFILE
    if declared != vector["profile"]:
        raise VectorSkippedError(f"declares the signature profile {declared}, but the vector has another profile")
    return signature_profile(declared)


def ask_verify(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Let the implementation verify a signature, and compare its answer with the outcomes of the vector."""
    subject.need(pb.CAPABILITY_SIGNATURE_CODEC)
    _require_profile(subject, vector)
    command = pb.Verify(
        body=bytes.fromhex(vector["body"]),
        signature=bytes.fromhex(vector["signature"]),
        public_key=public_pem(AccessLevel(vector["signed_by"])),
    )
    reply = subject.call(pb.Request(verify=command))
    # An implementation that refuses to verify a signature has not accepted it.
    return judge_outcome({"valid": not _is_refusal(reply) and reply.verified.valid}, vector["outcomes"])


def ask_sign(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Let the implementation sign a body with a key, and compare the message with the outcomes of the vector."""
    subject.need(pb.CAPABILITY_MESSAGE_CODEC)
    profile = _require_profile(subject, vector)
    body, level = bytes.fromhex(vector["body"]), AccessLevel(vector["signed_by"])
    reply = subject.call(pb.Request(frame=pb.Frame(body=body, private_key=private_pem(level))))
    if _is_refusal(reply):
        return VectorResult(Status.FAIL, "a signed message", "refused")
    wire = reply.framed.data

    def matches(seen: bytes, outcome: Outcome) -> bool:
        return seen.hex() == outcome["wire"] if "wire" in outcome else _is_genuine(seen, body, level, profile)

    return judge_outcome(wire, vector["outcomes"], matches, f"{len(wire)} bytes: {wire[:32].hex()}")


def _is_genuine(wire: bytes, body: bytes, level: AccessLevel, profile: SignatureProfile) -> bool:
    """Are these bytes the message of this body with a signature of this level?"""
    parser = Parser()
    try:
        messages = list(parser.feed(wire))
    except (BrokenFramingError, MalformedMessageError):
        return False
    return (
        not parser.incomplete_bytes
        and [message.body for message in messages] == [body]
        and signer(messages[0], profile) is level
        and messages[0].to_wire() == wire
    )
