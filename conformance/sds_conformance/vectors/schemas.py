"""JSON Schemas (2020-12) of the files, one for each shape. They are strict: a field that is not named is an error.

Sizes are bounded, so that a file of a stranger cannot ask for more than a consumer has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]

HEX: Schema = {"type": "string", "pattern": "^([0-9a-f]{2})*$", "maxLength": 1_000_000}


def _up_to(largest: int) -> str:
    """A regular expression for the whole numbers from 0 to the largest, in as few digits as they have."""
    digits = str(largest)
    shorter = f"0|[1-9][0-9]{{0,{len(digits) - 2}}}"
    below = [
        f"{digits[:at]}[{'1' if at == 0 else '0'}-{int(digit) - 1}][0-9]{{{len(digits) - at - 1}}}"
        for at, digit in enumerate(digits)
        if int(digit) > (1 if at == 0 else 0)
    ]
    return "|".join([shorter, *below, digits])


UINT64 = _up_to(2**64 - 1)
NUMERAL: Schema = {"type": "string", "pattern": f"^({UINT64})$"}
"""An unsigned number of 64 bits, which may be larger than a double holds exactly."""
SIGNED: Schema = {"type": "string", "pattern": f"^({UINT64}|-[1-9][0-9]{{0,18}})$"}
"""The same, and below zero: what a timestamp of 32 bits with a sign can be read as."""
TEXT: Schema = {"type": "string", "maxLength": 4096, "pattern": r"^[^\ud800-\udfff]*$"}
"""A string that UTF-8 can say: there is no half of a pair of surrogates in it."""
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
POSITIVE: Schema = {**COUNT, "minimum": 1}
WHOLE: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**32 - 1}
LARGEST_CAPACITY = 2**24
YES: Schema = {"const": True}
POSITION: Schema = {"type": "string", "pattern": "^AMB-[0-9C]+$"}
NAME: Schema = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$", "maxLength": 100}
REQUIREMENT: Schema = {"type": "string", "pattern": "^(SDS|FORUM)-[A-Z0-9-]+$"}
KINDS = ["content", "sync", "ephemeral", "undefined"]


def array(items: Schema, least: int = 0) -> Schema:
    """A list; its length is bounded."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": 10_000}


