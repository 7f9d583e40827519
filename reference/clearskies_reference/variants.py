"""Legal variants: the model with another choice where the specification leaves one open. Each variant must pass every
check."""

from __future__ import annotations

from dataclasses import dataclass

from sds_testee.composition import Variation

from . import choices, conflict_choices, forms
from .config import LoserOfKey, Relay
from .peer import Peer
from .signing import PROFILES, PSS_WITH_LONG_SALT


@dataclass(frozen=True)
class Variant(Variation):
    """A legal variant of the model."""

    peer_class: type[Peer] = Peer
    """The peer that implements the choice, if settings cannot express it."""


def _variant(name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object) -> Variant:
    return Variant(name, summary, tuple(config.items()), leaves_out)


def _with_peer(
    peer_class: type[Peer], name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object
) -> Variant:
    return Variant(name, summary, tuple(config.items()), leaves_out, peer_class)


VARIANTS = {
    variant.name: variant
    for variant in (
        _variant("first-revision-one", "gives its first change the revision 1", first_revision=1),
        _variant("signs-always", "signs updates to read-write peers as well", signs_always=True),
        _variant(
            "repeats-originals", "relays signed messages unchanged instead of signing them again", relay=Relay.REPEATS
        ),
        _variant("sha1-signatures", "signs SHA-1 hashes", signature_profile=PROFILES["rsa-pkcs1-sha1"]),
        _variant("pss-signatures", "signs with PSS", signature_profile=PROFILES["rsa-pss-sha256"]),
        _variant("long-pss-salts", "signs with PSS and the longest salt", signature_profile=PSS_WITH_LONG_SALT),
        _variant("times-in-seconds", "its times are whole seconds", time_digits=0),
        _variant("times-in-nanoseconds", "its times have nine digits after the point", time_digits=9),
        _variant(
            "update-time-from-its-clock",
            "uses its clock as update_time, even if the update_time of the changed record is later",
            advancing_times=False,
        ),
        _variant(
            "writes-deleted-false",
            'writes "deleted": false for records that are not deleted',
            writes_deleted_false=True,
        ),
        _variant("clock-per-peer", "has one logical clock for all its records", clock_per_peer=True),
        _variant(
            "clocks-count-each-hop", "counts sending and receiving in the clocks of records", clocks_count_hops=True
        ),
        _variant("sends-unasked", "sends updates on links on which it has received no request", sends_unrequested=True),
        _variant("echoes", "sends updates back to the peer that they came from", echoes=True),
        _variant("asks-on-every-link", "requests updates on a second link", ("CSDB-36",), asks_on_every_link=True),
        _variant(
            "losers-of-keys-deleted-by-writers",
            "deletes an own record that has lost its key",
            loser_of_key=LoserOfKey.ITS_WRITER,
        ),
        _variant(
            "losers-of-keys-deleted",
            "deletes records that have lost their key",
            loser_of_key=LoserOfKey.EVERYBODY,
        ),
        _with_peer(choices.ClosesOnRefusal, "closes-on-refusal", "closes a link on which it refuses a message"),
        _with_peer(
            choices.SmallestIdWinsTies,
            "smallest-id-wins-ties",
            "resolves conflicts with equal times in favour of the writer with the smaller peer ID",
        ),
        _with_peer(choices.SendsAtTicks, "sends-at-ticks", "sends only when its periodic work runs"),
        _with_peer(
            choices.ProcessesFirstMessageAtOnce,
            "processes-first-message-at-once",
            "processes the first received message at once, and the others when its periodic work runs",
        ),
        _with_peer(
            choices.SmallLimits, "small-limits", "declares the smallest limits, and refuses all that exceeds them"
        ),
        _with_peer(choices.Pings, "pings", "sends a core.ping on each link whenever its periodic work runs"),
        _with_peer(choices.Polls, "polls", "requests updates again whenever its periodic work runs"),
        _with_peer(forms.SpacedBodies, "spaced-bodies", "writes JSON with blanks and an additional member"),
        _with_peer(forms.SpacedRequests, "spaced-requests", "writes requests with blanks and an additional member"),
        _with_peer(forms.EscapedBodies, "escaped-bodies", "escapes every character of strings, and reverses members"),
        _with_peer(
            forms.WritesWholeNumbersWithPoint,
            "writes-whole-numbers-with-point",
            "writes whole numbers in values with a point",
        ),
        _with_peer(
            forms.WritesNumbersWithExponent,
            "writes-numbers-with-exponent",
            "writes whole numbers in values with an exponent",
        ),
        _with_peer(forms.CapitalUuids, "capital-uuids", "writes all uuids in upper case on the wire"),
        _with_peer(forms.CapitalOwnUuids, "capital-own-uuids", "writes its own uuids in upper case on the wire"),
        _with_peer(forms.CapitalUuidsShown, "capital-uuids-shown", "shows uuids to its application in upper case"),
        _with_peer(forms.ZonedTimes, "zoned-times", "writes times with an offset from UTC"),
        _with_peer(forms.CommaTimes, "comma-times", "writes times with a comma before the fraction"),
        _with_peer(forms.TimesOfOneForm, "times-of-one-form", "relays times in UTC with nine digits after the point"),
        _with_peer(forms.ZeroEntries, "zero-entries", "writes zeros into vector clocks for the peers it is linked to"),
        _with_peer(forms.DeletionsWithoutValue, "deletions-without-value", "omits the value in deletions"),
        _with_peer(forms.DeletionsWithLastValue, "deletions-with-last-value", "keeps the last value in its deletions"),
        _with_peer(forms.RepeatsBytes, "repeats-bytes", "relays messages unchanged, signed or not"),
        _with_peer(
            forms.AcceptsRepeatedNames, "accepts-repeated-names", "uses the last of several members with the same name"
        ),
        _with_peer(forms.AcceptsDepth, "accepts-depth", "accepts values that are lists with any depth of nesting"),
        _with_peer(choices.RelaysAtTicks, "relays-at-ticks", "relays updates when its periodic work runs"),
        _with_peer(choices.AnswersAtTicks, "answers-at-ticks", "answers requests when its periodic work runs"),
        _with_peer(choices.AnswersInParts, "answers-in-parts", "sends at most ten messages on a link in one step"),
        _with_peer(choices.SplitOutput, "split-output", "sends its data in pieces, the first of one byte"),
        _with_peer(choices.JoinedOutput, "joined-output", "sends all data of a link in one piece, the last link first"),
        _with_peer(choices.SendsOwnChangesTwice, "sends-own-changes-twice", "sends each own change twice"),
        _with_peer(
            choices.EndsAnswersWithUnknownType,
            "ends-answers-with-unknown-type",
            "ends an answer with a message of an unknown type",
        ),
        _with_peer(
            choices.AsksWithZeros,
            "asks-with-zeros",
            "in requests, names peers without known revisions with the revision 0",
        ),
        _with_peer(choices.AsksWithoutItself, "asks-without-itself", "does not name itself in requests"),
        _with_peer(
            choices.ReordersEqualRevisions,
            "reorders-equal-revisions",
            "sends records with equal revisions in reverse order",
        ),
        _with_peer(choices.ShowsRecordsInReverse, "shows-records-in-reverse", "shows its records in reverse order"),
        _with_peer(choices.IgnoresIdenticalWrites, "ignores-identical-writes", "ignores writes of an unchanged value"),
        _with_peer(choices.RefusesTakenUuids, "refuses-taken-uuids", "refuses to write with a uuid in use"),
        _with_peer(
            choices.LargestValueWinsTies,
            "largest-value-wins-ties",
            "resolves conflicts with equal times in favour of the larger value",
        ),
        _with_peer(
            choices.KeepsItsDeletion,
            "keeps-its-deletion",
            "of two concurrent deletions with equal times, keeps the stored deletion",
        ),
        _with_peer(choices.ScansItsRecords, "scans-its-records", "derives the known revisions from its records"),
        _with_peer(choices.ShowsNoDeletions, "shows-no-deletions", "does not show deleted records to its application"),
        _with_peer(
            choices.RevivesItsRecords, "revives-its-records", "restores a deleted record instead of creating a new one"
        ),
        _with_peer(choices.RenamesInPlace, "renames-in-place", "counts a rename to the same key as a change"),
        _with_peer(choices.RefusesTakenKeys, "refuses-taken-keys", "refuses to rename a record to a key in use"),
        _with_peer(choices.DeletesWhatIsGone, "deletes-what-is-gone", "accepts the deletion of a missing record"),
        _with_peer(
            choices.RefusesLowerRevisions,
            "refuses-lower-revisions",
            "ignores new updates whose revision is not above the highest known revision of their writer",
        ),
        _with_peer(
            choices.SendsInIntervals,
            "sends-in-intervals",
            "collects messages for at least four seconds before it sends them",
        ),
        _with_peer(choices.RepeatsItsRequest, "repeats-its-request", "repeats its request at each tick"),
        _with_peer(
            choices.ReceivesAtTicks, "receives-at-ticks", "reads received bytes only when its periodic work runs"
        ),
        _with_peer(
            choices.ReadsLinksInTurn,
            "reads-links-in-turn",
            "reads one link after the other when its periodic work runs, and counts sending and receiving in clocks",
            clocks_count_hops=True,
        ),
        _with_peer(
            choices.SendsTheNewest, "sends-the-newest", "sends the newest version of each changed record at ticks"
        ),
        _with_peer(
            choices.AnswersFromALog,
            "answers-from-a-log",
            "answers also with requested versions that have been replaced",
        ),
        _variant(
            "one-clock-counts-each-hop",
            "counts sending and receiving in one clock for all records",
            clock_per_peer=True,
            clocks_count_hops=True,
        ),
        _with_peer(
            conflict_choices.CountsEachSending,
            "counts-each-sending",
            "counts an update in its clock once for each receiver",
            clocks_count_hops=True,
        ),
        _with_peer(
            forms.RepeatsBytes,
            "repeats-bytes-and-counts",
            "relays messages unchanged, and counts sending and receiving in clocks",
            clocks_count_hops=True,
        ),
        _with_peer(
            conflict_choices.WritesResolutions,
            "writes-resolutions",
            "writes the winner of a conflict as a new change of its own",
        ),
        _with_peer(
            conflict_choices.MergesClocksOfKeys,
            "merges-clocks-of-keys",
            "merges the clocks of two records with one key, and writes the winner of a conflict as a new change",
        ),
        _with_peer(
            conflict_choices.DropsLosersOfKeys,
            "drops-losers-of-keys",
            "does not show records that lost their key, nor send them in answers",
        ),
        _with_peer(
            conflict_choices.MarksLosersOfKeysDeleted,
            "marks-losers-of-keys-deleted",
            "shows records that lost their key as deleted, and answers requests with their deletion",
        ),
        _with_peer(
            conflict_choices.RenamesLosersOfKeys, "renames-losers-of-keys", "renames records that lost their key"
        ),
        _with_peer(
            conflict_choices.DecidesAmongEquals,
            "decides-among-equals",
            "treats records with equal clocks and different content as a conflict",
        ),
        _with_peer(
            conflict_choices.OrdersVersionsOfAWriter,
            "orders-versions-of-a-writer",
            "takes the version with the higher revision as the newer of two versions of one writer",
        ),
        _with_peer(
            choices.RenamesInTwo,
            "renames-in-two",
            "renames a record by deleting it and writing a new record",
            ("CSDB-23",),
        ),
    )
}
"""The variants by name."""
