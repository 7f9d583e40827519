"""What an implementation shows as its log without right: in causal histories, and where it shows its state.

Whatever does not belong in the log for a reason of its own, being a sync message or one that waits, has a requirement
of its own. What follows from it, that a history then has an entry more, or lacks another, is no second fault.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from sds_reference import Kind

from ....judging.once import once
from .channel_view import ChannelView
from .facts import Received, Sent


def sync_ids(view: ChannelView, before: int) -> set[str]:
    """IDs of sync messages before a step that no content message has, too."""
    ids = [s.message.message_id for s in view.syncs if s.step.index < before]
    ids += [r.message.message_id for r in view.received if r.kind is Kind.SYNC and r.step.index < before]
    return {message_id for message_id in ids if message_id not in view.known_ids}


def ephemeral_ids(view: ChannelView, before: int) -> set[str]:
    """IDs of ephemeral messages before a step, own and received."""
    messages = [(r.step, r.message) for r in view.received if r.kind is Kind.EPHEMERAL and not is_hybrid(r)]
    messages += [(sent.step, sent.message) for sent in view.ephemerals]
    return {message.message_id for step, message in messages if step.index < before} - view.known_ids


def hybrid_ids(view: ChannelView, before: int) -> set[str]:
    """IDs of received messages before a step that have no Lamport timestamp, and a causal history all the same."""
    taken = (r for r in view.received if is_hybrid(r) and not r.own)
    return {r.message.message_id for r in taken if r.step.index < before} - view.known_ids


def is_hybrid(received: Received) -> bool:
    """No Lamport timestamp, hence ephemeral, but with what else synchronisation needs (AMB-31)."""
    message = received.message
    return received.kind is Kind.EPHEMERAL and (bool(message.causal_history) or message.bloom_filter is not None)


def waiting_ids(view: ChannelView, before: int) -> set[str]:
    """IDs of content that has arrived before a step and waits for dependencies."""
    return {
        r.message.message_id
        for r in view.received
        if r.acceptable and r.unmet and r.step.index < before
        if not any(d.step.index < before for d in r.delivered)
    }


def claimed_ids(view: ChannelView, before: int) -> set[str]:
    """IDs of content before a step that came in the participant's own name, and that it has not sent or delivered."""
    claimed = (r for arrivals in view.arrivals.values() for r in arrivals if r.own and r.kind is Kind.CONTENT)
    return {r.message.message_id for r in claimed if r.step.index < before} - view.known_ids


def foreign_ids(view: ChannelView) -> set[str]:
    """IDs of own messages of other channels."""
    return {
        step.first.message_id
        for step in view.trace.of(view.party.name)
        if step.command == "send" and step.channel_id != view.channel_id and step.first is not None
    } - view.known_ids


@once
def _never_logged(view: ChannelView) -> set[str]:
    """IDs that belong in no log, whenever it is looked at, by the rule of another requirement that weighs as much: what
    is said of ephemeral messages is a SHOULD, and a history that names one is wrong all the same. An entry without ID
    has another layout."""
    end = len(view.trace.steps) + 1
    nothing = {"", *(d.message_id for d in view.delivered if d.received is None)} - view.known_ids
    return sync_ids(view, end) | foreign_ids(view) | claimed_ids(view, end) | nothing


def outsiders(view: ChannelView, ids: Iterable[str], before: int) -> set[str]:
    """Those of the IDs, shown as in the log before a step, that another requirement keeps out of it."""
    shown = set(ids)
    return shown & (_never_logged(view) | waiting_ids(view, before)) if shown else shown


def with_outsiders(view: ChannelView, sent: Sent) -> bool:
    """Does its causal history name what another requirement keeps out of the log?"""
    known = _known_outsiders(view)
    if sent.step.index not in known:
        known[sent.step.index] = bool(outsiders(view, sent.history, sent.step.index))
    return known[sent.step.index]


@once
def _known_outsiders(_: ChannelView) -> dict[int, bool]:
    """Kept by step, for many checks ask about the same history."""
    return {}


@once
def own_are_shown(view: ChannelView) -> bool:
    """Is an own message ever shown as in the log, by a causal history or by the state?"""
    own = {sent.message.message_id for sent in view.sent if not sent.repeat}
    named = (message_id for sent in view.outgoing for message_id in sent.history)
    logged = (entry.message_id for o in view.showing("log") for entry in o.state.log.entries)
    return any(message_id in own for message_id in itertools.chain(named, logged))


@once
def log_is_astray(view: ChannelView) -> bool:
    """Is a log shown that is not in order, or not complete? Its end is another one then, and the fault is the log's."""
    for observed in view.showing("log"):
        places = {item.message_id: item for item in observed.log}
        shown = [entry.message_id for entry in observed.state.log.entries]
        known = [places[message_id] for message_id in shown if message_id in places]
        if known != sorted(known) or len(known) != len(shown) or any(i.message_id not in shown for i in observed.log):
            return True
    return False
