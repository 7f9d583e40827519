"""Faults that appear only in rare cases, such as certain keys, values or times, hidden records or restarts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from ..config import AccessLevel
from ..effects import Effects
from ..errors import MalformedMessageError, RefusedWriteError
from ..framing import Message, Parser
from ..messages import GetUpdates, update_body
from ..peer import ClubLink, Peer
from ..record import NULL, Record, StoredRecord, Version
from ..sqlite_store import SqliteStore
from ..timestamps import Timestamp
from .arrivals import _VerifiesSomeSignatures
from .conflicts import _ForgetsDeletions
from .exchanges import MONTH_S
from .registry import fault, mutant, register_faults
from .restarts import KnowsRestarts, LosesDataWhenKilled

# ---- Updates that are ignored ----------------------------------------------------------------------------------------


class _IgnoresSome(Peer):
    """Ignores some updates, but counts their revisions as known."""

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if self.ignores(self.store.get(incoming.uuid), incoming):
            self.learn(incoming)
        else:
            super().apply_update(incoming, signed, source, effects)

    def ignores(self, current: StoredRecord | None, incoming: Record) -> bool:
        return False

    def is_hidden(self, stored: StoredRecord | None) -> bool:
        """Is the record hidden because another record has the same key?"""
        return stored is not None and not stored.record.deleted and self.as_shown(stored).deleted


@register_faults
class _IgnoredUpdates(_IgnoresSome):
    @fault(_IgnoresSome.ignores, "02", "ignores records whose keys are names of properties of all JavaScript objects")
    def ignores_built_in_names(self, current: StoredRecord | None, incoming: Record) -> bool:
        return incoming.key in ("constructor", "toString", "valueOf", "hasOwnProperty")

    @fault(_IgnoresSome.ignores, "02", "ignores records with a quote in their keys")
    def ignores_quotes(self, current: StoredRecord | None, incoming: Record) -> bool:
        return "'" in incoming.key

    @fault(_IgnoresSome.ignores, "02", "ignores deletions of records whose key another record has")
    def ignores_deletions_of_hidden_records(self, current: StoredRecord | None, incoming: Record) -> bool:
        return incoming.deleted and self.is_hidden(current)

    @fault(_IgnoresSome.ignores, "02", "as a read-only peer, ignores deletions of unknown records")
    def reader_ignores_deletions_of_unknown_records(self, current: StoredRecord | None, incoming: Record) -> bool:
        return current is None and incoming.deleted and not self.writes

    @fault(_IgnoresSome.ignores, "50", "ignores newer versions with the update_time of the stored version")
    def newer_needs_another_time(self, current: StoredRecord | None, incoming: Record) -> bool:
        if current is None or incoming.update_time != current.record.update_time:
            return False
        return self.is_newer(incoming, current.record)

    @fault(_IgnoresSome.ignores, "50", "ignores deletions whose update_time is earlier than that of the record")
    def deletions_need_a_later_time(self, current: StoredRecord | None, incoming: Record) -> bool:
        return current is not None and incoming.deleted and incoming.update_time < current.record.update_time

    @fault(_IgnoresSome.ignores, "50", "ignores deletions of its own records")
    def ignores_deletions_of_own_records(self, current: StoredRecord | None, incoming: Record) -> bool:
        own = current is not None and current.record.last_updated_by == self.peer_id
        return own and incoming.deleted and incoming.last_updated_by != self.peer_id

    @fault(_IgnoresSome.ignores, "50", "ignores updates that give a record the key of a deleted record")
    def ignores_renames_to_deleted_keys(self, current: StoredRecord | None, incoming: Record) -> bool:
        if current is None or incoming.key == current.record.key or incoming.deleted:
            return False
        return any(stored.record.deleted and stored.record.key == incoming.key for stored in self.store)

    @fault(_IgnoresSome.ignores, "50", "ignores updates that give a record a key that it had before")
    def ignores_renames_back(self, current: StoredRecord | None, incoming: Record) -> bool:
        self._keys: dict[str, list[str]] = getattr(self, "_keys", {})
        keys = self._keys.setdefault(incoming.uuid, [])
        back = current is not None and incoming.key != current.record.key and incoming.key in keys
        keys.append(incoming.key)
        return back


# ---- Contents --------------------------------------------------------------------------------------------------------


@register_faults
class _Contents(Peer):
    @fault(Peer.apply_update, "13", 'deletes a record whose value has the member "deleted": true')
    def looks_for_deleted_in_values(
        self, incoming: Record, signed: Message | None, source: int, effects: Effects
    ) -> None:
        value = json.loads(incoming.value)
        if isinstance(value, dict) and value.get("deleted") is True:
            incoming = replace(incoming, value=NULL, deleted=True)
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.apply_update, "07", 'takes the key of a record from the member "key" of its value')
    def looks_for_keys_in_values(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        value = json.loads(incoming.value)
        if isinstance(value, dict) and isinstance(value.get("key"), str):
            incoming = replace(incoming, key=value["key"])
        super().apply_update(incoming, signed, source, effects)

    @fault(Peer.read_body, "02", 'ignores updates that contain the text "database.get_updates"')
    def ignores_updates_that_name_a_type(self, body: bytes) -> Record | GetUpdates | None:
        parsed = super().read_body(body)
        return None if isinstance(parsed, Record) and b"database.get_updates" in body else parsed

    @fault(Peer.write, "07", "reads the keys in writes as patterns, with _ for any character and % for any text")
    def writes_by_pattern(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        return super().write(next(self.alike(key), key), value, now_ms, uuid, effects)

    @fault(
        Peer.delete_by_key,
        "13",
        "reads the key of a deletion as a pattern with the wildcards _ and %, and deletes all matching records",
    )
    def deletes_by_pattern(self, key: str, now_ms: int, effects: Effects) -> str:
        uuid = super().delete_by_key(key, now_ms, effects)
        for other in list(self.alike(key)):
            super().delete_by_key(other, now_ms, effects)
        return uuid

    def alike(self, key: str) -> Iterator[str]:
        """The keys of records that match ``key`` when it is read as an SQL pattern with the wildcards _ and %."""
        pattern = re.compile(re.escape(key).replace("_", ".").replace("%", ".*"), re.DOTALL)
        return (k.record.key for k in self.store if not k.record.deleted and pattern.fullmatch(k.record.key))

    @fault(Peer.write, "07", "leaves a record deleted when it writes the record after another peer has deleted it")
    def writes_to_deleted_records(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        deleted = (k for k in self.store if k.record.deleted and k.record.key == key)
        gone = next((k for k in deleted if k.record.last_updated_by != self.peer_id), None)
        if gone is None or self.store.leader(key) is not None:
            return super().write(key, value, now_ms, uuid, effects)
        self.change(gone, gone.record.uuid, (key, NULL, True), self.time_of_change(now_ms, [gone]), effects)
        return gone.record.uuid

    @fault(Peer.refuse_unwritable, "02", "refuses to change records whose time is ahead of its clock")
    def refuses_changes_of_the_future(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        super().refuse_unwritable(changed, now_ms)
        if any(k is not None and k.record.update_time.seconds > now_ms // 1_000 for k in changed):
            raise RefusedWriteError("the time of the record is ahead of the clock")

    @fault(Peer.delete_by_key, "14", "ignores deletions of records whose time is ahead of its clock")
    def ignores_deletions_of_the_future(self, key: str, now_ms: int, effects: Effects) -> str:
        there = self.store.leader(key)
        if there is not None and there.record.update_time.seconds > now_ms // 1_000:
            return there.record.uuid
        return super().delete_by_key(key, now_ms, effects)

    @fault(Peer.change_key, "02", "refuses to rename a record to the key of a deleted record")
    def refuses_renames_to_deleted_keys(self, key: str, new_key: str, now_ms: int, effects: Effects) -> str:
        if any(k.record.deleted and k.record.key == new_key for k in self.store):
            raise RefusedWriteError("the key is in use")
        return super().change_key(key, new_key, now_ms, effects)


class _KeepsOtherContents(Peer):
    """Changes the key or the value of received records before it stores them."""

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        if not incoming.deleted:
            value = json.dumps(self._walk(json.loads(incoming.value)), ensure_ascii=False)
            incoming = replace(incoming, key=self.rewrite_key(incoming.key), value=value)
        super().apply_update(incoming, signed, source, effects)

    def _walk(self, value: Any) -> Any:
        if isinstance(value, dict):
            value = {name: self._walk(inner) for name, inner in value.items()}
        elif isinstance(value, list):
            value = [self._walk(inner) for inner in value]
        return self.rewrite_value(value)

    def rewrite_key(self, key: str) -> str:
        return key

    def rewrite_value(self, value: Any) -> Any:
        return value


@register_faults
class _OtherContents(_KeepsOtherContents):
    @fault(_KeepsOtherContents.rewrite_key, "07", "decodes percent-encoded characters in keys")
    def decodes_percents(self, key: str) -> str:
        return unquote(key)

    @fault(_KeepsOtherContents.rewrite_key, "07", "decodes character references of HTML in keys")
    def decodes_references(self, key: str) -> str:
        return html.unescape(key)

    @fault(_KeepsOtherContents.rewrite_key, "07", "replaces tabs in keys by blanks")
    def replaces_tabs(self, key: str) -> str:
        return key.replace("\t", " ")

    @fault(_KeepsOtherContents.rewrite_key, "07", "keeps only the first 512 bytes of a key")
    def keeps_512_bytes(self, key: str) -> str:
        return key.encode()[:512].decode(errors="ignore")

    @fault(_KeepsOtherContents.rewrite_value, "07", 'reads the string "undefined" as null')
    def reads_undefined(self, value: Any) -> Any:
        return None if value == "undefined" else value

    @fault(_KeepsOtherContents.rewrite_value, "07", "keeps only the first thousand members of an object")
    def keeps_a_thousand_members(self, value: Any) -> Any:
        return dict(list(value.items())[:1_000]) if isinstance(value, dict) else value

    @fault(_KeepsOtherContents.rewrite_value, "07", "drops members whose names begin with a dollar sign")
    def drops_dollar_signs(self, value: Any) -> Any:
        return {n: v for n, v in value.items() if not n.startswith("$")} if isinstance(value, dict) else value

    @fault(_KeepsOtherContents.rewrite_value, "07", "keeps very small numbers as zero")
    def keeps_small_numbers_as_zero(self, value: Any) -> Any:
        return 0 if isinstance(value, float) and abs(value) < 1e-100 else value


@mutant("07", "still finds a record by its old key after another peer has renamed it")
class FindsRecordsByOldKeys(Peer):
    def store_update(self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects) -> None:
        self._old: dict[str, str] = getattr(self, "_old", {})
        if current is not None and current.record.key != stored.record.key:
            self._old[current.record.key] = stored.record.uuid
        super().store_update(current, stored, source, effects)

    def write(self, key: str, value: str, now_ms: int, uuid: str, effects: Effects) -> str:
        renamed = self.store.get(getattr(self, "_old", {}).get(key, ""))
        if self.store.leader(key) is None and renamed is not None and not renamed.record.deleted:
            key = renamed.record.key
        return super().write(key, value, now_ms, uuid, effects)


class _WritesTimes(Peer):
    """Writes its own times in a form that differs from that of the model."""

    def body(self, record: Record) -> bytes:
        if record.last_updated_by == self.peer_id:
            time = record.update_time
            record = replace(record, update_time=replace(time, text=self.rewrite(time)))
        return super().body(record)

    def rewrite(self, time: Timestamp) -> str:
        return time.text


@register_faults
class _FormsOfTimes(_WritesTimes):
    @fault(_WritesTimes.rewrite, "11", "in times, writes the first nine days of a month with one digit")
    def writes_days_without_zeros(self, time: Timestamp) -> str:
        return time.text[:8] + time.text[8:10].lstrip("0") + time.text[10:]

    @fault(_WritesTimes.rewrite, "11", "in times, writes the first hour of a day as 24")
    def writes_midnight_as_24(self, time: Timestamp) -> str:
        return time.text.replace("T00:", "T24:")


# ---- Relays and answers ----------------------------------------------------------------------------------------------


@register_faults
class _Relays(Peer):
    @fault(Peer.is_recipient, "35", "sends no changes on a link while it has received only a part of a message there")
    def waits_for_the_other_half(self, link: ClubLink, source: int | None) -> bool:
        return super().is_recipient(link, source) and not link.parser.incomplete_bytes

    @fault(Peer.send_to_subscribers, "20", "does not relay updates that come from read-only peers")
    def relays_nothing_of_readers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is None or not self.writes or self.links[source].level is AccessLevel.READ_WRITE:
            super().send_to_subscribers(stored, effects, source)

    @fault(Peer.store_update, "20", "does not relay a newer deletion of a record that is deleted already")
    def withholds_second_deletions(
        self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects
    ) -> None:
        known = len(effects.sent)
        super().store_update(current, stored, source, effects)
        if current is not None and current.record.deleted and stored.record.deleted:
            del effects.sent[known:]

    @fault(Peer.send_to_subscribers, "20", "does not relay its own changes that come back")
    def relays_no_own_changes(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if source is None or stored.record.last_updated_by != self.peer_id:
            super().send_to_subscribers(stored, effects, source)

    @fault(Peer.answer, "31", "answers no requests while it has received only a part of a message on another link")
    def answers_nothing_while_half_a_message_waits(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        if any(other.parser.incomplete_bytes for other in self.links.values() if other is not link):
            link.subscribed = True
        else:
            super().answer(link, request, effects)

    @fault(Peer.store_update, "20", "does not relay a record whose key another record has")
    def withholds_winners_of_keys(
        self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects
    ) -> None:
        known, rival = len(effects.sent), self.store.leader(stored.record.key)
        super().store_update(current, stored, source, effects)
        if rival is not None and rival.record.uuid != stored.record.uuid and not stored.record.deleted:
            del effects.sent[known:]

    @fault(Peer._parse_messages, "35", "ignores requests that follow another message in the same bytes")
    def ignores_requests_behind_others(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        for number, message in enumerate(link.parser.feed(data)):
            if not number or b"get_updates" not in message.body[:60]:
                self.process_message(link, message, effects)

    @fault(Peer.missing, "37", "in answers, sends deletions after the other records")
    def answers_with_deletions_last(self, request: GetUpdates) -> list[StoredRecord]:
        return sorted(super().missing(request), key=lambda stored: stored.record.deleted)

    @fault(
        Peer.missing,
        "37",
        "answers in pages of a hundred records, and omits further records with the last revision of a page",
    )
    def answers_in_pages(self, request: GetUpdates) -> list[StoredRecord]:
        found, out = super().missing(request), list[StoredRecord]()
        while page := [k for k in found if not out or k.record.last_updated_rev > out[-1].record.last_updated_rev]:
            out += page[:100]
        return out

    @fault(Peer.known, "29", "in requests, omits peers whose highest known revision is 1")
    def asks_without_first_revisions(self) -> dict[str, int]:
        return {by: revision for by, revision in super().known().items() if by == self.peer_id or revision > 1}


class _RelaysKnownUpdates(KnowsRestarts):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.recent: list[tuple[str, Version]] = []

    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        current = self.store.get(incoming.uuid)
        if current is not None and self.is_present(current.record, incoming) and self.relays(incoming):
            self.send_to_subscribers(current, effects, source)
        self.recent = [*self.recent, (incoming.uuid, incoming.version)][-50:]
        super().apply_update(incoming, signed, source, effects)

    def relays(self, incoming: Record) -> bool:
        raise NotImplementedError


@register_faults
class _RelaysAgain(_RelaysKnownUpdates):
    @fault(_RelaysKnownUpdates.relays, "19", "after a restart, relays known updates again")
    def relays_again_after_a_restart(self, incoming: Record) -> bool:
        return self.was_restarted

    @fault(
        _RelaysKnownUpdates.relays,
        "19",
        "relays a known update again if it is not among the last fifty updates that arrived",
    )
    def relays_again_after_fifty(self, incoming: Record) -> bool:
        return (incoming.uuid, incoming.version) not in self.recent

    @fault(_RelaysKnownUpdates.relays, "19", "relays a deletion each time that it arrives")
    def relays_deletions_again(self, incoming: Record) -> bool:
        return incoming.deleted

    @fault(_RelaysKnownUpdates.relays, "19", "relays its own changes when they come back")
    def relays_own_changes_again(self, incoming: Record) -> bool:
        return incoming.last_updated_by == self.peer_id


@mutant("05", "as a read-only peer, relays nothing after a restart")
class ReaderRelaysNothingAfterARestart(KnowsRestarts):
    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        if self.writes or not self.was_restarted:
            super().send_to_subscribers(stored, effects, source)


# ---- Pieces of messages ----------------------------------------------------------------------------------------------


class _LosesSplitSigned(Parser):
    def feed(self, data: bytes) -> Iterator[Message]:
        waits = bool(self._buffer)
        for number, message in enumerate(super().feed(data)):
            if number or not waits or message.signature is None:
                yield message


@mutant("37", "drops signed messages that arrive in pieces")
class LosesSplitSigned(Peer):
    parser_class = _LosesSplitSigned


class _LosesSplitHeads(Parser):
    def feed(self, data: bytes) -> Iterator[Message]:
        waits = 0 < len(self._buffer) < 4
        for number, message in enumerate(super().feed(data)):
            if number or not waits:
                yield message


@mutant("37", "drops messages whose first four bytes arrive in two pieces")
class LosesSplitHeads(Peer):
    parser_class = _LosesSplitHeads


class _LosesAfterSigned(Parser):
    def feed(self, data: bytes) -> Iterator[Message]:
        signed = False
        for message in super().feed(data):
            if not signed:
                yield message
            signed = signed or message.signature is not None


@mutant("37", "drops messages that follow a signed message in the same bytes")
class LosesAfterSigned(Peer):
    parser_class = _LosesAfterSigned


@mutant("37", "drops messages that follow an invalid message in the same bytes")
class LosesAfterInvalid(Peer):
    def process_message(self, link: ClubLink, message: Message, effects: Effects) -> None:
        if not effects.refused:
            super().process_message(link, message, effects)


@mutant("37", "ignores valid messages that arrive together with an invalid message")
class IgnoresValidBesideInvalid(Peer):
    def _parse_messages(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        messages = list(link.parser.feed(data))
        invalid = any(not self._is_valid(link, message) for message in messages)
        for message in messages:
            if not (invalid and self._is_valid(link, message)):
                self.process_message(link, message, effects)

    def _is_valid(self, link: ClubLink, message: Message) -> bool:
        try:
            parsed = self.read_body(message.body)
            if isinstance(parsed, Record):
                self.refuse_unauthorised(link, parsed, message)
        except MalformedMessageError:
            return False
        return True


# ---- Conflicts -------------------------------------------------------------------------------------------------------


@register_faults
class _Conflicts(Peer):
    @fault(
        Peer.is_older,
        "51",
        "treats a received version as older if its clock and the stored clock have no peer in common",
    )
    def other_clocks_are_older(self, incoming: Record, current: Record) -> bool:
        common = incoming.vector_clock.keys() & current.vector_clock.keys()
        return super().is_older(incoming, current) or not common

    @fault(Peer.decide, "54", "lets the value null lose each conflict")
    def null_loses(self, one: Record, other: Record) -> tuple[Record, Record]:
        if (one.value == NULL and not one.deleted) != (other.value == NULL and not other.deleted):
            return (other, one) if one.value == NULL and not one.deleted else (one, other)
        return super().decide(one, other)

    @fault(Peer.decide, "54", "lets its own deletions lose each conflict")
    def own_deletions_lose(self, one: Record, other: Record) -> tuple[Record, Record]:
        own = one.uuid == other.uuid and one.deleted and one.last_updated_by == self.peer_id
        return (other, one) if own and not other.deleted else super().decide(one, other)

    @fault(Peer.decide, "54", "compares times as unsigned numbers of 64 bits")
    def compares_unsigned_times(self, one: Record, other: Record) -> tuple[Record, Record]:
        times = [record.update_time.seconds % (1 << 64) for record in (one, other)]
        if times[0] == times[1]:
            return super().decide(one, other)
        return (one, other) if times[0] > times[1] else (other, one)

    @fault(Peer.decide, "54", "compares times as unsigned numbers of 32 bits")
    def compares_times_until_2106(self, one: Record, other: Record) -> tuple[Record, Record]:
        times = [record.update_time.seconds % (1 << 32) for record in (one, other)]
        if times[0] == times[1]:
            return super().decide(one, other)
        return (one, other) if times[0] > times[1] else (other, one)

    @fault(Peer.resolve_key, "26", "increments its revision counter at each conflict of keys")
    def counts_conflicts_of_keys(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        self.store.count(self.store.revision + 1)
        super().resolve_key(uuid, other_uuid, effects)


class _HidesLosers(Peer):
    """Hides a record that has lost its key, even if it should be visible."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.lost: set[str] = set()

    def as_shown(self, stored: StoredRecord) -> Record:
        if stored.record.deleted:
            return stored.record
        rivals = [k for k in self.store.records_with_key(stored.record.key) if k.record.uuid not in self.lost]
        there = bool(rivals) and rivals[0].record.uuid == stored.record.uuid
        return stored.record if there else replace(stored.record, deleted=True)


