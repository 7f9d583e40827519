"""Legal variants: the model with other choices where the text leaves one. Each must pass every check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from . import choices
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
    """Whose steps are other ones, where settings do not say it."""
    leaves_out: tuple[str, ...] = ()
    """IDs of what the text says SHOULD be done and this one does not: these may warn."""

    def configure(self, base: Config) -> Config:
        return replace(base, **dict(self.config))


def _variant(name: str, summary: str, leaves_out: tuple[str, ...] = (), **config: object) -> Variant:
    return Variant(name, summary, tuple(config.items()), leaves_out=leaves_out)


def _chosen(peer_class: type[Peer], name: str, summary: str) -> Variant:
    return Variant(name, summary, peer_class=peer_class)


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
        _variant("times-of-its-clock", "an update_time is what its clock shows", advancing_times=False),
        _variant("says-not-deleted", "says of records that are there that they are not deleted", says_not_deleted=True),
        _variant("clock-per-peer", "has one logical clock for all its records", clock_per_peer=True),
        _variant("clocks-to-the-letter", "counts sending and receiving in the clocks of records", hops_show=True),
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
        _chosen(choices.SendsAtTicks, "sends-at-ticks", "sends nothing but when its periodic work runs"),
        _chosen(
            choices.TakesTheFirstAtOnce,
            "takes-the-first-at-once",
            "takes one message of what arrives, and the others when its periodic work runs",
        ),
        _chosen(choices.Pings, "pings", "sends a core.ping on each link whenever its periodic work runs"),
        _chosen(choices.Polls, "polls", "asks again for updates whenever its periodic work runs"),
        _chosen(choices.SpacedBodies, "spaced-bodies", "writes JSON with blanks, and a member more"),
    )
}
"""The variants by name."""
