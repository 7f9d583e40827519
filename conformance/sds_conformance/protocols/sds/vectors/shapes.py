"""The shapes of vectors of SDS: the schema of each, and the function that plays it."""

from __future__ import annotations

from functools import partial

from ....vectors.model import Schema, Shape
from ....vectors.schemas import (
    COUNT,
    HEX,
    NAME,
    NUMERAL,
    TEXT,
    TEXTS,
    UINT64,
    WHOLE,
    YES,
    array,
    outcomes,
    record,
    ref,
    vector_of,
)
from .conversations.recording import start_ms
from .running.buffer_shapes import ask_ack_review, ask_repair_buffers
from .running.codec_shapes import ask_bloom_build, ask_bloom_query, ask_decode, ask_encode
from .running.conversations import ask_transcript
from .running.lamport_shape import ask_lamport
from .running.participant_shapes import ask_causal_history, ask_log_order, ask_message_kind
from .running.repair_shapes import ask_hash, ask_repair_times

SIGNED: Schema = {"type": "string", "pattern": f"^({UINT64}|-[1-9][0-9]{{0,18}})$"}
"""An unsigned integer of 64 bits, or a negative integer. A timestamp is negative if an implementation reads it as a
signed integer.
"""
POSITIVE: Schema = {**COUNT, "minimum": 1}
LARGEST_CAPACITY = 2**24
KINDS = ["content", "sync", "ephemeral", "undefined"]
ALLOWED: Schema = {"position": {"type": "string", "pattern": "^AMB-[0-9C]+$"}, "warned": YES}
"""The schema of an outcome's position: its ID, and whether the outcome causes a warning."""
REFUSAL = record({"rejected": YES}, ALLOWED)
ENTRY = record({"message_id": TEXT}, {"retrieval_hint": HEX, "sender_id": TEXT})

_test = partial(vector_of, {"type": "string", "pattern": "^(SDS|FORUM)-[A-Z0-9-]+$"})


def outcome(**required: Schema) -> Schema:
    return record(required, ALLOWED)


def message(lamport: Schema, more: Schema | None = None) -> Schema:
    """The schema of a message; ``more`` replaces some fields."""
    return record(
        {
            "sender_id": TEXT,
            "message_id": TEXT,
            "channel_id": TEXT,
            "causal_history": array(ref("entry")),
            "repair_request": array(ref("entry")),
        },
        {"lamport_timestamp": lamport, "bloom_filter": HEX, "content": HEX, **(more or {})},
    )


MESSAGES = {"entry": ENTRY, "message": message(NUMERAL)}


def _decode() -> Schema:
    names = [*message(NUMERAL)["properties"]]
    decoded = record({"message": ref("message")}, {"except": array({"enum": names}, least=1), **ALLOWED})
    return _test({"wire": HEX}, outcomes(decoded, REFUSAL, outcome(accepted=YES)))


def _lamport() -> Schema:
    operations = ["send", "send-sync", "send-ephemeral", "deliver"]
    operations += ["receive-sync", "receive-ephemeral", "receive-waiting", "receive-own"]
    after = record({"local": NUMERAL}, {"sent": NUMERAL, "up_to": NUMERAL, "rejected": YES, **ALLOWED})
    inputs = {"operation": {"enum": operations}, "local": NUMERAL, "now_ms": NUMERAL}
    return _test(inputs, outcomes(after), {"received": NUMERAL})


_ARRIVALS = array(
    record({"message_id": TEXT, "lamport_timestamp": NUMERAL}, {"kind": {"enum": ["sync"]}, "causal_history": TEXTS})
)


_FILTER = {
    "profile": NAME,
    "capacity": {"type": "integer", "minimum": 1, "maximum": LARGEST_CAPACITY},
    "error_rate_millionths": {"type": "integer", "minimum": 1, "maximum": 999_999},
    "bits": POSITIVE,
    "hashes": POSITIVE,
}