@mutant("13", "shows a record as deleted for ever after another record has won its key")
class HidesLosersForever(_HidesLosers):
    def resolve_key(self, uuid: str, other_uuid: str, effects: Effects) -> None:
        found = [stored for stored in (self.store.get(uuid), self.store.get(other_uuid)) if stored is not None]
        self.lost.add(self.decide(found[0].record, found[1].record)[1].uuid)
        super().resolve_key(uuid, other_uuid, effects)


@mutant("54", "lets a renamed record win its new key, whatever the update_time of the record")
class RenamedRecordsTakeKeys(_HidesLosers):
    def store_update(self, current: StoredRecord | None, stored: StoredRecord, source: int, effects: Effects) -> None:
        record = stored.record
        if current is not None and not record.deleted and current.record.key != record.key:
            self.lost |= {k.record.uuid for k in self.store.records_with_key(record.key)}
        self.lost.discard(record.uuid)
        super().store_update(current, stored, source, effects)


@mutant("54", "after a restart, shows the oldest of several records with one key")
class ShowsFirstRecordsAfterARestart(KnowsRestarts):
    def as_shown(self, stored: StoredRecord) -> Record:
        if not self.was_restarted or stored.record.deleted:
            return super().as_shown(stored)
        first = list(self.store.records_with_key(stored.record.key))[-1]
        there = first.record.uuid == stored.record.uuid
        return stored.record if there else replace(stored.record, deleted=True)


