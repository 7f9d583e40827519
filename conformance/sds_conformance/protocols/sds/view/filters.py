"""Finds out which message IDs bloom filters contain, even if only the implementation knows their encoding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import Any

from sds_harness.sds.actor import is_filter_maker
from sds_harness.sds.stage import bloom_parameters
from sds_harness.sds.trace import Step, Trace
from sds_harness.trace import Party
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, ForeignFilterError

ENOUGH = 4
"""If a filter holds this number of IDs, it is not by chance: the probability is negligible, because the rate of false
positives is 0.1 % to 1 %.
"""

Membership = Callable[[str], bool | None]
"""A function that returns whether a bloom filter holds a message ID, or None if this is unknown."""
EvidenceLookup = Callable[[bytes], Membership | None]
"""A function that returns the `Membership` function of a bloom filter, from the evidence of a trace; None if there is
no evidence.
"""


def read_filter(trace: Trace, party: Party, bloom_filter: bytes | None, look_up: EvidenceLookup) -> Membership | None:
    """Return a function that tells whether a bloom filter contains an ID; None if the filter cannot be read.

    The filter is read with the declared bloom profile. Without a known profile, ``look_up`` gives the function.
    """
    if bloom_filter is None:
        return None
    profile, parameters = PROFILES.get(trace.declaration.profile("bloom")), bloom_parameters(party)
    if profile is None or parameters is None:
        return look_up(bloom_filter)
    try:
        return profile.read(bloom_filter, parameters).__contains__
    except ForeignFilterError:
        return None


def holds_nothing(_: str) -> bool:
    """Tell that a bloom filter contains no ID, because the filter must be ignored."""
    return False


def read_received_filter(
    trace: Trace, party: Party, bloom_filter: bytes | None, look_up: EvidenceLookup
) -> Membership | None:
    """Return a function that tells whether a received bloom filter contains an ID; None if its members are unknown.

    An empty filter holds nothing. A filter that is too short for the declared profile is ignored (AMB-53). A filter
    that is too long may begin with a valid filter, so its members are unknown. A filter that declares another size than
    the participant's may be ignored or read, so its members are unknown, too.
    """
    if bloom_filter is None:
        return None
    if not bloom_filter:
        return holds_nothing
    profile, parameters = PROFILES.get(trace.declaration.profile("bloom")), bloom_parameters(party)
    if profile is None or parameters is None:
        return look_up(bloom_filter)
    try:
        view = profile.read(bloom_filter, parameters)
    except ForeignFilterError:
        empty = profile.wrap(bytes(parameters.byte_length), parameters)
        return holds_nothing if len(bloom_filter) < len(empty) else None
    if view.parameters == parameters:
        return view.__contains__
    return lambda message_id: None if message_id in view else False


def holds_all(holds: Membership, message_ids: Collection[str]) -> bool | None:
    """Are all of ``message_ids`` in a filter? None if some are unknown, and the others are in the filter."""
    known = True
    for message_id in message_ids:
        answer = holds(message_id)
        if answer is False:
            return False
        known &= answer is not None
    return True if known else None


def find_missing(holds: Membership, message_ids: Collection[str]) -> str:
    """One of ``message_ids`` that is certainly not in a filter; "" if there is none."""
    return next((message_id for message_id in message_ids if holds(message_id) is False), "")


class KnownFilters:
    """The evidence of a trace about the IDs in unreadable filters, by the bytes of the filter.

    The evidence is computed on demand, because readable filters do not need it.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def received_filter(self, bloom_filter: bytes) -> Membership | None:
        """Return a function that tells whether a received filter contains an ID. The evidence is an answer of the
        codec, or the IDs from which the filter was built. None if there is no evidence.

        A filter that was not built in the trace and is too short is ignored, even if the codec reads it (AMB-53).
        """
        if len(bloom_filter) < self._half_length and bloom_filter not in self._constructed:
            return holds_nothing
        return self._given.get(bloom_filter)

    def sent_filter(self, bloom_filter: bytes) -> Membership | None:
        """Return a function that tells whether a sent filter contains an ID. The evidence is an answer of the codec, or
        the reaction of a participant that received the filter. None if there is no evidence.

        A filter with the same bytes that was built before proves nothing, because an implementation may send the same
        bytes in every message.
        """
        return self._sent.get(bloom_filter)

    @cached_property
    def _half_length(self) -> int:
        """Half the length, in bytes, of the filters that were sent, if all have the same length; else 0.

        Shorter bytes are not a valid filter. The lengths of valid filters differ if the encoding compresses filters.
        """
        filters = {len(sent.bloom_filter) for step in self.trace.steps for sent in step.messages if sent.bloom_filter}
        return (filters.pop() // 2 if len(filters) == 1 else 0) if not _has_several_sizes(self.trace) else 0

    # An answer to a query is stronger evidence than the IDs from which a filter was built, because a full filter may
    # have dropped the oldest IDs.

    @cached_property
    def _given(self) -> dict[bytes, Membership]:
        return _memberships(self._constructed, self._queried)

    @cached_property
    def _constructed(self) -> dict[bytes, dict[str, bool]]:
        return _constructed_filters(self.trace)

    @cached_property
    def _sent(self) -> dict[bytes, Membership]:
        return _memberships(echoed_filters(self.trace), self._queried)

    @cached_property
    def _queried(self) -> dict[bytes, dict[str, bool]]:
        """By filter: the answers of the codec to queries, by message ID."""
        out: dict[bytes, dict[str, bool]] = {}
        for step in self.trace.steps:
            if step.reply is not None and step.answer == "membership":
                query: Any = step.request.query_filter
                out.setdefault(query.bloom_filter, {}).update(
                    zip(query.message_ids, step.reply.membership.hits, strict=False)
                )
        return out


def _has_several_sizes(trace: Trace) -> bool:
    """Do participants in the trace use filters of several sizes? If so, the length of a filter does not show whether it
    is valid.
    """
    sizes = {(party.asked.bloom_capacity, party.asked.bloom_error_rate) for party in trace.parties.values()}
    return len(sizes) > 1


def _memberships(
    evidence: dict[bytes, dict[str, bool]], stronger: dict[bytes, dict[str, bool]]
) -> dict[bytes, Membership]:
    out: dict[bytes, Membership] = {}
    for bloom_filter in {**evidence, **stronger}:
        known = {**evidence.get(bloom_filter, {}), **stronger.get(bloom_filter, {})}
        out[bloom_filter] = known.get
    return out


def _constructed_filters(trace: Trace) -> dict[bytes, dict[str, bool]]:
    """The filters that the codec built, or that a participant built from received IDs, with the IDs in each.

    Whether a filter holds other IDs is unknown, because it may hold any ID by chance. A filter that got more IDs than
    its capacity certainly holds only the newest IDs (AMB-55).
    """
    out: dict[bytes, dict[str, bool]] = {}
    usual = next((_capacity(party) for party in trace.parties.values() if not party.asked.bloom_capacity), 0)
    taken: dict[tuple[str, str], list[str]] = {}
    for step in trace.steps:
        if step.reply is not None and step.answer == "filter":
            asked: pb.BuildFilter = step.request.build_filter
            members = _certain_members(asked.message_ids, asked.bloom_capacity or usual)
            out.setdefault(step.reply.filter.bloom_filter, {}).update(dict.fromkeys(members, True))
        elif is_filter_maker(step.participant):
            if (received := step.arrived) is not None:
                taken.setdefault((step.participant, received.channel_id), []).append(received.message_id)
            for sent in step.messages:
                if sent.bloom_filter is not None:
                    received_ids = taken.get((step.participant, sent.channel_id), [])
                    members = _certain_members(received_ids, _capacity(trace.parties[step.participant]))
                    out.setdefault(sent.bloom_filter, {}).update(dict.fromkeys(members, True))
    return out


def _capacity(party: Party) -> int:
    """The declared capacity of a participant's filter, in IDs; 0 if there is none."""
    capacity: int = party.in_force.bloom_capacity
    return capacity


def _certain_members(message_ids: Iterable[str], capacity: int) -> list[str]:
    """The IDs that a filter of this capacity certainly holds after all ``message_ids`` were added in this order."""
    members = list(dict.fromkeys(message_ids))
    return members if not capacity or len(members) <= capacity else members[-max(1, capacity // 10) :]


def echoed_filters(trace: Trace) -> dict[bytes, dict[str, bool]]:
    """The IDs in filters that a second participant of the same implementation received (the echo probe).

    The second participant signals which of its own messages are possibly acknowledged, so it shows which of their IDs
    the filter holds, whatever the encoding. Only the first filter that holds a message counts: later filters cause no
    signal. A participant that never signals on arrival may signal in its next sweep (AMB-143). Such signals count if
    exactly one filter arrived since the previous sweep.
    """
    out: dict[bytes, dict[str, bool]] = {}
    if not trace.declaration.can(pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED):
        return {}
    outstanding: dict[tuple[str, str], set[str]] = {}
    prompt = {step.participant for step in trace.steps if step.command == "receive" and _signalled_messages(step)}
    unread: dict[tuple[str, str], list[tuple[bytes, set[str]]]] = {}
    for step in trace.steps:
        if step.command == "send" and step.new is not None:
            outstanding.setdefault((step.participant, step.channel_id), set()).add(step.new.message_id)
        signalled = _signalled_messages(step)
        message = step.arrived if step.answer == "effects" else None
        if message is not None and message.sender_id != step.participant:
            mine = outstanding.get((step.participant, message.channel_id), set())
            mine -= {entry.message_id for entry in message.causal_history}
            readable = mine and message.lamport_timestamp is not None and message.bloom_filter is not None
            if readable and message.bloom_filter is not None and step.participant not in prompt:
                unread.setdefault((step.participant, message.channel_id), []).append((message.bloom_filter, set(mine)))
            elif readable and message.bloom_filter is not None:
                signals = {message_id: (message.channel_id, message_id) in signalled for message_id in mine}
                out.setdefault(message.bloom_filter, {}).update(signals)
        if step.command == "tick":
            for key in [key for key in unread if key[0] == step.participant]:
                came = unread.pop(key)
                bloom_filter, asked = came[0]
                if len(came) == 1:
                    signals = {message_id: (key[1], message_id) in signalled for message_id in asked}
                    out.setdefault(bloom_filter, {}).update(signals)
        # Other messages, such as ephemeral messages, may acknowledge own messages as well.
        for channel_id, message_id in signalled:
            outstanding.get((step.participant, channel_id), set()).discard(message_id)
    return out


def _signalled_messages(step: Step) -> set[tuple[str, str]]:
    """Return (channel ID, message ID) of each own message that a step signals as acknowledged or possibly
    acknowledged.
    """
    kinds = ("acknowledged", "possibly_acknowledged")
    signals = (event for event in step.events if event.kind in kinds)
    return {(event.channel_id, message_id) for event in signals for message_id in event.message_ids}
