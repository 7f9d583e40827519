"""Legal variants: the reference model with another choice where the specification allows several.

Each variant must pass every check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from hashlib import blake2b
from typing import Any

from sds_testee.composition import Variation

from . import choices, proposal_choices, reply_choices
from .bloom_profiles import NIM_SDS, NIM_SDS_MURMUR3
from .channel import Channel
from .config import OwnIds, RepairConfig
from .hash_profiles import FARMHASH64_NIM, MURMUR3_32_NIM, HashProfile
from .participant import Participant


@dataclass(frozen=True)
class Variant(Variation):
    """A legal variant of the reference model."""

    revision: str = ""
    """The revision that the choice belongs to; "" for SDS."""
    participant_class: type[Participant] = Participant
    """The participant that implements the choice, if settings cannot express it."""


def _variant(name: str, summary: str, **config: object) -> Variant:
    return Variant(name, summary, tuple(config.items()))


PRIVATE_HASH = HashProfile(
    "",
    "BLAKE2b over the arguments, each prefixed with its length; not a declared hash profile",
    lambda text: int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "little"),
    lambda first, second: f"{len(first)}:{first}{len(second)}:{second}",
)


FNV_HASH = HashProfile(
    "",
    "32-bit FNV-1, whose lowest bit depends only on the lowest bits of the bytes",
    lambda text: reduce(lambda hashed, byte: hashed * 0x01000193 % (1 << 32) ^ byte, text.encode(), 0x811C9DC5),
)


def _polynomial(text: str) -> int:
    value = 0
    for byte in text.encode():
        value = (value * 617 + byte) % (1 << 31)
    return value


POLYNOMIAL_HASH = HashProfile("", "a polynomial of the bytes of both IDs, modulo 2^31", _polynomial)


def _with_channel(
    channel: type[Channel], name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object
) -> Variant:
    participant_class = type(f"{channel.__name__}Participant", (Participant,), {"channel_class": channel})
    return Variant(name, summary, tuple(config.items()), leaves_out, participant_class=participant_class)


def _with_participant(participant_class: type[Participant], name: str, summary: str) -> Variant:
    return Variant(name, summary, (), participant_class=participant_class)


def _with_repair(name: str, summary: str, **repair: Any) -> Variant:
    return _variant(name, summary, repair=RepairConfig(**repair))


_ASKING = ("SDS-R-SEND-01", "SDS-R-RECV-03", "SDS-R-RECV-04", "SDS-R-SYNC-01", "SDS-R-SYNC-02")
_ANSWERING = ("SDS-R-RECV-08",)
"""``_ASKING`` and ``_ANSWERING``: requirements that a variant does not follow if it never requests or never answers."""

_OF_SDS = {
    variant.name: variant
    for variant in (
        _variant("history-of-one", "one message ID in a causal history", causal_history_size=1),
        _variant("history-of-ten", "ten message IDs in a causal history", causal_history_size=10),
        _variant(
            "histories-of-two-and-three",
            "two or three message IDs in a causal history, as the length of the log is even or odd",
            causal_history_varies=True,
        ),
        _variant("newest-first", "causal histories in descending order", causal_history_descending=True),
        _variant("nim-filter", "bloom filters of nim-sds", bloom_profile=NIM_SDS),
        _variant("nim-murmur-filter", "bloom filters of nim-sds with Murmur3", bloom_profile=NIM_SDS_MURMUR3),
        _variant(
            "small-filter", "a filter for 500 IDs with 1 % false positives", bloom_capacity=500, bloom_error_rate=0.01
        ),
        _variant("roll-over-keeps-a-tenth", "a roll-over of the filter keeps a tenth of the IDs", bloom_retained=0.1),
        _variant(
            "own-ids-first",
            "the ID of a message is already in the filter that it carries",
            own_ids_in_filter=OwnIds.BEFORE_SENDING,
        ),
        _variant("own-ids-never", "own IDs never enter the filter", own_ids_in_filter=OwnIds.NEVER),
        _variant("ephemeral-in-filter", "IDs of ephemeral messages enter the filter", ephemeral_ids_in_filter=True),
        _variant(
            "slow-resend",
            "resend periods of five and twenty minutes",
            resend_unacknowledged_ms=300_000,
            resend_possibly_acknowledged_ms=1_200_000,
        ),
        _variant(
            "close-resend-periods",
            "resend periods of thirty and forty-five seconds",
            resend_unacknowledged_ms=30_000,
            resend_possibly_acknowledged_ms=45_000,
        ),
        _variant("ack-after-two", "two filter hits acknowledge a message", possible_ack_threshold=2),
        _variant("ack-after-three", "three filter hits acknowledge a message", possible_ack_threshold=3),
        _variant("ack-after-four", "four filter hits acknowledge a message", possible_ack_threshold=4),
        _variant(
            "reviews-duplicates",
            "reviews the ACK status also with copies of known messages",
            review_duplicates=True,
        ),
        _variant("sweep-only", "only the incoming sweep delivers buffered messages", cascade_on_receive=False),
        _variant(
            "slow-sweep",
            "the incoming sweep runs every five seconds, and only it delivers waiting messages",
            cascade_on_receive=False,
            incoming_sweep_ms=5_000,
        ),
        _variant("drops-the-lost", "messages whose dependencies are lost are dropped", drops_the_lost=True),
        _variant("keeps-syncs-waiting", "sync messages with unmet dependencies are buffered", buffer_syncs=True),
        _variant(
            "syncs-only-in-quiet-channels",
            "sends a sync message only if nobody has sent a message for a sync interval and the log is not empty",
            sync_only_when_quiet=True,
            sync_with_empty_log=False,
        ),
        _variant("delays-each-sync", "sends each sync message seven seconds after it is due", sync_backoff_ms=7_000),
        _variant(
            "syncs-after-others",
            "counts the sync interval from the last message of any participant",
            sync_only_when_quiet=True,
        ),
        _with_repair("nim-hash", "SDS-R with the hash of nim-sds", hash_profile=FARMHASH64_NIM),
        _with_repair("nim-murmur-hash", "SDS-R with Murmur3, a build option of nim-sds", hash_profile=MURMUR3_32_NIM),
        _with_repair("private-hash", "SDS-R with a private hash", hash_profile=PRIVATE_HASH),
        _with_repair("fnv-hash", "SDS-R with a hash whose low bits are weak", hash_profile=FNV_HASH),
        _with_repair("polynomial-hash", "SDS-R with a polynomial of 31 bits as its hash", hash_profile=POLYNOMIAL_HASH),
        _with_repair(
            "whole-seconds",
            "SDS-R that computes T_req and T_resp in whole seconds, with a private hash",
            hash_profile=PRIVATE_HASH,
            whole_seconds=True,
        ),
        _with_repair("clock-of-16-ms", "SDS-R with a clock of 16 ms resolution", clock_ms=16),
        _with_repair("clock-of-100-ms", "SDS-R with a clock of 100 ms resolution", clock_ms=100),
        _with_repair("clock-of-a-second", "SDS-R with a clock of one second resolution", clock_ms=1_000),
        _with_repair("asks-for-one", "one entry in a repair request", max_requests=1),
        _with_repair("asks-for-two", "two entries in a repair request", max_requests=2),
        _with_repair("asks-for-ten", "ten entries in a repair request", max_requests=10),
        _with_repair(
            "forgets-requests",
            "removes a message from its outgoing repair request buffer when it requests the message",
            forgets_requests=True,
        ),
        _with_repair("lets-requests-expire", "stops requesting a message T_max after its T_req", requests_expire=True),
        _with_repair(
            "answers-at-once", "a response that is already due is sent when the request arrives", answers_at_once=True
        ),
        _with_repair("needs-a-sender", "ignores requests that name no sender", needs_sender=True),
        _with_repair(
            "pauses-after-answers",
            "after a response, ignores requests for the same message until T_min has passed",
            pauses_after_answers=True,
        ),
        _with_repair(
            "copies-keep-requests",
            "responses carry the repair request of the original message",
            copies_keep_requests=True,
        ),
        _variant("creates-channels", "joins a channel when a message for it arrives", creates_channels=True),
        _variant(
            "bounded-future",
            "rejects Lamport timestamps more than a day ahead of its clock",
            max_lamport_ahead_ms=24 * 3_600_000 + 1,
        ),
        _with_channel(
            choices.IdleAfterCopies,
            "syncs-after-copies",
            "its own resends postpone its sync messages",
            sync_only_when_quiet=True,
        ),
        _with_channel(
            choices.PossiblyAcknowledgedFirst,
            "resends-possible-first-in-a-tick",
            "resends possibly acknowledged messages first within one tick",
        ),
        _with_channel(
            choices.EphemeralMessagesSpeak,
            "ephemeral-acknowledges",
            "the filter and causal history of an ephemeral message can acknowledge messages",
        ),
        _with_channel(choices.SignalsMissingOnce, "signals-missing-once", "signals each missing message once"),
        _with_channel(
            choices.SignalsAllThatIsMissing,
            "signals-all-that-is-missing",
            "when a message must wait, signals all missing messages, also those of other waiting messages",
        ),
        _with_channel(choices.OneIdForAllSyncs, "one-id-for-all-syncs", "all sync messages have the same ID"),
        _with_participant(
            choices.LastChannelFirst,
            "last-channel-first",
            "does periodic work first in the channel that it joined last",
        ),
        _with_participant(
            choices.ReordersBroadcasts,
            "reorders-broadcasts",
            "reorders the broadcasts of a tick: every second message, then the remaining messages",
        ),
        _with_participant(
            choices.WorksAtSendsAndReceipts,
            "works-at-sends-and-receipts",
            "does due periodic work also when it sends or receives a message",
        ),
        _with_channel(
            choices.DeliversWhileSending,
            "delivers-while-sending",
            "delivers waiting messages when it sends and at the incoming sweep, not when a message arrives",
            cascade_on_receive=False,
        ),
        _with_channel(
            choices.LastVersionWins,
            "last-version-wins",
            "replaces a logged message by another message with the same ID",
        ),
        _with_channel(
            choices.ResendsAtFixedTimes,
            "resends-at-fixed-times",
            "counts resend periods from the first broadcast of a message",
        ),
        _with_participant(
            choices.RefusesOtherChannels, "refuses-other-channels", "rejects messages for unknown channels"
        ),
        _with_participant(
            choices.DropsUnusableMessages,
            "drops-unusable-messages",
            "drops unusable messages instead of rejecting them",
        ),
        _with_channel(
            choices.CopiesEnterTheFilter,
            "copies-enter-filter",
            "inserts the ID of a known message into the filter again when a copy arrives",
        ),
        _with_channel(
            choices.SignalsAtTheSweep, "signals-at-the-sweep", "signals missing dependencies at the next sweep"
        ),
        _with_channel(choices.ResendsAHundred, "resends-a-hundred", "resends a hundred messages in one sweep at most"),
        _with_channel(
            choices.OneLevelASweep,
            "one-level-a-sweep",
            "a message that depends on a waiting message is delivered one sweep after that message",
        ),
        _with_channel(
            choices.LostOnceIsLostForAll,
            "lost-once-is-lost-for-all",
            "after a dependency is marked lost, later messages do not wait for it either",
        ),
        _with_channel(
            choices.GivesUpMessages, "gives-up-messages", "marks the waiting message as lost, not its dependencies"
        ),
        _with_channel(
            choices.LossTimersRestart,
            "loss-timers-restart",
            "restarts the time until a dependency is lost when the clock steps back",
        ),
        _with_participant(choices.MonotonicClock, "monotonic-clock", "reads a clock that never goes back"),
        _with_channel(choices.ClockAtFirstUse, "clock-at-first-use", "initializes the clock when it is first needed"),
        _with_channel(
            choices.OneHintForAll, "same-own-hint", "uses one retrieval hint for all entries of causal histories"
        ),
        _with_channel(
            choices.FindsMissingWhenSending,
            "finds-missing-when-sending",
            "adds unmet dependencies of waiting messages to the repair request buffer again when it sends",
        ),
        _with_channel(
            choices.SyncsWhileARequestIsDue,
            "syncs-while-a-request-is-due",
            "sends a sync message at every tick while a request is due",
        ),
        _with_channel(
            choices.IgnoresSyncsWithoutId, "ignores-syncs-without-an-id", "ignores sync messages with an empty ID"
        ),
        _with_channel(
            choices.OwnHints, "own-hints", "computes the retrieval hints in causal histories instead of repeating them"
        ),
        _with_channel(
            choices.RefusesCopiesAndOwnMessages,
            "refuses-copies-and-own-messages",
            "rejects copies of known messages, and its own messages",
        ),
        _with_channel(
            choices.RefusesNonconformingMessages,
            "refuses-nonconforming-messages",
            "rejects messages that no conforming sender sends",
        ),
        _with_channel(
            choices.EmptyFilterAtFirst,
            "empty-filter-at-first",
            "sends an empty field as long as its filter contains no ID",
        ),
        _with_channel(
            choices.ReadsStartOfLongFilters,
            "reads-start-of-long-filters",
            "reads the beginning of a filter that is too long",
        ),
        _with_channel(
            choices.Saturates, "saturates", "repeats the largest Lamport timestamp after it has reached this timestamp"
        ),
        _with_channel(choices.SaturatesAt63Bits, "saturates-at-63-bits", "the largest Lamport timestamp is 2^63-1"),
        _with_channel(choices.RefusesAbove63Bits, "refuses-above-63-bits", "rejects Lamport timestamps above 2^63-1"),
        _with_channel(
            choices.AnswersForTheBuffered,
            "answers-for-the-buffered",
            "answers requests for messages that wait in its incoming buffer",
            repair=RepairConfig(),
        ),
        _with_channel(
            choices.AnswersRepairsOnly,
            "answers-repairs-only",
            "answers repair requests and sends none",
            _ASKING,
            repair=RepairConfig(),
        ),
        _with_channel(
            choices.RequestsRepairsOnly,
            "requests-repairs-only",
            "sends repair requests and answers none",
            _ANSWERING,
            repair=RepairConfig(),
        ),
        _with_channel(
            choices.OnlyPlansAnswers,
            "only-plans-answers",
            "schedules responses and never broadcasts them",
            _ANSWERING,
            repair=RepairConfig(),
        ),
        _with_channel(
            choices.IgnoresWhatIsTooFarAhead,
            "ignores-what-is-too-far-ahead",
            "silently drops messages whose Lamport timestamp is more than a day ahead of its clock",
            max_lamport_ahead_ms=24 * 3_600_000 + 1,
        ),
        _with_channel(
            choices.RequestsWithoutHints, "requests-without-hints", "repair requests have no retrieval hints"
        ),
        _with_channel(
            reply_choices.ResendsBeforeSending,
            "resends-before-sending",
            "resends that are due go out before the next message",
        ),
        _with_channel(
            reply_choices.ResendsAfterSending,
            "resends-after-sending",
            "resends that are due go out after the next message",
        ),
        _with_channel(
            reply_choices.AnswersBeforeSending,
            "answers-before-sending",
            "a response that is due goes out before the next message",
            repair=RepairConfig(),
        ),
        _with_channel(
            reply_choices.ResendsBeforeSyncs,
            "resends-before-syncs",
            "resends and responses that are due go out before the next sync message",
            repair=RepairConfig(),
        ),
        _with_channel(
            reply_choices.WorksBeforeSending,
            "works-before-sending",
            "does periodic work before it sends a message",
            repair=RepairConfig(),
        ),
        _with_channel(
            reply_choices.WorksAfterReceiving,
            "works-after-receiving",
            "does periodic work after it receives a message",
            repair=RepairConfig(),
        ),
        _with_channel(
            reply_choices.ReversesTickOrder,
            "reverses-tick-order",
            "sends the sync message of a tick first, then responses, then resends",
            repair=RepairConfig(),
        ),
        _with_channel(
            reply_choices.AnswersWithASync, "answers-with-a-sync", "broadcasts a sync message when content arrives"
        ),
        _with_channel(
            reply_choices.SyncsAfterSending, "syncs-after-sending", "broadcasts a sync message after each own message"
        ),
        _with_channel(
            reply_choices.SyncsBeforeSending,
            "syncs-before-sending",
            "broadcasts a sync message before each own message",
        ),
        _with_channel(
            reply_choices.SyncsInPairs,
            "syncs-in-pairs",
            "sends two sync messages when one is due",
            repair=RepairConfig(),
        ),
        _with_channel(
            reply_choices.AcknowledgementsLast, "acknowledgements-last", "acknowledgements are signalled last"
        ),
        _with_channel(reply_choices.DeliveriesLast, "deliveries-last", "deliveries are signalled last"),
        _with_channel(
            reply_choices.AnswersAreTraffic,
            "answers-are-traffic",
            "its own responses postpone its sync messages",
            sync_only_when_quiet=True,
            repair=RepairConfig(),
        ),
        _with_participant(
            reply_choices.EphemeralMessagesMoveTheClock,
            "ephemerals-raise-the-clock",
            "advances the clock when it sends an ephemeral message",
        ),
        _with_channel(reply_choices.SyncIdIsEmpty, "sync-id-is-empty", "the ID of sync messages is empty"),
        _with_channel(
            reply_choices.SyncIdIsSenderId, "sync-id-is-sender-id", "the ID of sync messages is the sender's ID"
        ),
        _with_channel(
            reply_choices.SyncIdIsChannelId,
            "sync-id-is-channel-id",
            "the ID of sync messages is the channel's ID",
        ),
        _with_channel(
            reply_choices.SyncIdIsANumber, "sync-id-is-a-number", "numbers the sync messages of each channel"
        ),
        _with_channel(
            reply_choices.SyncIdIsTimestamp, "sync-id-is-timestamp", "the ID of a sync message is its Lamport timestamp"
        ),
        _with_channel(
            reply_choices.SyncIdIsLastOwnId,
            "sync-id-is-last-own-id",
            "the ID of a sync message is the ID of the last own message",
        ),
        _with_channel(
            reply_choices.SyncIdIsNewestLoggedId,
            "sync-id-is-newest-logged-id",
            "the ID of a sync message is the ID of the newest logged message",
        ),
        _with_channel(
            reply_choices.ResendsWithCurrentFilter,
            "resends-with-current-filter",
            "resends messages with the current bloom filter",
        ),
        _with_channel(
            choices.AsksForTheEmptyId,
            "asks-for-the-empty-id",
            "requests the message with an empty ID that a causal history named",
            repair=RepairConfig(),
        ),
        _variant("filter-for-many", "a filter for 100,000 IDs", bloom_capacity=100_000),
        _variant("gives-up-soon", "marks dependencies as lost after five seconds", lost_timeout_ms=5_000),
        _with_repair(
            "requests-one-and-forgets-it",
            "requests one message at a time, and then removes it from its outgoing repair request buffer",
            max_requests=1,
            forgets_requests=True,
        ),
    )
}


def _of_proposal(name: str, summary: str = "", **config: object) -> Variant:
    """A variant of the proposal of 2024, with the settings of the SDS variant of this name, or else with ``config``.

    ``summary`` defaults to that of the SDS variant.
    """
    alike = _OF_SDS.get(name, Variant(name, summary, tuple(config.items())))
    summary = f"{summary or alike.summary}, as the proposal of 2024 allows"
    return Variant(f"forum-{name}", summary, alike.config, revision="forum-2024")


def _of_proposal_with_channel(channel: type[Channel], name: str, summary: str) -> Variant:
    """A variant of the proposal of 2024 that settings cannot express: ``channel`` implements it."""
    return replace(_with_channel(channel, f"forum-{name}", summary), revision="forum-2024")


_OF_THE_PROPOSAL = (
    _of_proposal("history-of-three", "three message IDs in a causal history", causal_history_size=3),
    _of_proposal("newest-first"),
    _of_proposal("nim-filter"),
    _of_proposal("own-ids-never"),
    _of_proposal("ephemeral-in-filter", "ephemeral IDs enter the filter"),
    _of_proposal("ack-after-two"),
    _of_proposal("reviews-duplicates"),
    _of_proposal("slow-sweep"),
    _of_proposal("drops-the-lost", "messages with lost dependencies are dropped"),
    _of_proposal("syncs-only-in-quiet-channels"),
    _of_proposal("close-resend-periods"),
    _of_proposal_with_channel(
        proposal_choices.IncreasesByTen, "increases-by-ten", "increases Lamport timestamps by ten"
    ),
    _of_proposal_with_channel(
        proposal_choices.IncreasesOnReception,
        "increases-on-reception",
        "increases its timestamp also when it receives a message",
    ),
    _of_proposal_with_channel(
        proposal_choices.ForgetsItsSyncs, "forgets-its-syncs", "does not log its own sync messages"
    ),
    _of_proposal_with_channel(
        proposal_choices.ResendsSyncs, "resends-syncs", "resends sync messages until they are acknowledged"
    ),
    _of_proposal_with_channel(
        proposal_choices.DeliversSyncs, "delivers-syncs", "delivers sync messages to its application"
    ),
    _of_proposal_with_channel(
        proposal_choices.ProcessesOwnMessages,
        "processes-own-messages",
        "processes its own messages when they come back",
    ),
    _of_proposal_with_channel(
        proposal_choices.ReviewsEveryCopy, "reviews-every-copy", "processes copies of known messages like new messages"
    ),
    _of_proposal_with_channel(
        proposal_choices.BufferedMeetsDependencies,
        "buffered-meets-dependencies",
        "a message in the incoming buffer meets dependencies",
    ),
)

VARIANTS: dict[str, Variant] = _OF_SDS | {variant.name: variant for variant in _OF_THE_PROPOSAL}
"""The variants by name."""
