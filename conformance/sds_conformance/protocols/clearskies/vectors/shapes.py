"""The shapes of vectors of ClearSkies: the schema of each, and the function that plays it."""

from __future__ import annotations

from functools import partial

from clearskies_reference import PROFILES, AccessLevel
from sds_harness.clearskies.clubs import private_pem, public_pem

from ....vectors.model import Schema, Shape
from ....vectors.schemas import COUNT, HEX, NUMERAL, TEXT, YES, array, outcomes, record, ref, vector_of
from . import semantic_rules
from .running.codecs import ask_comparison, ask_frame, ask_sign, ask_unframe, ask_verify
from .running.transcripts import ask_transcript
from .running.updates import ask_admission, ask_answer, ask_settlement

ALLOWED: Schema = {"position": {"type": "string", "pattern": "^CA-[0-9]+$"}, "warned": YES}
"""Optional members of an outcome: the position that allows the outcome, and whether the outcome is a warning."""
REFUSAL = record({"rejected": YES}, ALLOWED)
ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
LEVEL: Schema = {"enum": [level.value for level in AccessLevel]}
PROFILE: Schema = {"enum": list(PROFILES)}
PEM: Schema = {"type": "string", "pattern": "^-----BEGIN [A-Z ]+-----\n([A-Za-z0-9+/=]+\n)+-----END [A-Z ]+-----\n$"}
FLAG: Schema = {"type": "boolean"}
NUMBERS: Schema = {"type": "object", "propertyNames": ID, "additionalProperties": NUMERAL, "maxProperties": 10_000}
UPDATE = record(
    {
        "key": TEXT,
        "value": TEXT,
        "uuid": ID,
        "last_updated_by": ID,
        "last_updated_rev": NUMERAL,
        "update_time": TEXT,
        "vector_clock": NUMBERS,
    },
    {"deleted": FLAG, "seen": YES},
)
UPDATES = {"update": UPDATE}
FOUND: Schema = {"keys": {"type": "object", "additionalProperties": TEXT, "maxProperties": 100}, "gone": array(TEXT)}

_vector_schema = partial(vector_of, {"type": "string", "pattern": "^CSDB-[0-9]+$"})


def outcome_schema(**required: Schema) -> Schema:
    return record(required, ALLOWED)


def _transcript_schema() -> Schema:
    sent = record({}, {"uuid": ID, "key": TEXT, "deleted": FLAG, "last_updated_by": ID, "last_updated_rev": NUMERAL})
    spread = {"type": "object", "additionalProperties": array(sent), "minProperties": 1, "maxProperties": 100}
    legal = outcomes(record({}, {"since": NUMBERS, "updates": spread, **FOUND, **ALLOWED}))

    def step_schema(name: str, **required: Schema) -> Schema:
        return record({"do": {"const": name}, **required, "outcomes": legal})

    steps = {
        "oneOf": [
            step_schema("connect", link=TEXT, peer_id=ID, access_level=LEVEL),
            step_schema("disconnect", link=TEXT),
            step_schema("ask", link=TEXT, since=NUMBERS),
            step_schema("update", link=TEXT, update=ref("update")),
            step_schema("repeat", link=TEXT, update=TEXT),
            step_schema("put", key=TEXT, value=TEXT, binds=TEXT),
            step_schema("delete", key=TEXT),
            step_schema("look"),
        ]
    }
    return _vector_schema({"access_level": LEVEL, "steps": array(steps, least=1)}, None)


_READ = outcome_schema(messages=array(record({"body": HEX}, {"signature": HEX})), rest=COUNT)
_KEY_OF = {"profile": PROFILE, "body": HEX}

SHAPES: dict[str, Shape] = {
    "clock-comparison": Shape(
        "Two vector clocks, as JSON, and how they are related.",
        _vector_schema(
            {"one": TEXT, "other": TEXT},
            outcomes(outcome_schema(relation={"enum": ["equal", "before", "after", "concurrent"]}), REFUSAL),
        ),
        ask_comparison,
    ),
    "unframe": Shape(
        "Bytes of a link, and the messages in them.",
        _vector_schema({"stream": HEX}, outcomes(_READ, REFUSAL)),
        ask_unframe,
    ),
    "frame": Shape(
        "A body, and the bytes of its message.",
        _vector_schema({"body": HEX}, outcomes(outcome_schema(wire=HEX), REFUSAL)),
        ask_frame,
    ),
    "verify": Shape(
        "A body with a signature, and whether that is genuine.",
        _vector_schema({**_KEY_OF, "signature": HEX, "signed_by": LEVEL}, outcomes(outcome_schema(valid=FLAG))),
        ask_verify,
        heading={"public_keys": record({level.value: PEM for level in AccessLevel})},
        head=lambda revision: {"public_keys": {level.value: public_pem(level) for level in AccessLevel}},
    ),
    "sign": Shape(
        "A body, and its message with a signature.",
        _vector_schema(
            {**_KEY_OF, "signed_by": LEVEL}, outcomes(outcome_schema(wire=HEX), outcome_schema(genuine=YES))
        ),
        ask_sign,
        heading={"private_keys": record({level.value: PEM for level in AccessLevel})},
        head=lambda revision: {"private_keys": {level.value: private_pem(level) for level in AccessLevel}},
    ),
    "answer": Shape(
        "Updates that a peer has, a request, and the updates that it sends.",
        _vector_schema(
            {"access_level": LEVEL, "client": LEVEL, "updates": array(ref("update")), "since": NUMBERS},
            outcomes(record({"sent": array(COUNT)}, {"signed": YES, **ALLOWED})),
        ),
        ask_answer,
        UPDATES,
        senseless=semantic_rules.find_answer_errors,
    ),
    "settlement": Shape(
        "Updates in orders of arrival, and what is found under their keys.",
        _vector_schema(
            {
                "access_level": LEVEL,
                "updates": array(ref("update"), least=1),
                "orders": array(array(COUNT, least=1), least=1),
            },
            outcomes(outcome_schema(**FOUND), outcome_schema(depends_on_order=YES)),
        ),
        ask_settlement,
        UPDATES,
        senseless=semantic_rules.find_settlement_errors,
    ),
    "admission": Shape(
        "An update that is signed in some way, and what is found under its key afterwards.",
        _vector_schema(
            {"access_level": LEVEL, "from": LEVEL, "update": ref("update")},
            outcomes(outcome_schema(**FOUND)),
            {"signed_by": LEVEL, "spoilt": {"enum": ["body", "signature"]}},
        ),
        ask_admission,
        UPDATES,
        senseless=semantic_rules.find_admission_errors,
    ),
    "club-transcript": Shape(
        "What happens to a peer, step by step, and what comes out of it.",
        _transcript_schema(),
        ask_transcript,
        UPDATES,
        senseless=semantic_rules.find_transcript_errors,
    ),
}
"""The shapes by name."""
