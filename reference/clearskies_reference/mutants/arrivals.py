"""Faults in handling updates that arrive: what they change, and which signatures and senders are accepted."""

from __future__ import annotations

import json
from dataclasses import replace

from ..config import AccessLevel
from ..effects import Effects
from ..errors import MalformedMessageError
from ..framing import Message
from ..messages import GetUpdates
from ..peer import ClubLink, Peer
from ..record import NULL, Record, StoredRecord, Version
from .layout import PassesOnUnsigned
from .registry import fault, mutant, register_faults
from .restarts import KnowsRestarts


@register_faults
class _Records(Peer):
    @fault(Peer.apply_update, "02", "ignores records with the key of a deleted record")
    def refuses_keys_of_deleted_records(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        gone = {
            stored.record.uuid for stored in self.store if stored.record.deleted and stored.record.key == incoming.key
        }
        if incoming.deleted or not gone - {incoming.uuid}:
            super().apply_update(incoming, signed, source, effects)
        else:
            self.learn(incoming)

    @fault(Peer.apply_update, "02", "ignores records of a peer while an earlier revision is missing")
    def waits_for_missing_revisions(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        last = self.known().get(incoming.last_updated_by)
        if last is None or incoming.last_updated_rev <= last + 1:
            super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "02", "ignores its own lost changes when another peer sends them back")
    def refuses_its_own_changes_back(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        if incoming.last_updated_by != self.peer_id:
            super().apply_update(incoming, signed, source, effects)

    @fault(
        Peer.apply_update, "07", "keeps members of an object when the newer version of the record lacks these members"
    )
    def keeps_members(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        before, value = (json.loads(each.value) for each in (current.record if current else incoming, incoming))
        if isinstance(before, dict) and isinstance(value, dict):
            incoming = replace(incoming, value=json.dumps(before | value))
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "07", "keeps the old value of a record that arrives with a new key")
    def keeps_values_of_the_renamed(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        current = self.store.get(incoming.uuid)
        if current is not None and not (current.record.deleted or incoming.deleted):
            same = current.record.key == incoming.key
            incoming = incoming if same else replace(incoming, value=current.record.value)
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "13", "deletes all records with the key of a deletion, whatever their uuids")
    def deletes_by_key(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        super().apply_update(incoming, signed, source, effects)
        for stored in list(self.store.records_with_key(incoming.key)) if incoming.deleted else []:
            self.store_record(replace(stored, record=replace(stored.record, value=NULL, deleted=True)))

    @fault(Peer.apply_update, "23", "identifies records by their keys")
    def finds_records_by_key(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        known = self.store.get(incoming.uuid)
        leader = self.store.leader(incoming.key) if known is None and not incoming.deleted else None
        super().apply_update(
            replace(incoming, uuid=leader.record.uuid) if leader else incoming, signed, source, effects
        )


@register_faults
class _Authority(Peer):
    @fault(Peer.refuse_unauthorised, "03", "accepts unsigned changes of known records from read-only peers")
    def trusts_readers_with_changes(self, link: ClubLink, update: Record, message: Message) -> None:
        known = self.writes and self.store.get(update.uuid) is not None
        if message.signature is not None or not known or link.level is AccessLevel.READ_WRITE:
            super().refuse_unauthorised(link, update, message)


class _VerifiesSomeSignatures(Peer):
    _trusts = False

    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        self._trusts = self.trusts(update)
        super().refuse_unauthorised(link, update, message)

    def is_genuine(self, message: Message) -> bool:
        return self._trusts or super().is_genuine(message)

    def trusts(self, update: Record) -> bool:
        raise NotImplementedError


@mutant("06", "does not verify signatures of changes of known records")
class VerifiesNewRecordsAlone(_VerifiesSomeSignatures):
    def trusts(self, update: Record) -> bool:
        return self.store.get(update.uuid) is not None and not update.deleted


@mutant("06", "does not verify signatures of deletions")
class VerifiesNoDeletions(_VerifiesSomeSignatures):
    def trusts(self, update: Record) -> bool:
        return update.deleted


@mutant("06", "does not verify signatures after a restart")
class VerifiesNothingAfterARestart(KnowsRestarts, _VerifiesSomeSignatures):
    def trusts(self, update: Record) -> bool:
        return self.was_restarted


@register_faults
class _Signatures(Peer):
    @fault(Peer.is_genuine, "06", "accepts an empty signature")
    def accepts_empty_signatures(self, message: Message) -> bool:
        return not message.signature or super().is_genuine(message)


@mutant("16", "as a read-only peer, accepts unsigned changes of known records")
class ReaderTakesUnsignedChanges(PassesOnUnsigned):
    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        known = not self.writes and self.store.get(update.uuid) is not None
        if message.signature is not None or not known or link.level is AccessLevel.READ_ONLY:
            super().refuse_unauthorised(link, update, message)

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        return self.store.since(request.since)


@mutant("02", "ignores a valid update that arrived with a wrong signature before")
class RemembersForgeries(Peer):
    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        self._refused: set[tuple[str, Version]] = getattr(self, "_refused", set())
        try:
            super().refuse_unauthorised(link, update, message)
        except MalformedMessageError:
            self._refused.add((update.uuid, update.version))
            raise

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if (incoming.uuid, incoming.version) not in self._refused:
            super().apply_update(incoming, signed, source, effects)


@mutant("35", "sends no changes on the other links to a peer after one link to it ends")
class EndsAllOfAPeer(Peer):
    def disconnect(self, number: int) -> Effects:
        peer_id = self.links[number].peer_id if number in self.links else ""
        effects = super().disconnect(number)
        for link in self.links.values():
            link.subscribed = link.subscribed and link.peer_id != peer_id
        return effects