def _repair_times() -> Schema:
    ids = {"participant_id": TEXT, "message_id": TEXT}
    offset = (outcome(offset_ms=COUNT), outcome(from_ms=COUNT, to_ms=COUNT), REFUSAL)

    def function(name: str, inputs: Schema, legal: Schema) -> Schema:
        return _test({"function": {"const": name}, **inputs}, legal)

    profile = {"hash_profile": NAME}
    member = outcomes(outcome(member={"type": "boolean"}), REFUSAL)
    return {
        "oneOf": [
            function("t-req", {**profile, **ids, "t_min_ms": COUNT, "t_max_ms": COUNT}, outcomes(*offset)),
            function("t-resp", {**profile, **ids, "sender_id": TEXT, "t_max_ms": COUNT}, outcomes(*offset)),
            function("response-group", {**profile, **ids, "sender_id": TEXT, "num_response_groups": WHOLE}, member),
            function(
                "default-response-groups", {"num_participants": COUNT}, outcomes(outcome(num_response_groups=COUNT))
            ),
        ]
    }


def _ack_review() -> Schema:
    state = outcome(unacknowledged=TEXTS, possibly_acknowledged=TEXTS, acknowledged=TEXTS)
    received = record(
        {"sender_id": TEXT, "message_id": TEXT, "kind": {"enum": KINDS[:3]}, "causal_history": TEXTS},
        {"filter_over": TEXTS, "bloom_filter": HEX},
    )
    steps = array(record({"received": received, "outcomes": outcomes(state)}), least=1)
    return _test({"participant_id": TEXT, "own": TEXTS, "steps": steps}, None)


def _repair_buffers() -> Schema:
    due = {"type": "object", "propertyNames": NAME, "additionalProperties": COUNT, "maxProperties": 20}
    waiting = array(record({"message_id": TEXT, "due_ms": due}))
    held = record({"outgoing": waiting, "incoming": waiting}, {"after": array(COUNT, least=1), **ALLOWED})
    step = record({"at_ms": COUNT, "receive": ref("message"), "outcomes": outcomes(held)})
    inputs = {"participant_id": TEXT, "channel_id": TEXT, "t_min_ms": COUNT, "t_max_ms": COUNT}
    return _test({**inputs, "num_response_groups": COUNT, "steps": array(step, least=1)}, None)


RELATIVE: Schema = {"type": "string", "pattern": f"^(T([+-][1-9][0-9]{{0,15}})?|{UINT64})$"}
"""A timestamp: relative to the base, or a number if the value itself matters."""


def _transcript() -> Schema:
    acknowledgements = [record({name: TEXT}) for name in ("acknowledged", "possibly_acknowledged")]
    listed = [record({name: TEXTS}) for name in ("missing", "lost")]
    event = {"oneOf": [record({"delivered": TEXT, "content": HEX}), *acknowledgements, *listed]}
    sent = message(RELATIVE, {"filter_over": TEXTS})
    sent["required"] = [name for name in sent["required"] if name != "message_id"]
    logged = record({"message_id": TEXT, "lamport_timestamp": RELATIVE})
    outgoing = record({"message_id": TEXT, "state": {"enum": ["unacknowledged", "possibly-acknowledged"]}})
    state = record(
        {"lamport_timestamp": RELATIVE, "log": array(logged), "outgoing": array(outgoing), "incoming": TEXTS},
        {"outgoing_repairs": TEXTS, "incoming_repairs": TEXTS},
    )
    seen = {"broadcasts": array(sent), "events": array(event)}
    legal = outcomes(record({}, {**seen, "state": state, "rejected": YES}))
    hint = {"retrieval_hint": HEX}

    def does(name: str, required: Schema | None = None, optional: Schema | None = None) -> Schema:
        return record({"at_ms": WHOLE, "do": {"const": name}, **(required or {}), "outcomes": legal}, optional)

    steps = {
        "oneOf": [
            does("send", {"channel_id": TEXT, "content": HEX, "binds": TEXT}, hint),
            does("sync", {"channel_id": TEXT}, {"binds": TEXT}),
            does("ephemeral", {"channel_id": TEXT, "content": HEX, "binds": TEXT}),
            does("receive", {}, {"message": ref("message"), "wire": HEX, **hint}),
            does("tick"),
            does("observe", {"channel_id": TEXT}),
        ]
    }
    periods = """
    causal_history_size bloom_capacity bloom_error_rate_millionths resend_unacknowledged_ms
    resend_possibly_acknowledged_ms sync_interval_ms lost_timeout_ms incoming_sweep_ms possible_ack_threshold
    t_min_ms t_max_ms num_response_groups num_participants max_repair_requests
    """
    configuration = record({}, {**dict.fromkeys(periods.split(), WHOLE), "sds_r": {"type": "boolean"}})
    inputs = {"scenario": NAME, "needs": array(NAME), "participant_id": TEXT, "channels": TEXTS}
    return _test({**inputs, "configuration": configuration, "steps": array(steps, least=1)}, None)


