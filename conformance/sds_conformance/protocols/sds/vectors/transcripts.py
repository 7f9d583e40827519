"""Transcripts of one participant: scenarios of the suite, each step with its legal outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sds_reference.revision import Revision

from ....vectors.model import Note, Vector, vector
from .. import checks as _checks
from .. import scenarios as _scenarios
from ..catalogue import load_catalogue
from ..register import SCENARIOS
from .conversations.outcomes import add_outcomes
from .conversations.recording import record
from .register import EVERY, group

REGISTERED = (_checks, _scenarios)
"""The packages whose import fills the registers of scenarios and of checks."""

NOTES = {
    "Derived": Note(
        "The outcomes are those of the reference model and of its legal variants. Another one is legal as well if it "
        "violates no requirement.",
        ("AMB-29", "AMB-94", "AMB-95"),
    ),
    "Acknowledging": Note(
        "The ACK status of own messages, and resending.",
        ("SDS-ACK-01", "SDS-ACK-02", "SDS-OUTSWEEP-01", "FORUM-26", "FORUM-27", "FORUM-32"),
    ),
    "Channels": Note("Nothing of one channel shows in another.", ("SDS-STATE-16", "FORUM-06")),
    "Clocks": Note(
        "The Lamport timestamp beside the clock.", ("SDS-SEND-01", "SDS-DELIVER-01", "FORUM-15", "FORUM-23")
    ),
    "Delivering": Note(
        "Causes come before effects, in the log and to the application.",
        ("SDS-DELIVER-07", "SDS-RECV-06", "FORUM-45", "FORUM-21"),
    ),
    "Ephemerals": Note("What is delivered at once.", ("SDS-EPHEMERAL-04", "SDS-EPHEMERAL-05", "FORUM-39")),
    "Hostile": Note("Input that no conforming sender would have sent.", ("SDS-MSG-24", "FORUM-01", "AMB-52", "AMB-53")),
    "Ordering": Note(
        "The order of the log, and what causal histories name.",
        ("SDS-CONFLICT-01", "SDS-SEND-04", "FORUM-25", "FORUM-16"),
    ),
    "Syncing": Note("Sync messages, sent and received.", ("SDS-SYNC-04", "SDS-SYNC-12", "FORUM-34", "FORUM-37")),
    "Wire": Note("Fields, presence, kinds of messages.", ("SDS-MSG-01", "SDS-MSG-17", "FORUM-01", "FORUM-17")),
    "Filtering": Note("What was received is in the filter of what is sent.", ("FORUM-20", "FORUM-40")),
    "Counting": Note(
        "Timestamps count from 0, and a sync message has the one that there is.", ("FORUM-09", "FORUM-15", "FORUM-35")
    ),
    "Requesting": Note("Missing messages are asked for, in their time.", ("SDS-R-SEND-01", "SDS-R-SEND-02")),
    "Responding": Note("Requests of others are answered, in their time.", ("SDS-R-RECV-08", "SDS-R-SWEEP-02")),
}

CHOSEN: dict[str, tuple[str, ...]] = {
    topic: tuple(names.split())
    for topic, names in {
        "Acknowledging": "named-in-a-history found-in-filters acknowledged-by-anything nobody-answers "
        "acknowledged-and-done from-state-to-state",
        "Channels": "two-channels waiting-in-two-channels",
        "Clocks": "frozen-and-running-clock clock-steps-back ahead-and-behind waiting-from-ahead",
        "Delivering": "a-chain-in-reverse a-dependent-of-the-buffered a-diamond replies-to-own-messages "
        "the-filter-and-the-buffer given-up-for-lost",
        "Ephemerals": "received-ephemerals own-ephemerals hybrids",
        "Hostile": "malformed-messages impossible-dependencies",
        "Ordering": "late-arrivals late-arrival-before-the-end ties ties-beyond-ascii copies-of-a-message",
        "Syncing": "a-sync-with-the-id-of-the-missing syncs-between-syncs",
        "Wire": "every-kind-of-message transport-hints unusual-encodings",
        "Requesting": "nothing-to-ask-for one-of-two-comes-when-it-is-due its-request-is-lost "
        "named-again-after-its-request requests-with-hints",
        "Responding": "asked-for-several-at-once life-goes-on-while-answers-are-pending",
    }.items()
}
"""Scenarios by topic: short ones with one participant."""

_ONLY_SDS = {"transport-hints", "clock-steps-back", "a-sync-with-the-id-of-the-missing"}
"""Scenarios that need what the proposal lacks: hints, timestamps that follow the time, sync messages with any ID."""
OF_THE_PROPOSAL: dict[str, tuple[str, ...]] = {
    **{
        topic: tuple(name for name in names if name not in _ONLY_SDS)
        for topic, names in CHOSEN.items()
        if topic not in ("Requesting", "Responding")
    },
    "Counting": ("counting-from-zero", "a-sync-at-first"),
    "Filtering": ("ten-minutes-of-talk",),
}
OF_THE_PROPOSAL["Syncing"] += ("syncs-like-all-others", "syncs-of-many")

EDITIONS: dict[str, int] = {}
"""Scenarios whose steps changed after their transcript was released, with the number of changes. This number is a part
of the transcript's ID.
"""


COMMENTS: dict[str, str] = json.loads((Path(__file__).parent / "conversations" / "comments.json").read_text("utf-8"))
"""By scenario: the comment of a released transcript, which never changes, if the scenario has another summary now."""


@group(
    "transcripts",
    "transcript",
    "The broadcasts and events of one participant at each step of a conversation.",
    NOTES,
    revisions=EVERY,
)
def transcripts(revision: Revision) -> list[Vector]:
    """Build a transcript of each scenario in `CHOSEN` or, for the proposal, in `OF_THE_PROPOSAL`."""
    chosen = CHOSEN if revision.repairs else OF_THE_PROPOSAL
    return [_transcript(topic, name, revision.name) for topic, names in chosen.items() for name in names]


def _transcript(topic: str, name: str, revision: str) -> Vector:
    scenario = SCENARIOS[name]
    flags = ["Derived", topic]
    requirements = _select_stated(scenario.exercises, revision)
    # The conversation is valid in this revision, even if the requirements of the scenario belong only to other
    # revisions.
    slug = f"{name}-{EDITIONS[name]}" if name in EDITIONS else name
    return vector(
        slug,
        COMMENTS.get(name, scenario.summary),
        flags,
        requirements or _select_stated(NOTES[topic].ids, revision),
        _record_with_outcomes(name, revision),
    )


@cache
def _record_with_outcomes(name: str, revision: str) -> dict[str, Any]:
    fields = record(SCENARIOS[name], revision)
    add_outcomes(fields, revision)
    return fields


def _select_stated(ids: Iterable[str], revision: str) -> list[str]:
    requirements = load_catalogue().requirements
    return [i for i in ids if i in requirements and requirements[i].is_stated_in(revision)]
