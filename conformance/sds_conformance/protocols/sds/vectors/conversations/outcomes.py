"""The outcomes of a transcript: those of the reference model and of the legal variants with the same configuration."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from sds_harness.sds.stage import Stage
from sds_harness.stage import ScheduleStoppedError
from sds_reference import REVISIONS, Channel, Config, Participant
from sds_reference.testee.server import TesteeOptions
from sds_reference.variants import VARIANTS

from .....vectors.canonical import digest
from .recording import open_model_session
from .transcript_player import StepNotPlayedError, TranscriptPlayer, has_requested_configuration

SALTS = ("a", "b", "c", "d", "e", "f", "g", "h")
"""Prefixes that change the IDs of own messages. With eight prefixes, a few IDs occur in every sort order."""


UNLISTED = frozenset(
    {
        *("resends-a-hundred", "one-level-a-sweep", "forum-increases-by-ten", "forum-increases-on-reception"),
        *("forum-forgets-its-syncs", "forum-resends-syncs", "forum-delivers-syncs", "forum-processes-own-messages"),
        *("forum-reviews-every-copy", "forum-buffered-meets-dependencies"),
        *("works-at-sends-and-receipts", "delivers-while-sending", "resends-at-fixed-times", "loss-timers-restart"),
        *("histories-of-two-and-three", "asks-for-the-empty-id", "monotonic-clock", "last-version-wins"),
        *("same-own-hint", "ignores-syncs-without-an-id", "syncs-while-a-request-is-due"),
        *("finds-missing-when-sending",),
    }
)
"""Variants whose outcomes transcripts do not list yet. The variants of the proposal would make the file of its
transcripts ten times larger.
"""


def models_of_revision(revision: str) -> Iterator[TesteeOptions]:
    """Yield the reference first, then the variants of a revision."""
    yield TesteeOptions("vectors", Config())
    whose = revision if any(variant.revision == revision for variant in VARIANTS.values()) else ""
    for variant in VARIANTS.values():
        config = variant.configure(Config())
        # Outcomes contain no times. So the variant that counts in whole seconds is left out, and one variant represents
        # all undeclared hashes. A coarse clock is legal only for an implementation that declares it.
        if variant.revision != whose or config.repair.whole_seconds or config.repair.clock_ms > 1:
            continue
        if variant.leaves_out or variant.name in UNLISTED:  # transcripts require every SHOULD
            continue
        if config.max_lamport_ahead_ms is None:  # this limit is legal only if declared
            yield TesteeOptions("vectors", config, variant.participant_class)


def _with_other_ids(salt: str) -> type[Participant]:
    """Return a model that gives its own messages other IDs; an implementation may choose these freely."""

    class Renamed(Channel):
        def new_message_id(self, lamport: int | None, content: bytes) -> str:
            return sha256(f"{salt}{super().new_message_id(lamport, content)}".encode()).hexdigest()

    return type("WithOtherIds", (Participant,), {"channel_class": Renamed})


def models(revision: str) -> Iterator[TesteeOptions]:
    """Yield the reference, its legal variants, and the reference with other IDs.

    Other IDs have an effect if the revision logs sync messages: a sync message has the timestamp of the message before
    it, so the IDs of the two messages decide their order in the log.
    """
    yield from models_of_revision(revision)
    for salt in SALTS if REVISIONS[revision].syncs_are_logged else ():
        yield TesteeOptions("vectors", Config(), _with_other_ids(salt))


def add_outcomes(transcript: dict[str, Any], revision: str) -> None:
    """Add ``outcomes`` to every step: first the outcome of the reference, then the outcomes of the variants."""
    found: list[dict[str, Any]] = [{} for _ in transcript["steps"]]
    for options in models(revision):
        stage = Stage(open_model_session(options, revision), transcript["scenario"])
        player = TranscriptPlayer(stage, transcript)
        if not has_requested_configuration(player.actor, transcript):
            continue
        try:
            for outcomes, seen in zip(found, player.play(), strict=False):
                assert seen is not None, "the model shows its state"
                outcomes.setdefault(digest(seen), seen)
        except (StepNotPlayedError, ScheduleStoppedError):  # a variant that refuses a step gives no further outcomes
            continue
    for step, outcomes in zip(transcript["steps"], found, strict=True):
        step["outcomes"] = list(outcomes.values())
