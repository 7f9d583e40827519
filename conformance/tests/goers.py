"""Who goes which way: for every way that can be told, somebody who goes it, and the scenarios that show it."""

from __future__ import annotations

from dataclasses import dataclass

VARIANT, MUTANT, ODD, RELEASE = "variant", "mutant", "odd", "release"


@dataclass(frozen=True)
class Goer:
    """An implementation, what it is played, and the ways it is to be seen going: all of these positions, no others."""

    kind: str
    name: str
    scenarios: str
    ways: dict[str, str]


REFERENCE = """
a-request-stays-due a-sync-with-the-id-of-the-logged a-thousand-messages ahead-and-behind another-asks-while-it-waits
asked-for-several-at-once asked-for-what-it-has asked-for-what-it-lacks at-the-ends-of-the-range
asked-in-messages-of-all-kinds channels-with-similar-names clock-steps-back content-and-sync-ask copies-of-a-message
every-way-to-acknowledge extreme-timestamps-and-ids found-in-filters given-up-for-lost
groups-from-the-number-of-participants hints-only-where-given hybrids idle-with-automatic-syncs
impossible-dependencies in-its-own-name malformed-messages messages-that-name-no-sender messages-without-a-kind
more-is-due-than-fits named-again-after-its-request no-room-for-a-backoff no-time-to-answer-in nobody-answers
nothing-to-ask-for nothing-to-say one-group-for-all one-of-three-is-enough own-messages-come-back
possibly-acknowledged-for-weeks received-ephemerals requests-in-any-message somebody-asks-for-a-thousand
syncs-and-the-clock ties-beyond-ascii waiting-from-ahead a-dependent-of-the-buffered a-hundred-copies
acknowledged-by-anything others-go-on-talking
"""

OF_THE_REFERENCE = {
    "AMB-01": "sha256-be64",
    "AMB-05": "milliseconds",
    "AMB-08": "refuses",
    "AMB-09": "refuses",
    "AMB-10": "refuses",
    "AMB-11": "formula",
    "AMB-12": "one-more",
    "AMB-14": "sends-no-more",
    "AMB-15": "at-delivery",
    "AMB-17": "leaves-it",
    "AMB-18": "moves",
    "AMB-19": "in",
    "AMB-21": "ignores",
    "AMB-23": "requests",
    "AMB-24": "once",
    "AMB-29": "ascending",
    "AMB-31": "at-once",
    "AMB-34": "refuses",
    "AMB-35": "ignores",
    "AMB-36": "out",
    "AMB-38": "ignores",
    "AMB-42": "is-gone",
    "AMB-44": "waits",
    "AMB-45": "waits",
    "AMB-46": "waits",
    "AMB-47": "takes",
    "AMB-48": "ignores",
    "AMB-49": "refuses",
    "AMB-50": "takes",
    "AMB-51": "refuses",
    "AMB-52": "refuses",
    "AMB-54": "waku-sds-js",
    "AMB-57": "not-by-four",
    "AMB-63": "by-a-period",
    "AMB-64": "goes-on",
    "AMB-65": "as-it-was",
    "AMB-66": "sends-again",
    "AMB-67": "leaves-out",
    "AMB-68": "asks-again",
    "AMB-70": "named",
    "AMB-71": "does-not",
    "AMB-72": "answers",
    "AMB-86": "three",
    "AMB-87": "names",
    "AMB-88": "code-points",
    "AMB-92": "delivers gives-up-dependencies",
    "AMB-94": "on-arrival",
    "AMB-96": "keeps",
    "AMB-102": "by-itself",
    "AMB-103": "sends",
    "AMB-107": "delivers",
    "AMB-108": "takes-it",
    "AMB-111": "at-open",
    "AMB-113": "on-a-sweep",
    "AMB-125": "full-length",
    "AMB-126": "unacknowledged-first",
    "AMB-127": "leaves-out repeats",
    "AMB-141": "answers asks",
    "AMB-142": "as-joined",
    "AMB-143": "on-arrival",
    "AMB-C15": "gone",
}
"""All ways that it goes, but for AMB-85 and AMB-118: it sends nothing again that asked, and the latter is amended."""

_ODD_INPUT = "impossible-dependencies extreme-timestamps-and-ids messages-that-name-no-sender"