# ---- Restarts --------------------------------------------------------------------------------------------------------


@mutant("10", "after a restart, derives its last revision from its records that are not deleted")
class ScansExistingRecordsAtStart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        existing = (k.record for k in self.store if not k.record.deleted)
        own = [record.last_updated_rev for record in existing if record.last_updated_by == self.peer_id]
        if own:
            self.store.count(max(own))


@mutant("52", "stores the winner of a conflict without the merged clock, which is lost in a restart")
class ForgetsMergedClocksAtStart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if isinstance(self.store, SqliteStore):
            self._forget_merged_clocks(self.store)

    def _forget_merged_clocks(self, store: SqliteStore) -> None:
        for stored in list(store):
            by, revision, clock = json.loads(store._fact(f"of {stored.record.uuid}", "") or "[0, 0, 0]")
            if (by, revision) == stored.record.version:
                store.put(replace(stored, record=replace(stored.record, vector_clock=clock)))

    def resolve(
        self, current: StoredRecord, stored: StoredRecord, incoming: Record, source: int, effects: Effects
    ) -> None:
        winner, _ = self.decide(current.record, incoming)
        super().resolve(current, stored, incoming, source, effects)
        if isinstance(self.store, SqliteStore):
            fact = json.dumps([*winner.version, dict(winner.vector_clock)])
            self.store._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", f"of {winner.uuid}", fact)


