"""Legal variants: the reference model with other choices where the text leaves one. Each must pass every check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from hashlib import blake2b
from typing import Any

from . import choices, proposal_choices, reply_choices
from .bloom_profiles import NIM_SDS, NIM_SDS_MURMUR3
from .channel import Channel
from .config import AfterRequest, Config, OwnIds, RepairConfig
from .hash_profiles import FARMHASH64_NIM, MURMUR3_32_NIM, HashProfile
from .participant import Participant


@dataclass(frozen=True)
class Variant:
    """One legal way to differ from the defaults."""

    name: str
    summary: str
    config: tuple[tuple[str, Any], ...]
    revision: str = ""
    """The revision whose choice it is, "" for one of SDS."""
    participant_class: type[Participant] = Participant
    """Whose steps are other ones, where settings do not say it."""
    leaves_out: tuple[str, ...] = ()
    """IDs of what the text says SHOULD be done and this one does not: these may warn, and what rests on them need not
    come about."""

    def configure(self, base: Config) -> Config:
        return replace(base, **dict(self.config))


def _variant(name: str, summary: str, **config: object) -> Variant:
    return Variant(name, summary, tuple(config.items()))


PRIVATE_HASH = HashProfile(
    "",
    "BLAKE2b over the parts, each with its length before it: a choice of its own, without a name",
    lambda text: int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "little"),
    lambda first, second: f"{len(first)}:{first}{len(second)}:{second}",
)


FNV_HASH = HashProfile(
    "",
    "FNV-1 of 32 bits, whose last bit is a sum of last bits",
    lambda text: reduce(lambda hashed, byte: hashed * 0x01000193 % (1 << 32) ^ byte, text.encode(), 0x811C9DC5),
)


def _polynomial(text: str) -> int:
    value = 0
    for byte in text.encode():
        value = (value * 617 + byte) % (1 << 31)
    return value


POLYNOMIAL_HASH = HashProfile("", "a polynomial of the bytes modulo 2^31: both IDs enter as a sum", _polynomial)


def _chosen(
    channel: type[Channel], name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object
) -> Variant:
    """A choice that takes other steps."""
    participant_class = type(f"{channel.__name__}Participant", (Participant,), {"channel_class": channel})
    return Variant(name, summary, tuple(config.items()), "", participant_class, leaves_out)


def _taking(participant_class: type[Participant], name: str, summary: str) -> Variant:
    """The same where the steps are those of a participant in all its channels."""
    return Variant(name, summary, (), participant_class=participant_class)


def _repairing(name: str, summary: str, **repair: Any) -> Variant:
    return _variant(name, summary, repair=RepairConfig(**repair))


_ASKING = ("SDS-R-SEND-01", "SDS-R-RECV-03", "SDS-R-RECV-04", "SDS-R-SYNC-01", "SDS-R-SYNC-02")
_ANSWERING = ("SDS-R-RECV-08",)
"""What is not done by who takes part in one half of SDS-R alone."""

_OF_SDS = {
    variant.name: variant
    for variant in (
        _variant("history-of-one", "one message ID in a causal history", causal_history_size=1),
        _variant("history-of-ten", "ten message IDs in a causal history", causal_history_size=10),
        _variant("newest-first", "causal histories in descending order", causal_history_descending=True),
        _variant("nim-filter", "bloom filters of nim-sds", bloom_profile=NIM_SDS),
        _variant("nim-murmur-filter", "bloom filters of nim-sds with Murmur3", bloom_profile=NIM_SDS_MURMUR3),
        _variant("small-filter", "a filter for 500 IDs at 1 %", bloom_capacity=500, bloom_error_rate=0.01),
        _variant("keeps-a-tenth", "a roll-over of the filter keeps a tenth of the IDs", bloom_retained=0.1),
        _variant("own-ids-first", "a message's ID is in its own filter", own_ids_in_filter=OwnIds.BEFORE_SENDING),
        _variant("own-ids-never", "own IDs stay out of the filter", own_ids_in_filter=OwnIds.NEVER),
        _variant("ephemeral-in-filter", "IDs of ephemeral messages enter the filter", ephemeral_ids_in_filter=True),
        _variant(
            "slow-resend",
            "resends after five and twenty minutes",
            resend_unacknowledged_ms=300_000,
            resend_possibly_acknowledged_ms=1_200_000,
        ),
        _variant(
            "close-resend-periods",
            "resends after thirty and forty-five seconds",
            resend_unacknowledged_ms=30_000,
            resend_possibly_acknowledged_ms=45_000,
        ),
        _variant("ack-after-two", "two filter hits acknowledge", possible_ack_threshold=2),
        _variant("ack-after-three", "three filter hits acknowledge", possible_ack_threshold=3),
        _variant("ack-after-four", "four filter hits acknowledge", possible_ack_threshold=4),
        _variant("reviews-duplicates", "copies of known messages are reviewed again", review_duplicates=True),
        _variant("sweep-only", "buffered messages wait for the sweep", cascade_on_receive=False),
        _variant(
            "slow-sweep",
            "the incoming sweep runs every five seconds",
            cascade_on_receive=False,
            incoming_sweep_ms=5_000,
        ),
        _variant("drops-the-lost", "messages whose dependencies are lost are dropped", drops_the_lost=True),
        _variant("keeps-syncs-waiting", "sync messages with unmet dependencies are buffered", buffer_syncs=True),
        _variant(
            "quiet-syncs", "sync messages only in a quiet channel", sync_only_when_quiet=True, sync_with_empty_log=False
        ),
        _variant("backs-off", "waits for seven seconds more before each sync message", sync_backoff_ms=7_000),
        _variant("syncs-after-others", "counts the sync interval from anybody's message", sync_only_when_quiet=True),
        _repairing("nim-hash", "SDS-R with the hash of nim-sds", hash_profile=FARMHASH64_NIM),
        _repairing("nim-murmur-hash", "SDS-R with Murmur3, as nim-sds can be built", hash_profile=MURMUR3_32_NIM),
        _repairing("private-hash", "SDS-R with a hash that nobody knows", hash_profile=PRIVATE_HASH),
        _repairing("fnv-hash", "SDS-R with a hash whose last bits tell little", hash_profile=FNV_HASH),
        _repairing("polynomial-hash", "SDS-R with a polynomial of 31 bits as its hash", hash_profile=POLYNOMIAL_HASH),
        _repairing(
            "whole-seconds",
            "SDS-R that counts in seconds, with a hash that nobody knows",
            hash_profile=PRIVATE_HASH,
            whole_seconds=True,
        ),
        _repairing("clock-of-16-ms", "SDS-R by a clock that shows every sixteenth millisecond", clock_ms=16),
        _repairing("clock-of-100-ms", "SDS-R by a clock that shows tenths of a second", clock_ms=100),
        _repairing("clock-of-a-second", "SDS-R by a clock that shows whole seconds", clock_ms=1_000),
        _repairing("asks-for-one", "one entry in a repair request", max_requests=1),
        _repairing("asks-for-two", "two entries in a repair request", max_requests=2),
        _repairing("asks-for-ten", "ten entries in a repair request", max_requests=10),
        _repairing("forgets-requests", "what was asked for has no entry any more", after_request=AfterRequest.FORGET),
        _repairing("lets-requests-expire", "gives a repair up T_max after its T_req", requests_expire=True),
        _repairing("answers-at-once", "a response that is due goes out on the request", answers_at_once=True),
        _repairing("needs-a-sender", "ignores requests that name no sender", needs_sender=True),
        _repairing("pauses-after-answers", "ignores requests for T_min after a response", pauses_after_answers=True),
        _repairing("copies-keep-requests", "responses carry old repair requests", copies_keep_requests=True),
        _variant("creates-channels", "a message opens an unknown channel", creates_channels=True),
        _variant(
            "bounded-future", "refuses Lamport timestamps over a day ahead", max_lamport_ahead_ms=24 * 3_600_000 + 1
        ),
        _chosen(
            choices.IdleAfterCopies,
            "syncs-after-copies",
            "counts the sync interval from own copies, too",
            sync_only_when_quiet=True,
        ),
        _chosen(choices.PossiblyAcknowledgedFirst, "possible-ones-first-in-a-tick", "copies of both, in any order"),
        _chosen(choices.EphemeralMessagesSpeak, "ephemeral-speaks", "an ephemeral message can acknowledge"),
        _chosen(choices.OneIdForAllSyncs, "one-id-for-all-syncs", "all sync messages have the same ID"),
        _taking(choices.LastChannelFirst, "last-channel-first", "works on its last channel first"),
        _taking(choices.MixesBroadcasts, "mixes-broadcasts", "sends every second message of a tick first"),
        _taking(choices.RefusesOtherChannels, "refuses-other-channels", "refuses messages for unknown channels"),
        _taking(choices.IgnoresTheUnusable, "ignores-the-unusable", "drops what others refuse"),
        _chosen(choices.SignalsAtTheSweep, "signals-at-the-sweep", "a sweep tells of missing dependencies"),
        _chosen(choices.ResendsAHundred, "resends-a-hundred", "resends a hundred messages in one sweep at most"),
        _chosen(choices.OneLevelASweep, "one-level-a-sweep", "delivers what a delivery frees at the next sweep"),
        _chosen(choices.LostForAll, "lost-for-all", "nothing waits for a dependency that was given up once"),
        _chosen(choices.GivesUpMessages, "gives-up-messages", "what waited is reported lost, and not its dependencies"),
        _chosen(choices.ClockAtFirstUse, "clock-at-first-use", "the clock is set when it is first needed"),
        _chosen(choices.OwnHints, "own-hints", "retrieval hints in causal histories are worked out, not repeated"),
        _chosen(choices.RefusesWhatItKnows, "refuses-what-it-knows", "copies and its own messages are refused"),
        _chosen(choices.RefusesTheOdd, "refuses-the-odd", "messages that no conforming sender sends are refused"),
        _chosen(choices.EmptyFilterAtFirst, "empty-filter-at-first", "a filter that holds nothing has no length"),
        _chosen(choices.ReadsTheFront, "reads-the-front", "a filter that is too long is read in front"),
        _chosen(choices.Saturates, "saturates", "what follows the largest Lamport timestamp is the same"),
        _chosen(choices.SaturatesWithASign, "saturates-with-a-sign", "Lamport timestamps go up to 2^63-1"),
        _chosen(choices.RefusesBeyondTheSign, "refuses-beyond-the-sign", "refuses Lamport timestamps beyond 2^63-1"),
        _chosen(
            choices.AnswersForTheBuffered,
            "answers-for-the-buffered",
            "answers for messages that wait themselves",
            repair=RepairConfig(),
        ),
        _chosen(
            choices.OnlyAnswers,
            "only-answers",
            "SDS-R for others alone: it asks for nothing",
            _ASKING,
            repair=RepairConfig(),
        ),
        _chosen(
            choices.OnlyAsks,
            "only-asks",
            "SDS-R for itself alone: it answers nobody",
            _ANSWERING,
            repair=RepairConfig(),
        ),
        _chosen(
            choices.OnlyPlansAnswers,
            "only-plans-answers",
            "plans answers, and broadcasts none of them",
            _ANSWERING,
            repair=RepairConfig(),
        ),
        _chosen(
            choices.IgnoresWhatIsTooFarAhead,
            "ignores-what-is-too-far-ahead",
            "drops messages with Lamport timestamps over a day ahead silently",
            max_lamport_ahead_ms=24 * 3_600_000 + 1,
        ),
        _chosen(choices.RequestsWithoutHints, "requests-without-hints", "repair requests have no retrieval hints"),
        _chosen(
            reply_choices.ResendsBeforeSending, "resends-before-sending", "a resend goes out before the next message"
        ),
        _chosen(reply_choices.ResendsAfterSending, "resends-after-sending", "a resend goes out after the next message"),
        _chosen(
            reply_choices.AnswersBeforeSending,
            "answers-before-sending",
            "a response goes out before the next message",
            repair=RepairConfig(),
        ),
        _chosen(
            reply_choices.ResendsBeforeSyncs,
            "resends-before-syncs",
            "copies go out before the next sync message",
            repair=RepairConfig(),
        ),
        _chosen(
            reply_choices.WorksBeforeSending,
            "works-before-sending",
            "periodic work is done before each message",
            repair=RepairConfig(),
        ),
        _chosen(
            reply_choices.WorksAfterReceiving,
            "works-after-receiving",
            "periodic work is done after each message that arrives",
            repair=RepairConfig(),
        ),
        _chosen(
            reply_choices.WorksBackwards,
            "works-backwards",
            "in a tick sync messages go out first and copies last",
            repair=RepairConfig(),
        ),
        _chosen(reply_choices.AnswersWithASync, "answers-with-a-sync", "content that arrives brings a sync message"),
        _chosen(reply_choices.SyncsAfterSending, "syncs-after-sending", "a sync message follows each message"),
        _chosen(reply_choices.SyncsBeforeSending, "syncs-before-sending", "a sync message precedes each message"),
        _chosen(
            reply_choices.SyncsInPairs, "syncs-in-pairs", "two sync messages where one is due", repair=RepairConfig()
        ),
        _chosen(reply_choices.AcknowledgementsLast, "acknowledgements-last", "acknowledgements are signalled last"),
        _chosen(reply_choices.DeliveriesLast, "deliveries-last", "deliveries are signalled last"),
        _chosen(
            reply_choices.AnswersAreTraffic,
            "answers-are-traffic",
            "counts the sync interval from own responses, too",
            sync_only_when_quiet=True,
            repair=RepairConfig(),
        ),
        _taking(
            reply_choices.EphemeralMessagesMoveTheClock,
            "ephemerals-raise-the-clock",
            "an ephemeral message that is sent advances the clock",
        ),
        _chosen(reply_choices.SyncsWithoutAnId, "syncs-without-an-id", "the ID of sync messages is empty"),
        _chosen(reply_choices.SyncsUnderTheOwnName, "syncs-under-the-own-name", "sync messages have the sender's ID"),
        _chosen(
            reply_choices.SyncsUnderTheChannelsName,
            "syncs-under-the-channels-name",
            "sync messages have the channel's ID",
        ),
        _chosen(reply_choices.SyncsThatCountUp, "syncs-that-count-up", "sync messages are numbered in each channel"),
        _chosen(
            reply_choices.SyncsUnderTheTime, "syncs-under-the-time", "sync messages have their timestamp for an ID"
        ),
        _chosen(
            reply_choices.SyncsUnderTheLastId,
            "syncs-under-the-last-id",
            "sync messages have the ID of the last own one",
        ),
        _chosen(
            reply_choices.SyncsUnderTheNewestId,
            "syncs-under-the-newest-id",
            "sync messages have the ID of the newest logged one",
        ),
        _chosen(reply_choices.FreshCopies, "fresh-copies", "a resend has the bloom filter of now"),
        _variant("filter-for-many", "a filter for 100,000 IDs", bloom_capacity=100_000),
        _variant("gives-up-soon", "dependencies are lost after five seconds", lost_timeout_ms=5_000),
        _repairing(
            "forgets-the-one",
            "asks for one message at a time, and forgets it",
            max_requests=1,
            after_request=AfterRequest.FORGET,
        ),
    )
}


def _proposed(name: str, summary: str = "", **config: object) -> Variant:
    """A choice under the proposal, by default the one that has the name in SDS."""
    alike = _OF_SDS.get(name, Variant(name, summary, tuple(config.items())))
    told = f"{summary or alike.summary}, as the proposal of 2024 allows"
    return Variant(f"forum-{name}", told, alike.config, "forum-2024")


def _taken(channel: type[Channel], name: str, summary: str) -> Variant:
    """A choice under the proposal that takes other steps."""
    return replace(_chosen(channel, f"forum-{name}", summary), revision="forum-2024")


_OF_THE_PROPOSAL = (
    _proposed("history-of-three", "three message IDs in a causal history", causal_history_size=3),
    _proposed("newest-first"),
    _proposed("nim-filter"),
    _proposed("own-ids-never"),
    _proposed("ephemeral-in-filter", "ephemeral IDs enter the filter"),
    _proposed("ack-after-two"),
    _proposed("reviews-duplicates"),
    _proposed(
        "slow-sweep", "the incoming sweep runs every five seconds, and nothing that waits is delivered before it"
    ),
    _proposed("drops-the-lost", "messages whose dependencies are missed are dropped"),
    _proposed("quiet-syncs"),
    _proposed("close-resend-periods"),
    _taken(proposal_choices.CountsInTens, "counts-in-tens", "increases Lamport timestamps by ten"),
    _taken(proposal_choices.CountsWhatItHears, "counts-what-it-hears", "increases its timestamp on reception, too"),
    _taken(proposal_choices.ForgetsItsSyncs, "forgets-its-syncs", "does not log its own sync messages"),
    _taken(proposal_choices.ResendsSyncs, "resends-syncs", "resends sync messages until they are acknowledged"),
    _taken(proposal_choices.DeliversSyncs, "delivers-syncs", "delivers sync messages to its application"),
    _taken(proposal_choices.TakesItsOwn, "takes-its-own", "processes its own messages when they come back"),
    _taken(proposal_choices.ReviewsEveryCopy, "reviews-every-copy", "processes copies as it does new messages"),
    _taken(proposal_choices.MeetsWithTheBuffered, "meets-with-the-buffered", "a buffered message meets a dependency"),
)

VARIANTS: dict[str, Variant] = _OF_SDS | {variant.name: variant for variant in _OF_THE_PROPOSAL}
"""The variants by name."""
