"""Finds participants that show no effect of received messages: in events, in states or in the messages that they send.

Section "Receive Message": content whose dependencies are met MUST be delivered. Section "Deliver Message": the delivery
puts the message ID into the log, and raises the local Lamport timestamp to the timestamp of the message. So the next
own message reveals a deaf participant, whatever it declares: by its Lamport timestamp (section "Send Message"), by its
causal history ("the preceding few message IDs in the local history"), and by its bloom filter if that can be read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from sortedcontainers import SortedKeyList

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from ....judging.deafness import Hearing
from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import Received, Sent
from .windows import clock_at

ROLL_OVER_KEEPS = 10
"""Number of IDs that every bloom filter can hold without dropping any, because the suite requests no smaller capacity
(AMB-55).
"""


SWEEP_MS = 60_000
"""The sweep period, in milliseconds, that is assumed if no period is set; shorter periods are possible."""
_NEVER_SENT = "never-sent-by-anybody"
"""An ID that no message has. A bloom filter that contains this ID probably contains every ID, so the filter proves
nothing.
"""


@cache_per_view
def count_shown_messages(view: ChannelView) -> Hearing:
    """Count the valid messages that the participant received in the channel, and those of them that must have a visible
    effect.

    If the channel shows an effect of any message, both counts are 0. The sums of the counts over all channels decide
    whether the participant is deaf.
    """
    if _output_depends_on_others(view):
        return Hearing(shown=True)
    given = _find_valid_content(view)
    due = given if view.can(pb.CAPABILITY_DELIVERED) else _select_visible(view, given)
    return Hearing(len(given), len(due))


def _find_valid_content(view: ChannelView) -> list[Received]:
    """The content messages that the participant must deliver: new, valid, accepted, within the declared limits, and
    with dependencies that are met.
    """
    known = {sent.message.message_id for sent in view.sent}
    given = []
    for received in view.received:
        named = {entry.message_id for entry in received.message.causal_history}
        if received.acceptable and received.step.answer == "effects" and named <= known:
            given.append(received)
            known.add(received.message.message_id)
    return given


def _select_visible(view: ChannelView, given: list[Received]) -> list[Received]:
    """Select the messages of ``given`` whose effect must show in an observed log or in the next own message."""
    last_observed = max((observed.step.index for observed in view.states_showing("log")), default=0)
    named = {id(received) for _, received in named_in_histories(view)}
    sends = [sent for sent in view.outgoing if not sent.repeat and sent.message.lamport_timestamp is not None]
    due = []
    for received in given:
        index = received.step.index
        after = bisect_right(sends, index, key=lambda sent: sent.step.index)
        lamport = sends[after].message.lamport_timestamp or 0 if after < len(sends) else None
        ahead = lamport is not None and lamport < (received.message.lamport_timestamp or 0)
        shown = index < last_observed and view.kept_entries.holds(received.message.message_id, last_observed)
        if shown or ahead or id(received) in named:
            due.append(received)
    return due


def _iterate_log_ends(view: ChannelView) -> Iterator[tuple[Sent | Received, list[Sent | Received]]]:
    """Yield (message, end of the log) for each message in the order of the trace.

    For an own message, the second item has the messages that are the last in the log before it, for every possible
    content of the log and every order of equal timestamps. For other messages it is empty.
    """
    size = view.configuration.causal_history_size if view.configuration.HasField("causal_history_size") else 1
    log: SortedKeyList[Any, int] = SortedKeyList(key=_lamport)
    """Every message that may be in the log."""
    happened: list[Received | Sent] = sorted([*view.received, *view.outgoing], key=lambda one: one.step.index)
    for one in happened:
        last: list[Sent | Received] = []
        if isinstance(one, Sent) and not one.repeat and one.message.lamport_timestamp is not None and size:
            # ``tied`` is the timestamp of the newest message before the last ``size`` entries. Messages with this
            # timestamp may be in any order, so none of them is certainly among the last.
            tied = _lamport(log[-size - 1]) if len(log) > size else -1
            last = [item for item in log[-size:] if _lamport(item) > tied]
        yield one, last
        log.add(one)


@cache_per_view
def named_in_histories(view: ChannelView) -> list[tuple[Sent, Received]]:
    """The tail probes: pairs of an own message, and an accepted message that must be in its causal history.

    Accepted messages that a log of declared size may have dropped are left out.
    """
    given = {received.step.index for received in _find_valid_content(view)}
    return [
        (one, item)
        for one, last in _iterate_log_ends(view)
        for item in last
        if isinstance(one, Sent)
        and isinstance(item, Received)
        and item.step.index in given
        and _is_certainly_logged(view, item, one)
    ]


@cache_per_view
def tail_probes(view: ChannelView) -> list[tuple[Sent, Received]]:
    """The tail probes (`named_in_histories`) of accepted messages whose dependencies are certainly in the log.

    Messages with unreadable bloom filters are included, because such a filter must not prevent the delivery (AMB-53).
    """
    known = {sent.message.message_id for sent in view.sent}
    known |= {message_id for sent in view.outgoing for message_id in sent.history}
    return [
        (sent, received)
        for sent, received in named_in_histories(view)
        if all(entry.message_id in known for entry in received.message.causal_history)
    ]


@cache_per_view
def unblocked_probes(view: ChannelView) -> list[tuple[Sent, Received, Step]]:
    """The tail probes (`named_in_histories`) in which the accepted message waited and then enough sweeps ran.

    Returns (own message, message that waited, step at which its last dependency arrived). One sweep may deliver one
    level of a chain of waiting messages, or all levels (AMB-94).
    """
    if view.gives_up:
        return []
    levels: dict[str, int] = {}
    """By ID of a message that must be in the log after enough sweeps: the number of sweeps that may be necessary."""
    freed: dict[int, tuple[Step, int]] = {}
    waiting: dict[str, Received] = {}
    out: list[tuple[Sent, Received, Step]] = []
    for one, last in _iterate_log_ends(view):
        for item in last:
            since, level = freed.get(item.step.index, (None, 0))
            if since is None or not isinstance(one, Sent) or not isinstance(item, Received):
                continue
            if count_sweeps(view, since, one.step) > level and _is_certainly_logged(view, item, one):
                out.append((one, item, since))
        if isinstance(one, Received) and one.acceptable and one.step.answer == "effects":
            waiting.setdefault(one.message.message_id, one)
        elif isinstance(one, Sent) and not one.repeat:
            levels[one.message.message_id] = 0
        met = True
        while met:
            met = False
            for message_id, received in list(waiting.items()):
                named = {entry.message_id for entry in received.message.causal_history}
                if named <= levels.keys():
                    del waiting[message_id]
                    at_once = received is one
                    levels[message_id] = 0 if at_once else 1 + max((levels[i] for i in named), default=0)
                    if not at_once:
                        freed[received.step.index] = one.step, levels[message_id]
                    met = True
    return out


def count_sweeps(view: ChannelView, first: Step, last: Step | None = None) -> int:
    """The number of sweeps of the incoming buffer that certainly ran between two steps, or after ``first``.

    If the implementation uses its own clock, a tick proves a sweep only if the sweep period is 0, because each tick
    then runs a sweep.
    """
    c = view.configuration
    period = c.incoming_sweep_ms if c.HasField("incoming_sweep_ms") else SWEEP_MS
    if period and not view.can(pb.CAPABILITY_VIRTUAL_CLOCK):
        return 0
    count, since = 0, first.now_ms
    for tick in view.ticks:
        if first.index < tick.index and (last is None or tick.index < last.index):
            if not period or tick.now_ms >= since + period:
                count, since = count + 1, tick.now_ms
            since = min(since, tick.now_ms)
    return count


def _is_certainly_logged(view: ChannelView, received: Received, by: Sent) -> bool:
    """Is a received message certainly still in a log of declared size when an own message is created?"""
    before = by.step.index if by.step.command == "receive" else by.step.index - 1
    return view.kept_entries.holds(received.message.message_id, before)


def _lamport(one: Received | Sent) -> int:
    return one.message.lamport_timestamp or 0


def _output_depends_on_others(view: ChannelView) -> bool:
    """Does any output of the participant depend on messages of other participants?"""
    if view.delivered or view.acks:
        return True
    others = {message_id for message_id, came in view.arrivals.items() if not all(r.own for r in came)}
    others |= {entry.message_id for r in view.received if not r.own for entry in r.message.causal_history}
    steps = list(view.trace.of(view.party.name))
    others -= {m.message_id for step in steps if step.command.startswith("send") for m in step.messages}
    return any(_step_names_any(view, step, others) for step in steps) or _clock_or_filter_follows_others(view)


def _step_names_any(view: ChannelView, step: Step, others: set[str]) -> bool:
    """Does a signal, a sent message or a state of the step contain one of the IDs ``others``?"""
    events = (event for event in step.events if event.channel_id == view.channel_id)
    if any(not others.isdisjoint(event.message_ids) for event in events):
        return True
    for message in step.messages:
        if message.channel_id != view.channel_id:
            continue
        named = [message.message_id, *(entry.message_id for entry in message.causal_history)]
        if not others.isdisjoint([*named, *(entry.message_id for entry in message.repair_request)]):
            return True
    state = step.state if step.channel_id == view.channel_id else None
    if state is None:
        return False
    shown = {*step.shown_log, *state.incoming.message_ids}
    shown |= {
        entry.message_id for buffer in (state.outgoing_repairs, state.incoming_repairs) for entry in buffer.entries
    }
    return not others.isdisjoint(shown)


def _clock_or_filter_follows_others(view: ChannelView) -> bool:
    """Did a received timestamp ahead of the clock increase the timestamp of a sent message, or does a sent filter hold
    received IDs?
    """
    for sent in view.outgoing:
        before = [
            r for r in view.received if r.step.index < sent.step.index and not r.own and r.step.answer == "effects"
        ]
        lamport = sent.message.lamport_timestamp
        if lamport is None or sent.repeat or not before:
            continue
        own = [s.message.lamport_timestamp or 0 for s in view.outgoing if s.step.index < sent.step.index]
        alone = max([clock_at(view.trace, sent.step.now_ms).high, *(value + 1 for value in own)])
        if any(alone < (r.message.lamport_timestamp or 0) < lamport for r in before):
            return True
        holds = view.filter_of(sent.message.bloom_filter)
        ids = [r.message.message_id for r in before if r.kind is Kind.CONTENT]
        few = 0 < len(ids) <= ROLL_OVER_KEEPS
        if holds is not None and few and all(holds(i) is True for i in ids) and not holds(_NEVER_SENT):
            return True
    return False


def nothing_is_pending_after(view: ChannelView, received: Received) -> bool:
    """Did two sweeps run after the message and after the last delivery, so that no delivery is pending?"""
    last = max((delivery.step.index for delivery in view.delivered), default=0)
    return count_sweeps(view, view.trace.steps[max(last, received.step.index) - 1]) >= 2