def record(required: Schema, optional: Schema | None = None) -> Schema:
    """An object of exactly these fields."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


TEXTS = array(TEXT)
ENTRY = record({"message_id": TEXT}, {"retrieval_hint": HEX, "sender_id": TEXT})


def message(lamport: Schema, more: Schema | None = None) -> Schema:
    """A message by its fields; ``more`` are fields in place of others."""
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


MESSAGES: dict[str, Schema] = {"entry": ENTRY, "message": message(NUMERAL)}
ALLOWED: Schema = {"position": POSITION, "warned": YES}
"""What allows an outcome, and whether with a warning."""
REFUSAL = record({"rejected": YES}, ALLOWED)


def outcomes(*kinds: Schema) -> Schema:
    """The legal outcomes of one test or step."""
    return array({"oneOf": list(kinds)} if len(kinds) > 1 else kinds[0], least=1)


def outcome(**required: Schema) -> Schema:
    return record(required, ALLOWED)


def _test(inputs: Schema, legal: Schema | None, optional: Schema | None = None) -> Schema:
    told = {
        "id": {"type": "string", "pattern": "^[a-z0-9-]+/[a-z0-9-]+(@[a-z0-9-]+)?$", "maxLength": 200},
        "comment": {"type": "string", "minLength": 1, "maxLength": 400},
        "result": {"enum": ["valid", "invalid", "acceptable"]},
        "flags": array({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*$"}, least=1),
        "requirements": array(REQUIREMENT, least=1),
    }
    required = {**told, **inputs, **({"outcomes": legal} if legal is not None else {})}
    return record(required, {"warned": YES, **(optional or {})})


def _decode() -> Schema:
    names = [*MESSAGES["message"]["properties"]]
    said = record({"message": ref("message")}, {"except": array({"enum": names}, least=1), **ALLOWED})
    return _test({"wire": HEX}, outcomes(said, REFUSAL, outcome(accepted=YES)))


READ: dict[str, Schema] = {"entry": ENTRY, "message": message(SIGNED)}


def _encode() -> Schema:
    return _test({"message": ref("message")}, outcomes(outcome(wire=HEX), REFUSAL))


def _kind() -> Schema:
    return _test({"wire": HEX}, outcomes(outcome(kind={"enum": KINDS}), REFUSAL))


def _lamport() -> Schema:
    operations = ["send", "send-sync", "send-ephemeral", "deliver"]
    operations += ["receive-sync", "receive-ephemeral", "receive-waiting", "receive-own"]
    after = record({"local": NUMERAL}, {"sent": NUMERAL, "up_to": NUMERAL, "rejected": YES, **ALLOWED})
    inputs = {"operation": {"enum": operations}, "local": NUMERAL, "now_ms": NUMERAL}
    return _test(inputs, outcomes(after), {"received": NUMERAL})


_ARRIVALS = array(
    record({"message_id": TEXT, "lamport_timestamp": NUMERAL}, {"kind": {"enum": ["sync"]}, "causal_history": TEXTS})
)


def _log_order() -> Schema:
    return _test({"arrivals": _ARRIVALS}, outcomes(outcome(log=TEXTS)))


def _causal_history() -> Schema:
    return _test({"arrivals": _ARRIVALS, "size": COUNT}, outcomes(outcome(causal_history=TEXTS)))


_FILTER = {
    "profile": NAME,
    "capacity": {"type": "integer", "minimum": 1, "maximum": LARGEST_CAPACITY},
    "error_rate_millionths": {"type": "integer", "minimum": 1, "maximum": 999_999},
    "bits": POSITIVE,
    "hashes": POSITIVE,
}


def _bloom_build() -> Schema:
    legal = outcomes(outcome(bloom_filter=HEX), outcome(holds=TEXTS))
    return _test({**_FILTER, "message_ids": TEXTS}, legal)


def _bloom_query() -> Schema:
    hits = outcome(hits=array({"type": "boolean"}))
    return _test({**_FILTER, "bloom_filter": HEX, "message_ids": TEXTS}, outcomes(hits, REFUSAL))


def _hash() -> Schema:
    parts = {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 2}
    return _test({"profile": NAME, "parts": parts}, outcomes(outcome(hash=NUMERAL)))


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
"""A timestamp: relative to the base, or a number where that is the point."""


def _transcript() -> Schema:
    event = {
        "oneOf": [
            record({"delivered": TEXT, "content": HEX}),
            record({"acknowledged": TEXT}),
            record({"possibly_acknowledged": TEXT}),
            record({"missing": TEXTS}),
            record({"lost": TEXTS}),
        ]
    }
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
    at = {"at_ms": WHOLE, "outcomes": legal}
    hint = {"retrieval_hint": HEX}

    def does(name: str, required: Schema | None = None, optional: Schema | None = None) -> Schema:
        return record({"at_ms": at["at_ms"], "do": {"const": name}, **(required or {}), "outcomes": legal}, optional)

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
    periods = ["causal_history_size", "bloom_capacity", "bloom_error_rate_millionths", "resend_unacknowledged_ms"]
    periods += ["resend_possibly_acknowledged_ms", "sync_interval_ms", "lost_timeout_ms", "incoming_sweep_ms"]
    periods += ["possible_ack_threshold", "t_min_ms", "t_max_ms", "num_response_groups", "num_participants"]
    periods += ["max_repair_requests"]
    configuration = record({}, {**dict.fromkeys(periods, WHOLE), "sds_r": {"type": "boolean"}})
    inputs = {
        "scenario": NAME,
        "needs": array(NAME),
        "participant_id": TEXT,
        "channels": TEXTS,
        "configuration": configuration,
    }
    return _test({**inputs, "steps": array(steps, least=1)}, None)


_SHAPES: dict[str, tuple[Callable[[], Schema], str, dict[str, Schema]]] = {
    "decode": (_decode, "Wire bytes and the message that they say.", READ),
    "encode": (_encode, "A message and the wire bytes that say it.", MESSAGES),
    "message-kind": (_kind, "Wire bytes and which kind of message they are.", {}),
    "lamport": (_lamport, "What an operation makes of the Lamport timestamp of a channel.", {}),
    "log-order": (_log_order, "Arrivals and the log that they make.", {}),
    "causal-history": (_causal_history, "Arrivals and the causal history of the next message.", {}),
    "bloom-build": (_bloom_build, "Message IDs and the filter over them.", {}),
    "bloom-query": (_bloom_query, "A filter and whether it holds message IDs.", {}),
    "hash": (_hash, "Strings and their hash.", {}),
    "repair-times": (_repair_times, "T_req, T_resp, response groups.", {}),
    "ack-review": (_ack_review, "Messages that arrive, and the ACK status of own messages.", {}),
    "repair-buffers": (_repair_buffers, "Messages that arrive, and the repair request buffers.", MESSAGES),
    "transcript": (
        _transcript,
        "What a participant does, step by step, and what comes out of it.",
        {"entry": ENTRY, "message": message(RELATIVE, {"filter_over": TEXTS})},
    ),
}

SHAPES: tuple[str, ...] = tuple(_SHAPES)
"""The names of the schemas."""


def schema(shape: str) -> Schema:
    """The schema of the files of one shape."""
    test, title, definitions = _SHAPES[shape]
    note = record({"description": {"type": "string", "minLength": 1}, "ids": array({"type": "string"}, least=1)})
    header = {
        "$schema": {"const": schema_path(shape)},
        "group": NAME,
        "shape": {"const": shape},
        "title": {"type": "string", "minLength": 1},
        "revisions": array(NAME, least=1),
        "generatorVersion": {"type": "string", "pattern": "^[0-9]+$"},
        "numberOfTests": {"type": "integer", "minimum": 1},
        "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "notes": {"type": "object", "additionalProperties": note, "minProperties": 1},
        **({"base_ms": NUMERAL} if shape == "transcript" else {}),
        "tests": array(ref("test"), least=1),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sds-conformance:vectors:{shape}:1",
        "title": title,
        **record(header),
        "$defs": {**definitions, "test": test()},
    }


def schema_path(shape: str) -> str:
    """The schema as a file of vectors names it: relative to itself."""
    return f"../schema/{shape}.schema.json"