@mutant("52", "stores the merged clock of a conflict only when it sends the record")
class StoresMergedClocksWhenSent(ForgetsMergedClocksAtStart):
    def prepare_sending(self, stored: StoredRecord) -> StoredRecord:
        if isinstance(self.store, SqliteStore):
            self.store._execute("DELETE FROM facts WHERE name = ?", f"of {stored.record.uuid}")
        return super().prepare_sending(stored)


@mutant("10", "uses its last revision a second time after its second restart")
class RepeatsARevisionAtTheSecondRestart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if _count_starts(self) == 3:
            self.store.count(self.store.revision - 1)


def _count_starts(peer: Peer) -> int:
    """Return how often a peer with a store was started."""
    if not isinstance(peer.store, SqliteStore):
        return 0
    starts = int(peer.store._fact("starts", "0")) + 1
    peer.store._execute("INSERT OR REPLACE INTO facts VALUES ('starts', ?)", str(starts))
    peer.store.commit()
    return starts


class _RestoresOthers(LosesDataWhenKilled):
    """Restores its records with faults after it was killed."""

    def lose(self, store: SqliteStore) -> None:
        for stored in list(store):
            store.put(replace(stored, record=self.restore(stored.record, store)))

    def store_record(self, stored: StoredRecord) -> None:
        if isinstance(self.store, SqliteStore) and self.store.get(stored.record.uuid) is None:
            name = f"first key of {stored.record.uuid}"
            self.store._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, stored.record.key)
        super().store_record(stored)

    def restore(self, record: Record, store: SqliteStore) -> Record:
        """The record as the peer restores it after it was killed."""
        raise NotImplementedError


