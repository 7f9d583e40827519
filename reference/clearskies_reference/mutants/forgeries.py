"""Faults in verifying signatures: the peer accepts a signature of another text, or does not verify some signatures."""

from __future__ import annotations

import json
from dataclasses import replace

from ..config import AccessLevel, Relay
from ..framing import Message
from ..peer import ClubLink, Peer
from ..record import Record
from .arrivals import _VerifiesSomeSignatures
from .registry import fault, mutant, register_faults


@register_faults
class _OtherTexts(Peer):
    @fault(Peer.is_genuine, "06", "accepts a signature of the same members in the order of the specification")
    def verifies_usual_order(self, message: Message) -> bool:
        return super().is_genuine(message) or super().is_genuine(_rewrite(message, USUAL_ORDER))

    @fault(Peer.is_genuine, "06", "accepts a signature of the same members in sorted order")
    def verifies_sorted_members(self, message: Message) -> bool:
        return super().is_genuine(message) or super().is_genuine(_rewrite(message, sorted(json.loads(message.body))))

    @fault(Peer.is_genuine, "06", "accepts a signature of the same text without blanks")
    def verifies_without_blanks(self, message: Message) -> bool:
        bare = replace(message, body=message.body.replace(b" ", b""))
        return super().is_genuine(message) or super().is_genuine(bare)

    @fault(Peer.is_genuine, "06", "accepts a signature that covers only the value")
    def verifies_the_value(self, message: Message) -> bool:
        return super().is_genuine(message) or super().is_genuine(_rewrite(message, ["value"]))


@mutant("16", "repeats signed updates of read-write peers without verifying them", relay=Relay.REPEATS)
class RepeatsUnverifiedUpdates(Peer):
    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        if not (self.writes and link.level is AccessLevel.READ_WRITE and message.signature is not None):
            super().refuse_unauthorised(link, update, message)


@mutant("06", "accepts a signature on any message after it has verified this signature on one message")
class RemembersSignatures(Peer):
    def is_genuine(self, message: Message) -> bool:
        self._verified: set[bytes] = getattr(self, "_verified", set())
        if message.signature_bytes() in self._verified:
            return True
        genuine = super().is_genuine(message)
        self._verified |= {message.signature_bytes()} if genuine else set()
        return genuine


USUAL_ORDER = [
    *("type", "key", "value", "uuid", "last_updated_by", "last_updated_rev", "update_time", "vector_clock", "deleted")
]


def _rewrite(message: Message, names: list[str]) -> Message:
    """Return the message with only the members ``names``, in that order."""
    members = json.loads(message.body)
    body = {name: members[name] for name in names if name in members}
    return replace(message, body=json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())


@register_faults
class _OwnName(_VerifiesSomeSignatures):
    @fault(
        _VerifiesSomeSignatures.trusts, "06", "does not verify signatures of updates that name this peer as the writer"
    )
    def verifies_nothing_in_its_name(self, update: Record) -> bool:
        return update.last_updated_by == self.peer_id

    @fault(
        _VerifiesSomeSignatures.trusts,
        "06",
        "does not verify signatures of updates below the highest known revision of their writer",
    )
    def verifies_no_early_revisions(self, update: Record) -> bool:
        return update.last_updated_rev < self.store.known.get(update.last_updated_by, 0)

    @fault(_VerifiesSomeSignatures.trusts, "06", "verifies no signatures once it has more than thirty records")
    def verifies_only_thirty_records(self, update: Record) -> bool:
        return sum(1 for _ in self.store) > 30
