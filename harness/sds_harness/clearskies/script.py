"""Builds a schedule of ClearSkies in the way in which a test drives peers: one call, one operation.

Only the implementation knows the uuids and revisions of its changes. A ``Message`` represents such a change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..schedules import script
from . import operations as ops
from .language import CAPABILITY_OF_RESOLUTION, CLEARSKIES


@dataclass(frozen=True)
class Message:
    """An update: a change of a participant, or a message that a scripted peer has written."""

    label: str

    @property
    def altered(self) -> ops.MessageCopy:
        """The message with a changed last digit of its update_time, and with the original signature, which is then
        wrong."""
        return ops.MessageCopy(self.label, altered=True)

    def part(self, begin: int = 0, end: int | None = None) -> ops.MessageCopy:
        """Some bytes of the message; negative numbers count from its end."""
        return ops.MessageCopy(self.label, begin, end)


class Script(script.Script[ops.Member]):
    """A schedule that is being written: each call appends an operation."""

    language = CLEARSKIES

    def __init__(self) -> None:
        super().__init__()
        self._resolution: int | None = None

    def schedule(self, name: str) -> ops.Schedule:
        """The schedule with all operations that were written so far."""
        configuration = {"resolution": self._resolution} if self._resolution is not None else {}
        return ops.Schedule(tuple(self.members), tuple(self.operations), (), tuple(configuration.items()), name=name)

    def advance(self, ms: int) -> None:
        """Let virtual time pass."""
        self.add(ops.Wait(ms))

    def settle(self) -> None:
        """Let time pass until all peers under test are quiet."""
        self.add(ops.Settle())

    def open(
        self,
        name: str = "alice",
        *,
        read_only: bool = False,
        resolution: pb.Resolution | None = None,
        store: bool = False,
    ) -> Part:
        """Open a peer under test; with a ``store``, the peer keeps its records while it is closed.

        All peers of a schedule resolve conflicts in the same way: the last ``resolution`` applies to all.
        """
        if read_only:
            self.need(pb.CAPABILITY_READ_ONLY)
        if resolution is not None:
            self.need(CAPABILITY_OF_RESOLUTION[resolution])
            self._resolution = int(resolution)
        if store:
            self.need(pb.CAPABILITY_STORE)
        self.members.append(ops.Member(name, read_only=read_only, store=store))
        return Part(self, name)

    def peer(self, name: str, *, read_only: bool = False) -> Peer:
        """Make a scripted peer. Its methods add operations to the script."""
        return Peer(self, name, read_only=read_only)


class Part:
    """A peer under test. Its methods append operations of this peer to the script."""

    def __init__(self, script: Script, name: str) -> None:
        self.script = script
        self.name = name
        self._changes = 0

    def after(self, ms: int) -> Part:
        """Let virtual time pass. Returns the peer."""
        self.script.advance(ms)
        return self

    # ---- The application -----------------------------------------------------------------------------------------

    def put(self, key: str, value: Any = None, *, text: str = "", record: str = "", length: int = 0) -> Message:
        """Write a value under a key.

        ``text`` replaces ``value`` and need not be valid JSON. A ``length`` above 0 replaces ``value`` by a string of
        this number of letters. ``record`` is the name of the record, which determines the uuid that the application
        gives.
        """
        if record:
            self.script.need(pb.CAPABILITY_UUID_ACCEPTED)
        label = self._label()
        given = "" if text or length else _json(value)
        self.script.add(ops.Put(self.name, label, key, text, value=given, record=record, length=length))
        return Message(label)

    def rename(self, key: str, new_key: str) -> Message:
        """Give the record with this key another key."""
        label = self._label()
        self.script.add(ops.Rename(self.name, label, key, new_key))
        return Message(label)

    def delete(self, key: str) -> Message:
        """Delete the record with this key."""
        label = self._label()
        self.script.add(ops.Delete(self.name, label, key))
        return Message(label)

    def tick(self) -> None:
        """Run the periodic work that is due."""
        self.script.add(ops.Tick(self.name))

    def observe(self) -> None:
        """Ask for the state of all records."""
        self.script.add(ops.Look(self.name))

    def compare_clocks(self, one: Numbers, other: Numbers) -> None:
        """Ask for a comparison of two vector clocks."""
        self.script.add(ops.CompareClocks(self.name, _entries(one), _entries(other)))

    # ---- Links ---------------------------------------------------------------------------------------------------

    @overload
    def link(self, other: Part) -> PeerLinks: ...

    @overload
    def link(self, other: Peer) -> ScriptLink: ...

    def link(self, other: Part | Peer) -> PeerLinks | ScriptLink:
        """Link to another peer."""
        if isinstance(other, Peer):
            return ScriptLink(self, other)
        self.script.add(ops.LinkPeers(self.name, other.name, second=True))
        return PeerLinks(self, other)

    # ---- Closing and reopening -----------------------------------------------------------------------------------

    def reopen(self, *, forget: bool = False, killed: bool = False) -> None:
        """Close the peer and open it again with its store, without links. ``forget`` removes the store in between;
        ``killed`` kills the process of the peer instead of closing the peer."""
        if not killed:
            self.script.add(ops.Close(self.name))
        self.script.add(ops.Reopen(self.name, forget, killed))

    def _label(self) -> str:
        self._changes += 1
        return self.script.unique_label(f"{self.name}-{self._changes}")


class Peer:
    """A scripted peer. Its methods append operations of this peer to the script."""

    def __init__(self, script: Script, name: str, *, read_only: bool) -> None:
        self.script = script
        self.name = name
        self.read_only = read_only
        self._revision = 1
        self._chosen = False
        self._written = 0

    @property
    def revision(self) -> int:
        """The revision of the last message of the peer. After a value is assigned, the next message has the next
        revision."""
        return self._revision

    @revision.setter
    def revision(self, value: int) -> None:
        self._revision, self._chosen = value, True

    def update(self, key: str, value: Any = None, **more: Any) -> Message:
        """Write a database.update without sending it. ``more`` are further arguments of ``fields``."""
        fields = self.fields(key, value, **more)
        self.script.add(ops.Write(self.name, self.read_only, **fields))
        return Message(fields["label"])

    def message(self, members: Mapping[str, Any]) -> Message:
        """Write a message with any members, without sending it."""
        label = self._label()
        self.script.add(ops.Write(self.name, self.read_only, label, body=_json(members)))
        return Message(label)

    def fields(
        self,
        key: str,
        value: Any,
        *,
        time: str | int = 0,
        after: Message | None = None,
        clock: Numbers | None = None,
        members: Mapping[str, Any] | None = None,
        **rest: Any,
    ) -> dict[str, Any]:
        """The fields of a Write or Say.

        ``time`` is the update_time, as text or in milliseconds after the virtual time. ``after`` is the update whose
        record this update changes. ``clock`` is the vector clock; None to compute it from the earlier updates of the
        peer. ``members`` are added to the members of the update, or replace them.
        """
        self._revision += 1
        fields: dict[str, Any] = {"label": self._label(), "key": key, "value": _json(value)} | rest
        fields |= {"time": time} if isinstance(time, str) else {"at_ms": time}
        fields |= {"after": after.label} if after is not None else {}
        fields |= {"clock": _entries(clock)} if clock is not None else {}
        fields |= {"members": _json(members)} if members is not None else {}
        fields |= {"revision": self._revision} if self._chosen else {}
        return fields

    def _label(self) -> str:
        self._written += 1
        return self.script.unique_label(f"{self.name}-{self._written}")


Numbers = Mapping[Any, int | Message]
"""Revisions or other numbers by peer: a ``Part``, a ``Peer``, or the name of a peer that never appears. A ``Message``
in place of a number means the revision of the message."""


class ScriptLink:
    """A new link between a peer under test and a scripted peer."""

    def __init__(self, part: Part, peer: Peer) -> None:
        self.script = part.script
        self.part = part
        self.peer = peer
        self._ends: dict[str, Any] = {
            "peer": peer.name,
            "to": part.name,
            "read_only": peer.read_only,
            "link": self.script.unique_label(f"{part.name}-{peer.name}"),
        }
        self.script.add(ops.Connect(**self._ends))

    def update(self, key: str, value: Any = None, **more: Any) -> Message:
        """Let the scripted peer send a database.update, signed where the protocol requires it.

        ``more`` are further arguments of ``Peer.fields``.
        """
        fields = self.peer.fields(key, value, **more)
        self.script.add(ops.Say(**self._ends, **fields))
        return Message(fields["label"])

    def send(self, *messages: Message | ops.MessageCopy, joined: bool = False) -> None:
        """Let the scripted peer send messages, or parts of them, one after the other or ``joined`` in one piece."""
        sent = tuple(one.label if isinstance(one, Message) else one for one in messages)
        self.script.add(ops.Send(**self._ends, messages=sent, joined=joined))

    def ask(self, since: Numbers | None = None, **members: Any) -> None:
        """Let the scripted peer send a database.get_updates; ``members`` are added to the request."""
        more = _json(members) if members else ""
        self.script.add(ops.Ask(**self._ends, since=_entries(since or {}), members=more))

    def cut(self) -> None:
        """Let the scripted peer close the link."""
        self.script.add(ops.Leave(**self._ends))


class PeerLinks:
    """The links between two peers under test."""

    def __init__(self, one: Part, other: Part) -> None:
        self.script = one.script
        self._ends = one.name, other.name

    def hold(self) -> PeerLinks:
        """Hold everything that is sent from now on. Returns the line."""
        self.script.add(ops.Hold(*self._ends))
        return self

    def let_through(self, sender: Part, size: int) -> None:
        """Deliver the first ``size`` bytes that ``sender`` has in transit."""
        (other,) = {*self._ends} - {sender.name}
        self.script.add(ops.Release(sender.name, other, size))

    def cut(self) -> None:
        """Break the line. Bytes under way are lost."""
        self.script.add(ops.Unlink(*self._ends))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _entries(numbers: Numbers) -> tuple[ops.Entry, ...]:
    out = []
    for peer, number in numbers.items():
        name = peer if isinstance(peer, str) else peer.name
        out.append(ops.Entry(name, label=number.label) if isinstance(number, Message) else ops.Entry(name, number))
    return tuple(out)