@register_faults
class _LosesWhenKilled(_RestoresOthers):
    @fault(_RestoresOthers.restore, "07", "loses new keys of records when it is killed")
    def loses_renames_when_killed(self, record: Record, store: SqliteStore) -> Record:
        return replace(record, key=store._fact(f"first key of {record.uuid}", record.key))

    @fault(
        _RestoresOthers.restore,
        "46",
        "loses numbers of vector clocks, except the last writer's, when it is killed",
    )
    def loses_clocks_when_killed(self, record: Record, store: SqliteStore) -> Record:
        by = record.last_updated_by
        return replace(record, vector_clock={by: record.vector_clock.get(by, 1)})


# ---- Deleted records -------------------------------------------------------------------------------------------------


class _ForgetsThese(_ForgetsDeletions):
    """Forgets the deletions of some records."""

    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        self.gone: set[str] = set()

    def forgets(self, current: StoredRecord, incoming: Record) -> bool:
        return super().forgets(current, incoming) and current.record.uuid in self.gone

    def forget(self, applies: Callable[[Record], bool] = lambda record: True) -> None:
        """Forget the deleted records for which ``applies`` returns True."""
        self.gone |= {k.record.uuid for k in self.store if k.record.deleted and applies(k.record)}


@mutant("56", "forgets deletions that are known to a peer that requests updates")
class ForgetsKnownDeletions(_ForgetsThese):
    def answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        super().answer(link, request, effects)
        self.forget(lambda record: request.since.get(record.last_updated_by, 0) >= record.last_updated_rev)


