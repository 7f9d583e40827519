"""Drives peers under test in schedules of ClearSkies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, overload

from clearskies_proto.testee.v1 import testee_pb2 as pb

from ..stage import ScheduleStoppedError
from .links import PeerLink, ScriptedLink
from .peer import ScriptedPeer
from .trace import Party, Step

if TYPE_CHECKING:
    from .stage import Stage


class Actor:
    """A peer under test, driven by a schedule. Its messages arrive at the other end of the link immediately, unless the
    schedule holds the link."""

    def __init__(self, stage: Stage, party: Party, opening: pb.Open) -> None:
        self.stage = stage
        self.party = party
        self._opening = opening
        self.is_open = True

    @property
    def name(self) -> str:
        return self.party.name

    @property
    def peer_id(self) -> str:
        """The ID of the peer: 32 lower-case hex digits."""
        return self.party.peer_id

    def after(self, milliseconds: int) -> Actor:
        """Let virtual time pass. Returns the actor."""
        self.stage.advance(milliseconds)
        return self

    # ---- The application -----------------------------------------------------------------------------------------

    def put(self, key: str, value: Any = None, *, uuid: str = "", text: str | None = None) -> Step:
        """Write a value under a key; ``text`` replaces ``value`` and need not be valid JSON."""
        if uuid:
            self.stage.need(pb.CAPABILITY_UUID_ACCEPTED)
        json_text = json.dumps(self.stage.value(value), ensure_ascii=False) if text is None else text
        key = self.stage.label(key)
        return self._change(pb.Request(put=pb.Put(**self._address, key=key, value=json_text, uuid=uuid)))

    def rename(self, key: str, new_key: str) -> Step:
        """Give the record with this key another key."""
        self.stage.need(pb.CAPABILITY_RENAME)
        key, new_key = self.stage.label(key), self.stage.label(new_key)
        return self._change(pb.Request(rename=pb.Rename(**self._address, key=key, new_key=new_key)))

    def delete(self, key: str) -> Step:
        """Delete the record with this key."""
        return self._change(pb.Request(delete=pb.Delete(**self._address, key=self.stage.label(key))))

    def tick(self) -> Step:
        """Run the periodic work that is due now."""
        return self._change(pb.Request(tick=pb.Tick(**self._address)))

    def observe(self, *uuids: str) -> pb.State | None:
        """The state of the records with these uuids, of all records without ``uuids``; None if it cannot be
        observed."""
        if not self.stage.trace.declaration.can(pb.CAPABILITY_OBSERVE):
            return None
        return self.do(pb.Request(observe=pb.Observe(**self._address, uuids=uuids))).state

    # ---- Links ---------------------------------------------------------------------------------------------------

    @overload
    def link(self, other: Actor) -> PeerLink: ...

    @overload
    def link(self, other: ScriptedPeer) -> ScriptedLink: ...

    def link(self, other: Actor | ScriptedPeer) -> PeerLink | ScriptedLink:
        """Make a link to another peer, without the handshake of the core protocol. Raises ScheduleStoppedError if a
        peer refuses the link."""
        if isinstance(other, Actor):
            return self.stage.network.join(self, other)
        return self.stage.network.join_scripted(self, other)

    # ---- Closing and reopening -----------------------------------------------------------------------------------

    def close(self) -> Step:
        """Free the peer, which breaks its links."""
        step = self.do(pb.Request(close=pb.Close(**self._address)))
        self.is_open = False
        self.stage.forget_handle(self.party)
        self.stage.network.remove_peer(self)
        return step

    def reopen(self, *, forget: bool = False, killed: bool = False) -> Actor:
        """Close the peer if it is open, and open it again with its store; ``forget`` gives it a fresh store. The
        reopened peer has no links. Raises ScheduleStoppedError if the implementation refuses to open it.

        ``killed`` opens it with a copy of its store that was made before it was closed, as if its process had been
        killed. Raises ScheduleStoppedError if the store is not on this machine.
        """
        if killed:
            copy = self.stage.copy_store(self._opening.store)
            path, self._opening.store = self._opening.store, copy
            self.close()
            self.stage.need_store_at(path)
        if self.is_open:
            self.close()
        if forget and self._opening.store:
            self._opening.store = self.stage.store_path(self.name)
        self.stage.enter(self.party, self._opening)
        self.is_open = True
        self.stage.add_bystanders(self)
        return self

    def do(self, request: pb.Request) -> Step:
        """Send one command. Raises ScheduleStoppedError if the peer is closed."""
        if not self.is_open:
            raise ScheduleStoppedError(f"{self.name} is closed")
        return self.stage.step(self.name, request)

    @property
    def _address(self) -> dict[str, Any]:
        return {"now_ms": self.stage.now_ms, "handle": self.party.handle}

    def _change(self, request: pb.Request) -> Step:
        step = self.do(request)
        self.stage.network.send_output(self, step)
        self.stage.network.carry()
        return step
