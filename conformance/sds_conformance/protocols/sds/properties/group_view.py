"""Reads a group trace: the messages and logs of all participants together.

One pass over the steps (acts) of the group trace collects all sent and arrived messages, and the log that each
participant shows or signals. Everything else is computed when a property reads it. As in a channel view, each
participant is judged by the log that it shows itself, so the fault of one participant does not affect the verdicts on
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import ClassVar, TypeVar

from sds_harness.sds.group_trace import Act, GroupTrace
from sds_harness.sds.operations import Calm, StepClock, Write
from sds_harness.sds.stage import bloom_parameters
from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, SDS_2026_01, ForeignFilterError, Kind, Message, Revision

from ..view.facts import is_same_message
from ..view.odd_messages import LARGEST_LAMPORT, ROOM_AFTER, describe_oddity
from .sides import Delivery, Ending, Key, MessageArrival, Origin, Side

OVERLONG = "overlong"
"""The name of an encoding of scripted messages whose varints have more bytes than necessary. A strict reader may refuse
such messages (AMB-52).
"""
NOISE = "noise"
"""The sender of garbled messages in a schedule."""
ENOUGH_ROUNDS = 20
"""Number of rounds after which a calm phase is long enough for all pending work, even if messages are still sent
(G-01).
"""
T = TypeVar("T")
REPAIR_CAP = 3
"""The assumed maximum number of entries in a repair request, if the configuration has no maximum (AMB-86)."""


class GroupView:
    """The messages and logs of all participants, by the rules of SDS."""

    revision: ClassVar[Revision] = SDS_2026_01
    distinguishes_copies: ClassVar[bool] = True
    """Does the specification say how to treat returned own messages and copies of known messages? If it does not, an
    implementation may process such messages again.
    """

    def __init__(self, group_trace: GroupTrace) -> None:
        self.group_trace = group_trace
        self.schedule = group_trace.schedule
        self.sides: dict[Key, Side] = {}
        """By name of a participant and channel ID: the participant's messages, signals and states in the channel."""
        self.ticks: dict[str, list[Act]] = {}
        self.origins: dict[Key, Origin] = {}
        """Content messages, by channel and ID."""
        self.disputed: set[Key] = set()
        """Messages of which there are two versions, and messages with the ID of a garbled message (AMB-25, AMB-52)."""
        self.other_ids: dict[Key, Kind] = {}
        """By (channel ID, message ID) of a sync, ephemeral or undefined message: its kind."""
        self.scripted_ids: set[str] = set()
        """The IDs in causal histories and repair requests of scripted peers."""
        self.odd_messages: set[Key] = set()
        """Messages that participants may refuse."""
        self._syncs: dict[Key, Message] = {}
        """The first sync message with each ID, if the revision logs sync messages; otherwise empty."""
        self._positions: dict[tuple[str, object, str], tuple[tuple[int, int], ...]] = {}
        self._oddness: dict[tuple[int, int], str] = {}
        self._read_messages()
        self._read_acts()

    # ---- participants, and the calm phase --------------------------------------------------------------------------

    @cached_property
    def whole(self) -> bool:
        """Was the schedule played to its end?"""
        return self.group_trace.breakdown is None and not self.group_trace.storm

    @cached_property
    def ending(self) -> Ending | None:
        """The last calm phase; None if there is none, or if it is too short for all pending work."""
        group_trace = self.group_trace
        if not self.whole:
            return None
        for index in range(len(self.schedule.operations) - 1, -1, -1):
            calm = self.schedule.operations[index]
            if not isinstance(calm, Calm) or index not in group_trace.began or index in group_trace.left_out:
                continue
            acts = [act.number for act in group_trace.acts if act.operation == index]
            rounds = max((sum(a.operation == index for a in ticks) for ticks in self.ticks.values()), default=0)
            if not acts or not (group_trace.settled or rounds >= ENOUGH_ROUNDS):
                return None
            return Ending(index, calm, acts[0], acts[-1])
        return None

    @cached_property
    def stepped(self) -> set[str]:
        """The participants whose clocks the schedule sets forward or back."""
        return {operation.who for operation in self.schedule.operations if isinstance(operation, StepClock)}

    @cached_property
    def channels(self) -> dict[str, list[Side]]:
        """The participants of each channel."""
        out: dict[str, list[Side]] = {}
        for side in self.sides.values():
            out.setdefault(side.channel_id, []).append(side)
        return out

    @cached_property
    def steady(self) -> dict[str, list[Side]]:
        """By channel: the participants whose logs can be compared at the end.

        These participants were opened before the last calm phase and did not crash, their logs are visible, and no
        limit or setting allows them to drop messages.
        """
        if self.ending is None:
            return {}
        out = {}
        for channel_id, sides in self.channels.items():
            count = sum(1 for key in self.origins if key[0] == channel_id)
            out[channel_id] = [side for side in sides if self._is_steady(side, count)]
        return out

    def _is_steady(self, side: Side, message_count: int) -> bool:
        assert self.ending is not None
        limit = side.declared.limit("log_entries")
        return (
            side.opened.number < self.ending.first
            and side.who not in self.group_trace.crashed
            and not side.gives_up
            and side.party.in_force.incoming_sweep_ms <= self.ending.calm.period_ms
            and not (side.who in self.stepped and side.party.in_force.incoming_sweep_ms)
            and (limit is None or limit >= message_count)
            and (side.can(pb.CAPABILITY_DELIVERED) or self.final_log(side) is not None)
        )

    def side_of(self, channel_id: str, participant_id: str) -> Side | None:
        """The participant with this ID in a channel; None if there is none."""
        return next((s for s in self.channels.get(channel_id, ()) if s.id == participant_id), None)

    def is_alive(self, channel_id: str, participant_id: str) -> bool:
        """Is there a participant with this ID in a channel, and did it not crash?"""
        side = self.side_of(channel_id, participant_id)
        return side is not None and side.who not in self.group_trace.crashed

    # ---- messages --------------------------------------------------------------------------------------------------

    def message(self, channel_id: str, message_id: str) -> Message | None:
        """The only content message with this ID; None if there is none, or if there are two versions."""
        key = (channel_id, message_id)
        origin = self.origins.get(key)
        return origin.message if origin is not None and key not in self.disputed else None

    def is_sound(self, key: Key) -> bool:
        """Is this message content in a single version, so that every participant must deliver it when its dependencies
        are met?
        """
        return (
            key in self.origins
            and key not in self.disputed
            and key not in self.odd_messages
            and key not in self.other_ids
        )

    def lamport(self, channel_id: str, message_id: str) -> int | None:
        """The Lamport timestamp of a content message; None if the message has none or has two versions, or if the
        timestamp exceeds ``largest_lamport``.
        """
        message = self.message(channel_id, message_id)
        lamport = message.lamport_timestamp if message is not None else None
        return lamport if lamport is not None and lamport <= self.largest_lamport else None

    @cached_property
    def largest_lamport(self) -> int:
        """The largest Lamport timestamp that participants must accept and increase (AMB-14)."""
        return min(LARGEST_LAMPORT, self.revision.wire.max_lamport - ROOM_AFTER)

    def is_regular(self, kind: Kind) -> bool:
        """Do all rules of section "Receive Message" apply to messages of this kind, including the rules for known
        message IDs?
        """
        return kind is Kind.CONTENT or (kind is Kind.SYNC and self.revision.syncs_are_logged)

    def in_order(self, channel_id: str, log: Iterable[T], name: Callable[[T], str]) -> list[T]:
        """The part of a log whose order the specification defines; ``name`` returns the message ID of an entry.

        If the revision logs sync messages, only content is returned, each message once, because the revision does not
        define the place of own sync messages and of messages that arrive again.
        """
        if not self.revision.syncs_are_logged:
            return list(log)
        once = {name(entry): entry for entry in log}
        return [entry for message_id, entry in once.items() if (channel_id, message_id) in self.origins]

    def final_log(self, side: Side) -> tuple[Act, list[str]] | None:
        """Return (step, message IDs) of the last shown log, if it was shown after the last calm phase; else None."""
        for act, state in reversed(side.shown_states):
            if self.ending is not None and act.number < self.ending.last:
                return None
            if state.HasField("log"):
                return act, act.step.shown_log
        return None

    def claims(self, side: Side) -> set[str]:
        """The message IDs in the final log of a participant. If no state shows the log, the delivery signals count."""
        shown = self.final_log(side)
        return set(shown[1]) if shown is not None else set(side.logged)

    def last_act(self, side: Side) -> Act:
        """The step that shows the final log of a participant, or else its last step."""
        shown = self.final_log(side)
        if shown is not None:
            return shown[0]
        ticks = self.ticks.get(side.who, [])
        return ticks[-1] if ticks else side.opened

    # ---- filters ---------------------------------------------------------------------------------------------------

    def filter_hit(self, side: Side, bloom_filter: bytes, message_id: str) -> bool | None:
        """Does a participant find a message ID in a bloom filter? None if unknown."""
        profile, parameters = PROFILES.get(side.declared.profile("bloom")), bloom_parameters(side.party)
        if profile is None or parameters is None:
            return None
        try:
            view = profile.read(bloom_filter, parameters)
        except ForeignFilterError:
            return None
        key = (profile.name, view.parameters, message_id)
        positions = self._positions.get(key)
        if positions is None:
            positions = self._positions[key] = profile.positions(message_id, view.parameters)
        return view.holds(positions)

    def filter_is_complete(self, side: Side) -> bool:
        """Did the participant receive and send too few messages for its bloom filter to drop IDs?

        Copies count, because an implementation may insert them as well (AMB-55, AMB-112).
        """
        c = side.party.in_force
        met = sum(side.copies.values()) + sum(side.ephemerals.values()) + len(side.sent)
        if self.revision.syncs_are_logged:
            met = len(side.received) + sum(side.ephemerals.values()) + len(side.outgoing)
        return bool(c.HasField("bloom_capacity") and met < c.bloom_capacity)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def _read_messages(self) -> None:
        acts = self.group_trace.acts
        for packet in self.group_trace.packets:
            message = packet.wire.message
            if message is None:
                continue
            key = (message.channel_id, message.message_id)
            if not packet.act:
                self.scripted_ids.update(entry.message_id for entry in message.causal_history)
                self.scripted_ids.update(entry.message_id for entry in message.repair_request)
                operation = self.schedule.operations[packet.operation]
                if isinstance(operation, Write) and operation.encoding == OVERLONG:
                    self.odd_messages.add(key)
            if packet.sender == NOISE:
                self.disputed.add(key)
            kind = message.kind
            if kind is not Kind.CONTENT:
                self.other_ids.setdefault(key, kind)
                if self.is_regular(kind) and not is_same_message(self._syncs.setdefault(key, message), message):
                    self.disputed.add(key)
                continue
            known = self.origins.get(key)
            if known is None:
                act = acts[packet.act - 1] if packet.act else None
                own = act is not None and act.step.command == "send"
                self.origins[key] = Origin(message, packet, act if own else None)
            elif known.packet.wire.raw != packet.wire.raw and not is_same_message(known.message, message):
                self.disputed.add(key)

    def _read_acts(self) -> None:
        for act in self.group_trace.acts:
            step = act.step
            command = step.command
            if command == "receive":
                self._arrive(act)
            elif command == "tick":
                self.ticks.setdefault(act.who, []).append(act)
            elif command == "observe":
                self._observe(act, step)
            elif command == "open" and step.answer == "opened":
                self._open(act)
            if step.reply is None or step.answer != "effects":
                continue
            if step.broadcasts:
                self._broadcast(act)
            if step.events:
                self._signal(act)

    def _open(self, act: Act) -> None:
        party = act.trace.parties.get(act.who)
        if party is None:
            return
        for channel_id in party.channels:
            side = Side(act.who, channel_id, party, act.trace.declaration, act)
            side.gives_up = bool(party.in_force.lost_timeout_ms or party.asked.lost_timeout_ms)
            self.sides[act.who, channel_id] = side

    def _broadcast(self, act: Act) -> None:
        for wire in act.step.broadcasts:
            message = wire.message
            side = self.sides.get((act.who, message.channel_id)) if message is not None else None
            if message is None or side is None:
                continue
            kind, asked_for = message.kind, wire is act.step.asked_for
            if (
                kind is Kind.CONTENT
                and asked_for
                and act.step.command == "send"
                and message.message_id not in side.sent
            ):
                side.sent[message.message_id] = act
                side.logged.setdefault(message.message_id, act.number)
                side.outgoing.append((act, message))
            elif kind is Kind.SYNC and message.sender_id == side.id and message.message_id not in side.sent:
                # If the revision logs sync messages, their IDs are unique. Such a revision does not define the
                # treatment of copies.
                if not self.revision.syncs_are_logged or message.message_id not in side.synced:
                    side.outgoing.append((act, message))
                side.synced.add(message.message_id)

    def _arrive(self, act: Act) -> None:
        step, packet = act.step, act.packet
        if packet is None or step.reply is None:
            return
        message = step.received.message if act.source == "again" else packet.wire.message
        side = self.sides.get((act.who, message.channel_id)) if message is not None else None
        if message is None or side is None:
            return
        message_id, kind = message.message_id, message.kind
        if kind is Kind.EPHEMERAL:
            side.ephemerals[message_id] = side.ephemerals.get(message_id, 0) + 1
            side.hybrids += bool(message.causal_history or message.bloom_filter)
        for entry in message.causal_history:
            side.named.setdefault(entry.message_id, act)
        if kind not in (Kind.CONTENT, Kind.SYNC):
            for entry in message.repair_request:  # the request may be honoured or ignored (AMB-84)
                side.requested.setdefault(entry.message_id, []).append(MessageArrival(act, message, packet, False))
            return
        # All copies of a message are acceptable or none is, unless the time of arrival makes a difference.
        which = (id(message), id(side.declared)) if side.declared.limit("lamport_ahead_ms") is None else (act.number, 0)
        why = self._oddness.get(which)
        if why is None:
            most = self.revision.wire.max_lamport
            why = self._oddness[which] = describe_oddity(message, step.now_ms, side.declared.limit, most)
        if why:
            self.odd_messages.add((message.channel_id, message_id))
        taken = message.sender_id != side.id and (step.answer == "effects" or not why)
        arrival = MessageArrival(act, message, packet, taken)
        side.received.append(arrival)
        if taken and self.revision.syncs_are_logged:
            side.first_arrivals.setdefault(message_id, arrival)
        for entry in message.repair_request:
            side.requested.setdefault(entry.message_id, []).append(arrival)
        if kind is Kind.CONTENT:
            side.copies[message_id] = side.copies.get(message_id, 0) + 1
            if taken:
                side.arrivals.setdefault(message_id, arrival)

    def _observe(self, act: Act, step: Step) -> None:
        side = self.sides.get((act.who, step.channel_id))
        if side is None or step.state is None:
            return
        side.shown_states.append((act, step.state))
        for message_id in step.shown_log:
            side.logged.setdefault(message_id, act.number)

    def _signal(self, act: Act) -> None:
        for event in act.step.events:
            side = self.sides.get((act.who, event.channel_id))
            if side is None:
                continue
            match event.kind:
                case "delivered":
                    side.deliveries.append(Delivery(act, event.message_id))
                    if event.message_id in side.arrivals or event.message_id not in side.ephemerals:
                        side.logged.setdefault(event.message_id, act.number)
                case "acknowledged":
                    side.acks.setdefault(event.message_id, act)
                case "possibly_acknowledged":
                    side.possibly.setdefault(event.message_id, act)
                case "lost":
                    side.gives_up = True