@mutant("56", "forgets the deletions of a peer whose link ends")
class ForgetsDeletionsOfThoseWhoLeave(_ForgetsThese):
    def _forget(self, link: ClubLink, effects: Effects) -> None:
        super()._forget(link, effects)
        self.forget(lambda record: record.last_updated_by == link.peer_id)


@mutant("56", "forgets the second deletion of a record")
class ForgetsSecondDeletions(_ForgetsThese):
    def store_record(self, stored: StoredRecord) -> None:
        self._before: set[str] = getattr(self, "_before", set())
        uuid, before = stored.record.uuid, self.store.get(stored.record.uuid)
        super().store_record(stored)
        if stored.record.deleted and not (before is not None and before.record.deleted):
            self.gone |= {uuid} & self._before
            self._before.add(uuid)


@mutant("56", "forgets the deletion of a record that had lost its key to another record")
class ForgetsDeletionsOfHiddenRecords(_ForgetsThese):
    def store_record(self, stored: StoredRecord) -> None:
        before = self.store.get(stored.record.uuid)
        hidden = before is not None and not before.record.deleted and self.as_shown(before).deleted
        super().store_record(stored)
        if stored.record.deleted and hidden:
            self.gone.add(stored.record.uuid)


@mutant("56", "accepts old versions of deleted records from read-only peers")
class AcceptsGhostsOfReaders(_ForgetsThese):
    def apply_update(self, incoming: Record, signed: Message | None, source: int, effects: Effects) -> None:
        self.gone.clear()
        if source in self.links and self.links[source].level is AccessLevel.READ_ONLY and self.writes:
            self.forget()
        super().apply_update(incoming, signed, source, effects)


