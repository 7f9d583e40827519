"""A peer: its database and its links. The entry point of the model.

>>> from random import Random
>>> draw = Random(1).randbytes
>>> alice, bob = (Peer(letter * 32, AccessLevel.READ_WRITE, draw=draw) for letter in "ab")
>>> asked = bob.connect(1, alice.peer_id, AccessLevel.READ_WRITE, now_ms=0)
>>> linked = alice.connect(1, bob.peer_id, AccessLevel.READ_WRITE, now_ms=0)
>>> asked.sent[0].data
b'm42{"type":"database.get_updates","since":{}}'
>>> answered = alice.receive(1, asked.sent[0].data, now_ms=0)
>>> written = alice.put("photo-1234", "{}", now_ms=1_000)
>>> bob.receive(1, written.sent[0].data, now_ms=1_000).events[0].record.key
'photo-1234'
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from .config import AccessLevel, Config
from .database import Database, Draw
from .effects import Effects, LinkClosed, Sent
from .errors import BrokenFramingError, ConfigurationError, MalformedMessageError, StoreError, UnknownLinkError
from .framing import Message, Parser, make_signed_message
from .json_text import MAX_BODY_BYTES, MAX_DEPTH
from .messages import EXTENSION, GetUpdates, get_updates_body, read, update_body
from .record import Record, StoredRecord
from .signing import Keys
from .store import MemoryStore, Store
from .vector_clock import MAX_MEMBERS, is_id


@dataclass(slots=True)
class ClubLink:
    """A connection to another peer of the club, whose ID and access level are known from the handshake."""

    number: int
    peer_id: str
    level: AccessLevel
    parser: Parser
    asked: bool = False
    """This peer has sent database.get_updates."""
    subscribed: bool = False
    """The other peer has sent database.get_updates: "it is subscribed to all future update messages"."""


class Peer(Database):
    """One peer of a club. It does no I/O except through its store.

    The caller owns time, network and randomness: methods take the current epoch time in milliseconds where it matters,
    and return the bytes to write to links. All durable data is in the store before they return.
    """

    extension = EXTENSION
    parser_class: type[Parser] = Parser
    max_body_bytes = MAX_BODY_BYTES
    max_depth = MAX_DEPTH
    max_clock_members = MAX_MEMBERS
    """The limits that the testee declares. ``MAX_BODY_BYTES`` is that of the specification, so it is not declared."""

    def __init__(
        self,
        peer_id: str,
        level: AccessLevel,
        config: Config | None = None,
        *,
        draw: Draw,
        keys: Keys | None = None,
        store: Store | None = None,
    ) -> None:
        """``draw`` returns the given number of random bytes. Raises ConfigurationError."""
        config = config or Config()
        super().__init__(peer_id, level, config, store or MemoryStore(config.first_revision - 1), draw)
        self.keys = keys or Keys()
        self.links: dict[int, ClubLink] = {}
        if self.config.signs_always:
            self._require_key()

    # ---- What the application does -------------------------------------------------------------------------------

    def put(self, key: str, value: str, now_ms: int, uuid: str = "") -> Effects:
        """Write a value, JSON text, under a key.

        ``uuid`` is a suggestion for a new record. Raises RefusedWriteError; MalformedMessageError if the value is not
        JSON.
        """
        if uuid and not is_id(uuid):
            raise MalformedMessageError("a uuid must have 32 lower-case hex digits")
        with self._transaction() as effects:
            effects.uuid = self.write(key, value, now_ms, uuid, effects)
        return effects

    def rename(self, key: str, new_key: str, now_ms: int) -> Effects:
        """Rule: "It is legal to change the key on a record." Raises RefusedWriteError."""
        with self._transaction() as effects:
            effects.uuid = self.change_key(key, new_key, now_ms, effects)
        return effects

    def delete(self, key: str, now_ms: int) -> Effects:
        """Delete the record with a key. Raises RefusedWriteError."""
        with self._transaction() as effects:
            effects.uuid = self.delete_by_key(key, now_ms, effects)
        return effects

    def known(self) -> dict[str, int]:
        """Rule: "The highest known revision number for each peer in the club", including this peer."""
        return dict(sorted(self.store.known.items()))

    # ---- Links ---------------------------------------------------------------------------------------------------

    def connect(self, number: int, peer_id: str, level: AccessLevel, now_ms: int) -> Effects:
        """Add a link to another peer, which was opened. ``now_ms`` is not used. Raises ConfigurationError."""
        if number in self.links:
            raise ConfigurationError(f"link {number} is open already")
        if not is_id(peer_id) or peer_id == self.peer_id:
            raise ConfigurationError(
                "the peer ID of the other end must differ from the own ID and have 32 lower-case hex digits"
            )
        if self.writes and level is AccessLevel.READ_ONLY:
            self._require_key()
        self.links[number] = ClubLink(number, peer_id, level, self.parser_class())
        effects = Effects()
        self.ask(peer_id, effects)
        return effects

    def disconnect(self, number: int) -> Effects:
        """Remove a link, which broke or was closed by the other end. Raises UnknownLinkError."""
        effects = Effects()
        self._forget(self._link(number), effects)
        return effects

    def receive(self, number: int, data: bytes, now_ms: int) -> Effects:
        """Process bytes that arrived on a link.

        ``now_ms`` is not used, because updates carry their own times. Raises UnknownLinkError.

        A message that is refused changes nothing. Broken framing and a failing store close the link: the peer must not
        skip a message, and it requests the missing updates on the next link.
        """
        link = self._link(number)
        try:
            with self._transaction() as effects:
                try:
                    self._parse_messages(link, data, effects)
                except BrokenFramingError as error:
                    self.close_link(link, str(error), effects)
        except StoreError as error:
            effects = Effects()
            self.close_link(link, str(error), effects)
        return effects

    def tick(self, now_ms: int) -> Effects:
        """Do periodic work. The specification requires none."""
        return Effects()

    def _parse_messages(self, link: ClubLink, data: bytes, effects: Effects) -> None:
        for message in link.parser.feed(data):
            self.process_message(link, message, effects)

    def process_message(self, link: ClubLink, message: Message, effects: Effects) -> None:
        """Process a complete message."""
        try:
            self.handle(link, message, effects)
            effects.taken += 1
        except MalformedMessageError as error:
            self.refuse(link, str(error), effects)

    def refuse(self, link: ClubLink, reason: str, effects: Effects) -> None:
        """Reject a message. The link stays open, because its framing is intact."""
        effects.refused.append(reason)

    def handle(self, link: ClubLink, message: Message, effects: Effects) -> None:
        """Handle one message. Raises MalformedMessageError before anything is changed."""
        parsed = self.read_body(message.body)
        if isinstance(parsed, Record):
            self.refuse_unauthorised(link, parsed, message)
            self.apply_update(parsed, message if message.signature is not None else None, link.number, effects)
        elif isinstance(parsed, GetUpdates):
            self.answer(link, parsed, effects)

    def read_body(self, body: bytes) -> Record | GetUpdates | None:
        """Parse a body; None for unknown types. Raises MalformedMessageError."""
        return read(body)

    def refuse_unauthorised(self, link: ClubLink, update: Record, message: Message) -> None:
        """Refuse an update that a read-only peer has written, or that lacks a valid signature of a read-write peer.

        A read-write peer accepts unsigned updates from read-write peers. Raises MalformedMessageError.
        """
        readers = {other.peer_id for other in self.links.values() if other.level is AccessLevel.READ_ONLY}
        if update.last_updated_by in readers or (update.last_updated_by == self.peer_id and not self.writes):
            raise MalformedMessageError(f"{update.last_updated_by} is a read-only peer, and has changed a record")
        if message.signature is not None:
            if not self.is_genuine(message):
                raise MalformedMessageError("the signature is not that of a read-write peer")
        elif not (self.writes and link.level is AccessLevel.READ_WRITE):
            raise MalformedMessageError("the update has no signature")

    def is_genuine(self, message: Message) -> bool:
        """Does the message have a valid signature of a read-write peer?"""
        key = self.keys.read_write_public
        if key is None:
            return False
        return self.config.signature_profile.verify(message.body, message.signature_bytes(), key)

    # ---- Requesting updates --------------------------------------------------------------------------------------

    def ask(self, peer_id: str, effects: Effects) -> None:
        """Rule: "When a client connects, it asks the server for any new updates": on one link to each peer."""
        links = [link for link in self.links.values() if link.peer_id == peer_id]
        if not self.config.asks_on_every_link and any(link.asked for link in links):
            return
        for link in links if self.config.asks_on_every_link else links[:1]:
            if not link.asked:
                link.asked = True
                effects.sent.append(Sent(link.number, Message(self.request_body()).to_wire()))

    def request_body(self) -> bytes:
        """The body of a database.get_updates with the highest known revisions of this peer."""
        return get_updates_body(self.known())

    def answer(self, link: ClubLink, request: GetUpdates, effects: Effects) -> None:
        """Rule: "The server responds with zero or more update messages", and later sends each new update."""
        link.subscribed = True
        for stored in self.missing(request):
            effects.sent.append(Sent(link.number, self.to_wire(self.prepare_sending(stored), link)))

    def missing(self, request: GetUpdates) -> list[StoredRecord]:
        """The records that the client lacks, "sorted by the last_updated_rev value".

        A read-only peer omits records without a signature.
        """
        return [stored for stored in self.store.since(request.since) if self.writes or stored.signed is not None]

    # ---- Sending -------------------------------------------------------------------------------------------------

    def send_to_subscribers(self, stored: StoredRecord, effects: Effects, source: int | None = None) -> None:
        """Send a record on all subscribed links, except the links to the peer that sent it on the link ``source``."""
        links = [link for link in self.links.values() if self.is_recipient(link, source)]
        if links:
            stored = self.prepare_sending(stored)
        for link in links:
            effects.sent.append(Sent(link.number, self.to_wire(stored, link)))

    def is_recipient(self, link: ClubLink, source: int | None) -> bool:
        """Return whether a link gets a change that arrived on the link ``source``; None stands for an own change."""
        came_from = self.links[source].peer_id if source in self.links else None
        return (link.subscribed or self.config.sends_unrequested) and (link.peer_id != came_from or self.config.echoes)

    def prepare_sending(self, stored: StoredRecord) -> StoredRecord:
        """Update the logical clock because a record is sent. A read-only peer relays the record unchanged."""
        counted = self.logical_clock.count_sending(stored) if self.writes else stored
        if counted is not stored:
            self.store_record(counted)
        return counted

    def to_wire(self, stored: StoredRecord, link: ClubLink) -> bytes:
        """The message of a record for the other end of a link, "a signed message" for a read-only peer."""
        if not self.writes:
            assert stored.signed is not None, "a read-only peer accepts only signed updates"
            return stored.signed.to_wire()
        if link.level is AccessLevel.READ_ONLY or self.config.signs_always:
            return self.signed(stored).to_wire()
        return Message(self.body(stored.record)).to_wire()

    def body(self, record: Record) -> bytes:
        """The body of the database.update that sends a record."""
        return update_body(record, writes_deleted_false=self.config.writes_deleted_false)

    def signed(self, stored: StoredRecord) -> Message:
        """The signed message of a record. The message is stored, so all read-only peers get the same message."""
        found = self.store.get(stored.record.uuid)
        assert found is not None, "a record is stored before it is sent"
        if found.signed is not None:
            return found.signed
        assert self.keys.read_write_private is not None, "connect() requires the private key of read-write peers"
        body = self.body(found.record)
        message = make_signed_message(body, self.config.signature_profile.sign(body, self.keys.read_write_private))
        self.store.put(replace(found, signed=message))
        return message

    # ---- Ends ----------------------------------------------------------------------------------------------------

    def close_link(self, link: ClubLink, reason: str, effects: Effects) -> None:
        """Close a link on the initiative of this peer."""
        effects.events.append(LinkClosed(link.number, reason))
        self._forget(link, effects)

    def _forget(self, link: ClubLink, effects: Effects) -> None:
        del self.links[link.number]
        self.ask(link.peer_id, effects)

    def _link(self, number: int) -> ClubLink:
        if number not in self.links:
            raise UnknownLinkError(number)
        return self.links[number]

    def _require_key(self) -> None:
        if self.writes and self.keys.read_write_private is None:
            raise ConfigurationError("a read-write peer needs the private key of its level")

    @contextmanager
    def _transaction(self) -> Iterator[Effects]:
        """Commit all changes of an operation, or none."""
        effects = Effects()
        try:
            yield effects
            self.store.commit()
        except BaseException:
            self.store.rollback()
            raise
