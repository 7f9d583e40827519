"""The scenarios in which those of the model that take an option of a position are seen to take it."""

from __future__ import annotations

SCENARIOS = {
    "variant clock-at-first-use": "clock-steps-back",
    "variant saturates": "at-the-ends-of-the-range",
    "variant refuses-above-63-bits": "extreme-timestamps-and-ids",
    "variant bounded-future": "at-the-ends-of-the-range",
    "variant newest-first": "found-in-filters",
    "variant own-hints": "every-way-to-acknowledge",
    "variant syncs-only-in-quiet-channels": "syncs-and-the-clock",
    "variant last-channel-first": "idle-with-automatic-syncs",
    "variant refuses-nonconforming-messages": (
        "impossible-dependencies extreme-timestamps-and-ids messages-that-name-no-sender "
        "somebody-asks-for-a-thousand messages-without-a-kind"
    ),
    "variant sweep-only": "a-chain-in-reverse",
    "variant drops-the-lost": "given-up-for-lost",
    "variant creates-channels": "senders-and-channels-with-twins",
    "variant keeps-syncs-waiting": "requests-in-any-message",
    "variant own-ids-never": "acknowledged-by-anything",
    "variant own-ids-first": "acknowledged-by-anything",
    "variant ephemeral-in-filter": "received-ephemerals",
    "variant nim-filter": "one-of-three-is-enough",
    "variant nim-murmur-filter": "one-of-three-is-enough",
    "variant ack-after-two": "found-in-filters",
    "variant ack-after-three": "found-in-filters",
    "variant resends-possible-first-in-a-tick": "a-hundred-copies",
    "variant nim-hash": "more-is-due-than-fits",
    "variant nim-murmur-hash": "more-is-due-than-fits",
    "variant private-hash": "more-is-due-than-fits",
    "variant whole-seconds": "more-is-due-than-fits",
    "variant asks-for-one": "more-is-due-than-fits",
    "variant asks-for-ten": "more-is-due-than-fits",
    "variant answers-repairs-only": "content-and-sync-ask",
    "variant requests-repairs-only": "asked-for-several-at-once asked-in-messages-of-all-kinds",
    "variant needs-a-sender": "asked-for-several-at-once",
    "variant answers-at-once": "asked-for-several-at-once a-group-share-of-many-authors",
    "variant copies-keep-requests": "asked-for-what-it-has",
    "mutant sends-the-old-lamport": "found-in-filters",
    "mutant updates-clock-on-reception": "waiting-from-ahead",
    "mutant log-in-utf16": "ties-beyond-ascii",
    "mutant sends-empty-content-as-sync": "sends-empty-content",
    "mutant refuses-the-unmet": "impossible-dependencies",
    "mutant ninety-nine-groups": "groups-from-the-number-of-participants",
    "mutant sync-moves-the-clock": "syncs-and-the-clock",
    "mutant undoes-the-sync-increase": "syncs-and-the-clock",
    "mutant ties-ignoring-case": "ties",
    "mutant treats-no-sender-as-itself": "messages-that-name-no-sender",
    "mutant delivers-the-undefined": "messages-without-a-kind",
    "mutant names-the-newest-twice": "every-way-to-acknowledge",
    "mutant acknowledges-at-the-sweep": "every-way-to-acknowledge",
    "mutant never-resends-the-possible": "possibly-acknowledged-for-weeks",
    "mutant requests-each-message-once-for-ever": "named-again-after-its-request",
    "mutant groups-without-one-more": "groups-from-the-number-of-participants",
    "mutant hybrids-are-content": "hybrids",
    "mutant delivers-own-ephemerals": "unsent-messages-with-own-sender-id",
    "mutant reviews-own-messages": "own-messages-come-back",
    "mutant delivers-copies": "copies-of-a-message",
    "mutant no-senders-in-history": "nothing-to-ask-for",
    "mutant buffered-is-met": "a-diamond impossible-dependencies",
    "mutant rebroadcasts-always": "outstanding-for-weeks",
    "variant resends-with-current-filter": "unacknowledged-while-others-send",
    "variant reorders-broadcasts": "idle-with-automatic-syncs found-in-filters",
    "variant gives-up-messages": "given-up-for-lost",
    "variant ack-after-four": "found-in-filters",
    "variant asks-for-two": "more-is-due-than-fits",
    "variant empty-filter-at-first": "found-in-filters",
    "variant answers-for-the-buffered": "asked-for-what-it-lacks",
    "variant refuses-other-channels": "extreme-timestamps-and-ids",
    "variant drops-unusable-messages": "extreme-timestamps-and-ids channels-with-similar-names malformed-messages",
}
"""By what takes an option, as in `positions.json`."""

TAKEN_AS_WELL = {
    ("variant own-ids-first", "AMB-19"): "in",
    ("variant drops-the-lost", "AMB-92"): "gives-up-dependencies",
}
"""Options of the reference that the same places show."""

RELEASE = {
    "AMB-08": "takes",
    "AMB-09": "takes",
    "AMB-10": "takes",
    "AMB-14": "wraps",
    "AMB-35": "refuses",
    "AMB-44": "delivers",
    "AMB-45": "delivers",
    "AMB-49": "ignores",
    "AMB-51": "takes",
    "AMB-52": "ignores refuses",
    "AMB-102": "when-told",
}
"""The options that @waku/sds 0.0.8 takes in ``RELEASE_SCENARIOS``."""
RELEASE_SCENARIOS = """
at-the-ends-of-the-range impossible-dependencies extreme-timestamps-and-ids channels-with-similar-names
messages-without-a-kind malformed-messages t-max-is-zero t-max-equals-t-min one-group-for-all days-pass
"""