@mutant("56", "forgets deletions at its second restart")
class ForgetsDeletionsAtTheSecondRestart(_ForgetsThese):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if _count_starts(self) > 2:
            self.forget()


@mutant("56", "at a restart, forgets deletions that are older than a month")
class ForgetsOldDeletionsAtStart(_ForgetsThese, KnowsRestarts):
    def connect(self, number: int, peer_id: str, level: AccessLevel, now_ms: int) -> Effects:
        if self.was_restarted:
            self.forget(lambda record: record.update_time.seconds < now_ms // 1_000 - MONTH_S)
            self.was_restarted = False
        return super().connect(number, peer_id, level, now_ms)


# ---- Access levels and signatures ------------------------------------------------------------------------------------


@mutant("18", "as a read-only peer, forgets signed messages at its second restart")
class ForgetsOriginalsAtTheSecondRestart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        if _count_starts(self) > 2 and not self.writes:
            for stored in list(self.store):
                self.store.put(replace(stored, signed=None))


@mutant("06", "verifies only the first of several signatures that arrive together")
class VerifiesTheFirstOfSeveral(Peer):
    _verified = 0

    def _parse_messages(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        self._verified = 0
        super()._parse_messages(link, data, effects)

    def is_genuine(self, message: Message) -> bool:
        self._verified += 1
        return self._verified > 1 or super().is_genuine(message)


@register_faults
class _Unverified(_VerifiesSomeSignatures):
    @fault(_VerifiesSomeSignatures.trusts, "06", "does not verify signatures of updates of deleted records")
    def verifies_nothing_of_the_deleted(self, update: Record) -> bool:
        there = self.store.get(update.uuid)
        return there is not None and there.record.deleted

    @fault(_VerifiesSomeSignatures.trusts, "06", "does not verify signatures of updates with a new key")
    def verifies_no_renames(self, update: Record) -> bool:
        there = self.store.get(update.uuid)
        return there is not None and there.record.key != update.key

    @fault(_VerifiesSomeSignatures.trusts, "06", "does not verify signatures of concurrent versions")
    def verifies_no_conflicts(self, update: Record) -> bool:
        there = self.store.get(update.uuid)
        if there is None:
            return False
        return not self.is_newer(update, there.record) and not self.is_older(update, there.record)

    @fault(
        _VerifiesSomeSignatures.trusts,
        "06",
        "does not verify signatures of updates whose record key another record already has",
    )
    def verifies_no_known_keys(self, update: Record) -> bool:
        leader = self.store.leader(update.key)
        return leader is not None and leader.record.uuid != update.uuid

    @fault(_VerifiesSomeSignatures.trusts, "06", "does not verify signatures of large updates")
    def verifies_no_large_updates(self, update: Record) -> bool:
        return len(update.value) > 1 << 16

    @fault(_VerifiesSomeSignatures.trusts, "06", "does not verify signatures while it has no link to a read-write peer")
    def verifies_nothing_without_writers(self, update: Record) -> bool:
        return all(link.level is AccessLevel.READ_ONLY for link in self.links.values())


@register_faults
class _Readers(Peer):
    @fault(Peer.refuse_unwritable, "03", "lets the application of a read-only peer write while the peer has no link")
    def lets_readers_write_without_links(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        if self.writes or self.links:
            super().refuse_unwritable(changed, now_ms)

    @fault(Peer.refuse_unauthorised, "03", "accepts unsigned updates with a new key from read-only peers")
    def trusts_readers_with_keys(self, link: ClubLink, update: Record, message: Message) -> None:
        there = self.store.get(update.uuid) if self.writes and message.signature is None else None
        if there is None or there.record.key == update.key:
            super().refuse_unauthorised(link, update, message)

    @fault(Peer.refuse_unauthorised, "03", "accepts unsigned updates of its own records from read-only peers")
    def trusts_readers_with_own_records(self, link: ClubLink, update: Record, message: Message) -> None:
        there = self.store.get(update.uuid) if self.writes and message.signature is None else None
        if there is None or there.record.last_updated_by != self.peer_id:
            super().refuse_unauthorised(link, update, message)


@mutant("03", "lets the application of a read-only peer write after a restart")
class LetsReadersWriteAfterARestart(KnowsRestarts):
    def refuse_unwritable(self, changed: list[StoredRecord | None], now_ms: int) -> None:
        if self.writes or not self.was_restarted:
            super().refuse_unwritable(changed, now_ms)


class _TakesUnsigned(KnowsRestarts):
    """Accepts some unsigned updates, and relays them without a signature."""

    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        wanted = message.signature is None and self.takes(link, update)
        if not wanted:
            super().refuse_unauthorised(link, update, message)

    def takes(self, link: ClubLink, update: Record) -> bool:
        raise NotImplementedError

    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if not self.writes and stored.signed is None:
            return Message(self.body(stored.record)).to_wire()
        return super().to_wire(stored, link)

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        return self.store.since(request.since)


@register_faults
class _Unsigned(_TakesUnsigned):
    @fault(_TakesUnsigned.takes, "16", "as a read-only peer, accepts unsigned updates after a restart")
    def reader_takes_unsigned_after_a_restart(self, link: ClubLink, update: Record) -> bool:
        return self.was_restarted and not self.writes and link.level is AccessLevel.READ_WRITE

    @fault(_TakesUnsigned.takes, "16", "as a read-only peer, accepts unsigned deletions of unknown records")
    def reader_takes_unsigned_deletions(self, link: ClubLink, update: Record) -> bool:
        unknown = update.deleted and self.store.get(update.uuid) is None
        return unknown and not self.writes and link.level is AccessLevel.READ_WRITE

    @fault(_TakesUnsigned.takes, "03", "accepts unsigned updates from read-only peers after a restart")
    def trusts_readers_after_a_restart(self, link: ClubLink, update: Record) -> bool:
        return self.was_restarted and self.writes

    @fault(_TakesUnsigned.takes, "03", "accepts unsigned deletions of unknown records from read-only peers")
    def trusts_readers_with_deletions(self, link: ClubLink, update: Record) -> bool:
        return update.deleted and self.writes and self.store.get(update.uuid) is None

    @fault(_TakesUnsigned.takes, "03", "accepts unsigned updates of deleted records from read-only peers")
    def trusts_readers_with_deleted_records(self, link: ClubLink, update: Record) -> bool:
        there = self.store.get(update.uuid)
        return self.writes and there is not None and there.record.deleted


@register_faults
class _Originals(Peer):
    @fault(
        Peer.is_genuine, "06", "verifies signatures over the known members of a message instead of its received text"
    )
    def verifies_known_members(self, message: Message) -> bool:
        return super().is_genuine(_rewrite(message))

    @fault(Peer.to_wire, "18", "as a read-only peer, relays signed messages without their unknown members")
    def repeats_known_members(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if not self.writes and stored.signed is not None:
            stored = replace(stored, signed=_rewrite(stored.signed))
        return super().to_wire(stored, link)

    @fault(Peer.to_wire, "18", "as a read-only peer, relays 1.0 as 1")
    def repeats_whole_numbers(self, stored: StoredRecord, link: ClubLink) -> bytes:
        if not self.writes and stored.signed is not None:
            body = re.sub(rb"(?<=\d)\.0(?=[],}])", b"", stored.signed.body)
            stored = replace(stored, signed=replace(stored.signed, body=body))
        return super().to_wire(stored, link)


def _rewrite(message: Message) -> Message:
    """Return the message without the members that an update does not define."""
    known = update_body(
        Record("0" * 32, "", "0", "0" * 32, 1, Timestamp(0, "", ""), {}, deleted=True), writes_deleted_false=True
    )
    body = {name: value for name, value in json.loads(message.body).items() if name in json.loads(known)}
    return replace(message, body=json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())


@mutant("18", "as a read-only peer, forgets in a restart the signed messages of records with several writers")
class ReaderForgetsChangesAtStart(Peer):
    def __init__(self, *details: Any, **more: Any) -> None:
        super().__init__(*details, **more)
        for stored in list(self.store) if not self.writes else ():
            if len(stored.record.vector_clock) > 1:
                self.store.put(replace(stored, signed=None))