SHAPES: dict[str, Shape] = {
    "decode": Shape(
        "Wire bytes and the message that they say.", _decode(), ask_decode, {**MESSAGES, "message": message(SIGNED)}
    ),
    "encode": Shape(
        "A message and the wire bytes that say it.",
        _test({"message": ref("message")}, outcomes(outcome(wire=HEX), REFUSAL)),
        ask_encode,
        MESSAGES,
    ),
    "message-kind": Shape(
        "Wire bytes and which kind of message they are.",
        _test({"wire": HEX}, outcomes(outcome(kind={"enum": KINDS}), REFUSAL)),
        ask_message_kind,
    ),
    "lamport": Shape("What an operation makes of the Lamport timestamp of a channel.", _lamport(), ask_lamport),
    "log-order": Shape(
        "Arrivals and the log that they make.",
        _test({"arrivals": _ARRIVALS}, outcomes(outcome(log=TEXTS))),
        ask_log_order,
    ),
    "causal-history": Shape(
        "Arrivals and the causal history of the next message.",
        _test({"arrivals": _ARRIVALS, "size": COUNT}, outcomes(outcome(causal_history=TEXTS))),
        ask_causal_history,
    ),
    "bloom-build": Shape(
        "Message IDs and the filter over them.",
        _test({**_FILTER, "message_ids": TEXTS}, outcomes(outcome(bloom_filter=HEX), outcome(holds=TEXTS))),
        ask_bloom_build,
    ),
    "bloom-query": Shape(
        "A filter and whether it holds message IDs.",
        _test(
            {**_FILTER, "bloom_filter": HEX, "message_ids": TEXTS},
            outcomes(outcome(hits=array({"type": "boolean"})), REFUSAL),
        ),
        ask_bloom_query,
    ),
    "hash": Shape(
        "Strings and their hash.",
        _test({"profile": NAME, "parts": {**array(TEXT, 1), "maxItems": 2}}, outcomes(outcome(hash=NUMERAL))),
        ask_hash,
    ),
    "repair-times": Shape("T_req, T_resp, response groups.", _repair_times(), ask_repair_times),
    "ack-review": Shape("Messages that arrive, and the ACK status of own messages.", _ack_review(), ask_ack_review),
    "repair-buffers": Shape(
        "Messages that arrive, and the repair request buffers.", _repair_buffers(), ask_repair_buffers, MESSAGES
    ),
    "transcript": Shape(
        "What a participant does, step by step, and what comes out of it.",
        _transcript(),
        ask_transcript,
        {"entry": ENTRY, "message": message(RELATIVE, {"filter_over": TEXTS})},
        {"base_ms": NUMERAL},
        lambda revision: {"base_ms": str(start_ms(revision))},
    ),
}