OTHERS = (
    Goer(VARIANT, "clock-at-first-use", "clock-steps-back", {"AMB-111": "at-first-use"}),
    Goer(VARIANT, "saturates", "at-the-ends-of-the-range", {"AMB-14": "stays"}),
    Goer(VARIANT, "refuses-beyond-the-sign", "extreme-timestamps-and-ids", {"AMB-14": "refuses"}),
    Goer(VARIANT, "bounded-future", "at-the-ends-of-the-range", {"AMB-107": "refuses"}),
    Goer(VARIANT, "newest-first", "found-in-filters", {"AMB-29": "descending"}),
    Goer(VARIANT, "own-hints", "every-way-to-acknowledge", {"AMB-127": "own"}),
    Goer(VARIANT, "quiet-syncs", "syncs-and-the-clock", {"AMB-103": "sends-none"}),
    Goer(VARIANT, "last-channel-first", "idle-with-automatic-syncs", {"AMB-142": "last-first"}),
    Goer(
        VARIANT,
        "refuses-the-odd",
        f"{_ODD_INPUT} somebody-asks-for-a-thousand",
        {"AMB-44": "refuses", "AMB-46": "refuses", "AMB-50": "refuses", "AMB-47": "refuses"},
    ),
    Goer(VARIANT, "sweep-only", "a-chain-in-reverse", {"AMB-94": "on-a-sweep"}),
    Goer(VARIANT, "drops-the-lost", "given-up-for-lost", {"AMB-92": "drops gives-up-dependencies"}),
    Goer(VARIANT, "creates-channels", "senders-and-channels-with-twins", {"AMB-48": "opens"}),
    Goer(VARIANT, "keeps-syncs-waiting", "requests-in-any-message", {"AMB-42": "waits"}),
    Goer(VARIANT, "own-ids-never", "acknowledged-by-anything", {"AMB-19": "out"}),
    Goer(VARIANT, "own-ids-first", "acknowledged-by-anything", {"AMB-19": "in itself"}),
    Goer(VARIANT, "ephemeral-in-filter", "received-ephemerals", {"AMB-36": "in"}),
    Goer(VARIANT, "nim-filter", "one-of-three-is-enough", {"AMB-54": "nim-sds"}),
    Goer(VARIANT, "nim-murmur-filter", "one-of-three-is-enough", {"AMB-54": "nim-sds-murmur3"}),
    Goer(VARIANT, "ack-after-two", "found-in-filters", {"AMB-57": "two"}),
    Goer(VARIANT, "ack-after-three", "found-in-filters", {"AMB-57": "three"}),
    Goer(VARIANT, "possible-ones-first-in-a-tick", "a-hundred-copies", {"AMB-126": "possibly-first"}),
    Goer(VARIANT, "nim-hash", "more-is-due-than-fits", {"AMB-01": "farmhash64-nim"}),
    Goer(VARIANT, "nim-murmur-hash", "more-is-due-than-fits", {"AMB-01": "murmur3-32-nim"}),
    Goer(VARIANT, "private-hash", "more-is-due-than-fits", {"AMB-01": "otherwise"}),
    Goer(VARIANT, "whole-seconds", "more-is-due-than-fits", {"AMB-05": "seconds"}),
    Goer(VARIANT, "asks-for-one", "more-is-due-than-fits", {"AMB-86": "one"}),
    Goer(VARIANT, "asks-for-ten", "more-is-due-than-fits", {"AMB-86": "more"}),
    Goer(VARIANT, "only-answers", "content-and-sync-ask", {"AMB-141": "asks-for-nothing"}),
    Goer(VARIANT, "only-asks", "asked-for-several-at-once", {"AMB-141": "answers-nobody"}),
    Goer(VARIANT, "needs-a-sender", "asked-for-several-at-once", {"AMB-72": "ignores"}),
    Goer(VARIANT, "answers-at-once", "asked-for-several-at-once a-share-of-many", {"AMB-113": "at-once"}),
    Goer(VARIANT, "copies-keep-requests", "asked-for-what-it-has", {"AMB-67": "keeps"}),
    Goer(MUTANT, "sends-the-old-lamport", "found-in-filters", {"AMB-12": "the-time"}),
    Goer(MUTANT, "hasty-clock", "waiting-from-ahead", {"AMB-15": "on-arrival"}),
    Goer(MUTANT, "sync-moves-the-clock", "syncs-and-the-clock", {"AMB-17": "takes-it-over"}),
    Goer(MUTANT, "takes-the-increase-back", "syncs-and-the-clock", {"AMB-18": "does-not-move"}),
    Goer(MUTANT, "ties-ignoring-case", "ties", {"AMB-88": "otherwise"}),
    Goer(MUTANT, "nobody-is-itself", "messages-that-name-no-sender", {"AMB-50": "drops"}),
    Goer(MUTANT, "delivers-the-undefined", "messages-without-a-kind", {"AMB-35": "speaks"}),
    Goer(MUTANT, "acknowledges-at-the-sweep", "every-way-to-acknowledge", {"AMB-143": "by-the-sweep"}),
    Goer(MUTANT, "never-resends-the-possible", "possibly-acknowledged-for-weeks", {"AMB-66": "waits"}),
    Goer(MUTANT, "asks-once-in-a-life", "named-again-after-its-request", {"AMB-68": "asks-once"}),
    Goer(MUTANT, "leaves-copies-unanswered", "asked-in-messages-of-all-kinds", {"AMB-23": "no-requests"}),
    Goer(MUTANT, "groups-without-one-more", "groups-from-the-number-of-participants", {"AMB-11": "prose"}),
    Goer(MUTANT, "hybrids-are-content", "hybrids", {"AMB-31": "after"}),
    Goer(MUTANT, "hears-its-own-ephemerals", "in-its-own-name", {"AMB-38": "delivers"}),
    Goer(MUTANT, "reviews-itself", "own-messages-come-back", {"AMB-21": "acknowledged"}),
    Goer(MUTANT, "delivers-copies", "copies-of-a-message", {"AMB-24": "again"}),
    Goer(MUTANT, "no-senders-in-history", "nothing-to-ask-for", {"AMB-87": "leaves-out"}),
    Goer(MUTANT, "buffered-is-met", "a-diamond", {"AMB-70": "left-out"}),
    Goer(
        MUTANT,
        "rebroadcasts-always",
        "no-message-at-its-time outstanding-for-weeks",
        {"AMB-85": "the-old", "AMB-63": "at-every-sweep"},
    ),
    Goer(ODD, "forgets-the-oldest", "a-thousand-messages", {"AMB-96": "forgets"}),
    Goer(ODD, "marks-the-acknowledged", "a-sync-with-the-id-of-the-logged", {"AMB-C15": "marked"}),
    Goer(ODD, "sorts-by-utf16", "ties-beyond-ascii", {"AMB-88": "utf-16"}),
    Goer(ODD, "gives-up-messages", "given-up-for-lost", {"AMB-92": "gives-up-messages"}),
    Goer(ODD, "leaves-what-was-lost", "given-up-for-lost", {"AMB-108": "leaves-it"}),
    Goer(ODD, "sends-the-empty", "nothing-to-say", {"AMB-34": "sends"}),
    Goer(ODD, "possibly-by-itself", "own-messages-come-back", {"AMB-21": "possibly"}),
    Goer(ODD, "refuses-unknown-channels", "extreme-timestamps-and-ids", {"AMB-48": "refuses"}),
    Goer(ODD, "opens-a-nameless-channel", "channels-with-similar-names", {"AMB-49": "opens"}),
    Goer(ODD, "makes-something-of-bytes", "malformed-messages", {"AMB-52": "takes"}),
    Goer(ODD, "drops-without-an-id", "extreme-timestamps-and-ids", {"AMB-51": "drops"}),
    Goer(ODD, "passes-over-empty-entries", "impossible-dependencies", {"AMB-46": "delivers"}),
    Goer(ODD, "refuses-rings", "impossible-dependencies", {"AMB-45": "refuses"}),
    Goer(ODD, "copies-end", "nobody-answers", {"AMB-64": "ends"}),
    Goer(ODD, "fresh-filters", "others-go-on-talking", {"AMB-65": "fresh-filter"}),
    Goer(ODD, "no-length-at-first", "found-in-filters", {"AMB-125": "no-length"}),
    Goer(ODD, "other-filters", "one-of-three-is-enough", {"AMB-54": "otherwise"}),
    Goer(ODD, "four-filters", "found-in-filters", {"AMB-57": "more"}),
    Goer(ODD, "asks-for-two", "more-is-due-than-fits", {"AMB-86": "two"}),
    Goer(ODD, "seven-groups", "groups-from-the-number-of-participants", {"AMB-11": "otherwise prose"}),
    Goer(ODD, "answers-for-what-waits", "asked-for-what-it-lacks", {"AMB-71": "answers"}),
    Goer(ODD, "reviews-copies", "requests-in-any-message", {"AMB-23": "acknowledgements"}),
    Goer(ODD, "interleaves", "idle-with-automatic-syncs found-in-filters", {"AMB-142": "mixed", "AMB-126": "mixed"}),
    Goer(
        ODD,
        "has-settings-of-its-own",
        "no-time-to-answer-in no-room-for-a-backoff one-group-for-all",
        {"AMB-08": "others", "AMB-09": "others", "AMB-10": "others"},
    ),
    Goer(ODD, "copies-without-requests", "no-message-at-its-time", {"AMB-85": "none"}),
    Goer(ODD, "copies-with-other-requests", "no-message-at-its-time", {"AMB-85": "a-fresh-one"}),
    Goer(
        RELEASE,
        "0.0.8",
        "at-the-ends-of-the-range impossible-dependencies extreme-timestamps-and-ids channels-with-similar-names "
        "messages-without-a-kind malformed-messages no-time-to-answer-in no-room-for-a-backoff one-group-for-all "
        "days-pass",
        {
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
        },
    ),
)
