"""Legal variants: the model with other choices where the text leaves one. Each must pass every check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from . import choices, conflict_choices, forms
from .config import Config, LoserOfKey, Relay
from .peer import Peer
from .signing import PROFILES


@dataclass(frozen=True)
class Variant:
    """One legal way to differ from the defaults."""

    name: str
    summary: str
    config: tuple[tuple[str, Any], ...] = ()
    peer_class: type[Peer] = Peer
    """The class of the peer, if settings alone do not make the variant."""
    leaves_out: tuple[str, ...] = ()
    """IDs of the SHOULD requirements that this variant does not follow: they may warn."""

    def configure(self, base: Config) -> Config:
        return replace(base, **dict(self.config))


def _variant(name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object) -> Variant:
    return Variant(name, summary, tuple(config.items()), leaves_out=leaves_out)


def _chosen(
    peer_class: type[Peer], name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object
) -> Variant:
    return Variant(name, summary, tuple(config.items()), peer_class, leaves_out)


VARIANTS = {
    variant.name: variant
    for variant in (
        _variant("first-revision-one", "its first change has the revision 1", first_revision=1),
        _variant("signs-always", "signs updates to read-write peers as well", signs_always=True),
        _variant("repeats-originals", "repeats signed messages instead of signing again", relay=Relay.REPEATS),
        _variant("sha1-signatures", "signs SHA-1 hashes", signature_profile=PROFILES["rsa-pkcs1-sha1"]),
        _variant("pss-signatures", "signs with PSS", signature_profile=PROFILES["rsa-pss-sha256"]),
        _variant("times-in-seconds", "its times are whole seconds", time_digits=0),
        _variant("times-in-nanoseconds", "its times have nine digits after the point", time_digits=9),
        _variant("update-time-from-its-clock", "an update_time is what its clock shows", advancing_times=False),
        _variant(
            "writes-deleted-false", "says of records that are there that they are not deleted", says_not_deleted=True
        ),
        _variant("clock-per-peer", "has one logical clock for all its records", clock_per_peer=True),
        _variant("clocks-count-each-hop", "counts sending and receiving in the clocks of records", hops_show=True),
        _variant("sends-unasked", "sends updates to links that have not asked for any", unasked=True),
        _variant("echoes", "repeats updates to whom they came from", echoes=True),
        _variant("asks-on-every-link", "asks for updates on a second link", ("CSDB-36",), asks_on_every_link=True),
        _variant(
            "losers-of-keys-deleted-by-writers",
            "deletes a record of its own that has lost its key",
            loser_of_key=LoserOfKey.ITS_WRITER,
        ),
        _variant(
            "losers-of-keys-deleted",
            "deletes records that have lost their key",
            loser_of_key=LoserOfKey.EVERYBODY,
        ),
        _chosen(choices.ClosesOnRefusal, "closes-on-refusal", "closes a link on which it refuses a message"),
        _chosen(choices.SmallestIdWinsTies, "smallest-id-wins-ties", "of two equal times that of the smaller ID wins"),
        _chosen(choices.SendsAtTicks, "sends-at-ticks", "sends only when its periodic work runs"),
        _chosen(
            choices.ProcessesFirstMessageAtOnce,
            "processes-first-message-at-once",
            "takes one message of what arrives, and the others when its periodic work runs",
        ),
        _chosen(choices.Pings, "pings", "sends a core.ping on each link whenever its periodic work runs"),
        _chosen(choices.Polls, "polls", "asks again for updates whenever its periodic work runs"),
        _chosen(forms.SpacedBodies, "spaced-bodies", "writes JSON with blanks, and a member more"),
        _chosen(forms.SpacedRequests, "spaced-requests", "writes requests with blanks, and a member more"),
        _chosen(forms.EscapedBodies, "escaped-bodies", "escapes all that JSON can escape, its members in reverse"),
        _chosen(
            forms.WritesWholeNumbersWithPoint,
            "writes-whole-numbers-with-point",
            "writes whole numbers in values with a point",
        ),
        _chosen(forms.CapitalUuids, "capital-uuids", "writes all uuids in upper case on the wire"),
        _chosen(forms.CapitalOwnUuids, "capital-own-uuids", "writes the uuids it made in upper case on the wire"),
        _chosen(forms.CapitalUuidsShown, "capital-uuids-shown", "shows uuids to its application in upper case"),
        _chosen(forms.ZonedTimes, "zoned-times", "writes times with an offset from UTC"),
        _chosen(forms.CommaTimes, "comma-times", "writes times with a comma before the fraction"),
        _chosen(forms.TimesOfOneForm, "times-of-one-form", "passes times on in its own form"),
        _chosen(forms.ZeroEntries, "zero-entries", "writes zeros into vector clocks for the peers it is linked to"),
        _chosen(forms.DeletionsWithoutValue, "deletions-without-value", "leaves the value out of deletions"),
        _chosen(forms.DeletionsWithLastValue, "deletions-with-last-value", "leaves the last value in its deletions"),
        _chosen(forms.RepeatsBytes, "repeats-bytes", "passes messages on byte by byte, signed or not"),
        _chosen(forms.AcceptsRepeatedNames, "accepts-repeated-names", "of a name that stands twice takes the last"),
        _chosen(forms.AcceptsDepth, "accepts-depth", "accepts JSON of any depth"),
        _chosen(choices.RelaysAtTicks, "relays-at-ticks", "passes on what it receives when its periodic work runs"),
        _chosen(choices.AnswersAtTicks, "answers-at-ticks", "answers requests when its periodic work runs"),
        _chosen(choices.AnswersInParts, "answers-in-parts", "sends ten messages on a link each time"),
        _chosen(choices.SplitOutput, "split-output", "cuts what it sends into pieces, the first of one byte"),
        _chosen(choices.JoinedOutput, "joined-output", "sends what goes to a link in one piece, the last link first"),
        _chosen(choices.SendsOwnChangesTwice, "sends-own-changes-twice", "sends each own change twice"),
        _chosen(
            choices.EndsAnswersWithUnknownType,
            "ends-answers-with-unknown-type",
            "ends an answer with a message of an unknown type",
        ),
        _chosen(choices.AsksWithZeros, "asks-with-zeros", "names peers of which it knows nothing, with zero"),
        _chosen(choices.AsksWithoutItself, "asks-without-itself", "does not name itself when it asks"),
        _chosen(
            choices.ReordersEqualRevisions, "reorders-equal-revisions", "sends what has one revision in another order"
        ),
        _chosen(choices.ShowsRecordsInReverse, "shows-records-in-reverse", "shows its records in another order"),
        _chosen(choices.IgnoresIdenticalWrites, "ignores-identical-writes", "a write of what is there changes nothing"),
        _chosen(choices.RefusesTakenUuids, "refuses-taken-uuids", "refuses to write with a uuid that is taken"),
        _chosen(choices.LargestValueWinsTies, "largest-value-wins-ties", "of two equal times the larger value wins"),
        _chosen(choices.KeepsItsDeletion, "keeps-its-deletion", "of two deletions of one time keeps the one it has"),
        _chosen(choices.ScansItsRecords, "scans-its-records", "looks for what it knows in its records"),
        _chosen(choices.ShowsNoDeletions, "shows-no-deletions", "does not show its application deleted records"),
        _chosen(
            choices.RevivesItsRecords, "revives-its-records", "writes a deleted record again in place of a new one"
        ),
        _chosen(choices.RenamesInPlace, "renames-in-place", "counts a rename to the same key as a change"),
        _chosen(choices.RefusesTakenKeys, "refuses-taken-keys", "refuses to give a record a key that another one has"),
        _chosen(choices.DeletesWhatIsGone, "deletes-what-is-gone", "accepts a deletion of what is not there"),
        _chosen(
            choices.RefusesLowerRevisions, "refuses-lower-revisions", "takes no revision of a writer below the last one"
        ),
        _chosen(choices.SendsInIntervals, "sends-in-intervals", "sends nothing for up to four seconds"),
        _chosen(choices.RepeatsItsRequest, "repeats-its-request", "asks for the same again at each tick"),
        _chosen(choices.ReceivesAtTicks, "receives-at-ticks", "reads what arrived when its periodic work runs"),
        _chosen(
            choices.ReadsLinksInTurn,
            "reads-links-in-turn",
            "reads what arrived when its periodic work runs, one link after the other, and counts hops",
            hops_show=True,
        ),
        _chosen(choices.SendsTheNewest, "sends-the-newest", "sends the newest version of each changed record at ticks"),
        _chosen(choices.AnswersFromALog, "answers-from-a-log", "answers with all versions that it ever had"),
        _variant("one-clock-counts-each-hop", "counts hops in one clock for all", clock_per_peer=True, hops_show=True),
        _chosen(
            conflict_choices.CountsEachSending,
            "counts-each-sending",
            "counts an update that goes to several peers for each of them",
            hops_show=True,
        ),
        _chosen(forms.RepeatsBytes, "repeats-bytes-and-counts", "repeats messages, and counts hops", hops_show=True),
        _chosen(conflict_choices.WritesResolutions, "writes-resolutions", "resolves a conflict by a change of its own"),
        _chosen(
            conflict_choices.DropsLosersOfKeys, "drops-losers-of-keys", "neither shows nor sends records without a key"
        ),
        _chosen(
            conflict_choices.RenamesLosersOfKeys, "renames-losers-of-keys", "gives another key to records that lost it"
        ),
        _chosen(
            conflict_choices.DecidesAmongEquals,
            "decides-among-equals",
            "takes records with equal clocks and other content for a conflict",
        ),
        _chosen(choices.RenamesInTwo, "renames-in-two", "renames by a deletion and a new record", ("CSDB-23",)),
    )
}
"""The variants by name."""
