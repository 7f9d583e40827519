"""Messages that an implementation wrongly shows as logged, in causal histories and in observed states.

A requirement forbids messages such as sync messages or waiting messages in the log. If an implementation shows such a
message as logged, additional or missing entries in its causal histories are a consequence, and not a second fault.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable

from sds_harness.sds.trace import Step
from sds_reference import Kind, Message

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import Received, Sent

Since = dict[str, int]
"""By message ID: the index of the first step that sent or received a message with this ID."""


def _first_step_by_id(messages: Iterable[tuple[Step, Message]], but: set[str]) -> Since:
    since: Since = {}
    for step, message in messages:
        if message.message_id not in but:
            since[message.message_id] = min(step.index, since.get(message.message_id, step.index))
    return since


@cache_per_view
def sync_ids(view: ChannelView) -> Since:
    """IDs of sync messages that are not IDs of content messages as well."""
    own = ((s.step, s.message) for s in view.syncs)
    others = ((r.step, r.message) for r in view.received if r.kind is Kind.SYNC)
    return _first_step_by_id(itertools.chain(own, others), view.known_ids)


@cache_per_view
def ephemeral_ids(view: ChannelView) -> Since:
    """IDs of ephemeral messages, own and received."""
    own = ((s.step, s.message) for s in view.ephemerals)
    others = ((r.step, r.message) for r in view.received if r.kind is Kind.EPHEMERAL and not is_hybrid(r))
    return _first_step_by_id(itertools.chain(own, others), view.known_ids)


@cache_per_view
def hybrid_ids(view: ChannelView) -> Since:
    """IDs of received messages that have no Lamport timestamp, but a causal history or a bloom filter (AMB-31)."""
    return _first_step_by_id(((r.step, r.message) for r in view.received if is_hybrid(r) and not r.own), view.known_ids)


def is_hybrid(received: Received) -> bool:
    """Has the message no Lamport timestamp, like an ephemeral message, but a causal history or bloom filter
    (AMB-31)?
    """
    message = received.message
    return received.kind is Kind.EPHEMERAL and (bool(message.causal_history) or message.bloom_filter is not None)


@cache_per_view
def _waiting_spans(view: ChannelView) -> dict[str, list[tuple[int, int]]]:
    """By ID of waiting content: (index of the step of its arrival, index of the step of its delivery)."""
    waits: dict[str, list[tuple[int, int]]] = {}
    for r in view.received:
        if r.acceptable and r.unmet:
            left = [d.step.index for d in r.delivered] + ([r.delivered_silently.index] if r.delivered_silently else [])
            until = min(left, default=len(view.trace.steps) + 1)
            waits.setdefault(r.message.message_id, []).append((r.step.index, until))
    return waits


def _is_waiting(view: ChannelView, message_id: str, before: int) -> bool:
    return any(since < before <= until for since, until in _waiting_spans(view).get(message_id, ()))


@cache_per_view
def _wait_bounds(view: ChannelView) -> tuple[list[int], list[int]]:
    """Return two lists for a fast search of waiting content.

    The first list has the steps at which content began to wait, ascending. At the same place, the second list has the
    last step at which any of the content that had begun to wait so far still waits.
    """
    waits = sorted(wait for found in _waiting_spans(view).values() for wait in found)
    return [since for since, _ in waits], list(itertools.accumulate((until for _, until in waits), max))


def find_waiting(view: ChannelView, ids: Iterable[str], before: int) -> list[str] | None:
    """The IDs of ``ids`` whose content arrived before step ``before`` and still waits for dependencies.

    None if no content waits at that step.
    """
    begins, latest = _wait_bounds(view)
    place = bisect_left(begins, before)
    if not place or latest[place - 1] < before:
        return None
    waits = _waiting_spans(view)
    return [message_id for message_id in ids if message_id in waits and _is_waiting(view, message_id, before)]


@cache_per_view
def unsent_own_ids(view: ChannelView) -> Since:
    """IDs of content with the participant's own sender ID that it neither sent nor delivered."""
    claimed = (r for arrivals in view.arrivals.values() for r in arrivals if r.own and r.kind is Kind.CONTENT)
    return _first_step_by_id(((r.step, r.message) for r in claimed), view.known_ids)


@cache_per_view
def own_ids_of_other_channels(view: ChannelView) -> set[str]:
    """IDs of own messages of other channels."""
    return {
        step.new.message_id
        for step in view.trace.of(view.party.name)
        if step.command == "send" and step.channel_id != view.channel_id and step.new is not None
    } - view.known_ids


@cache_per_view
def _never_logged(view: ChannelView) -> set[str]:
    """IDs that another requirement, with the level MUST, keeps out of the log at all times.

    IDs of ephemeral messages are not included, because the rule for them is a SHOULD: a causal history that names an
    ephemeral message is still wrong. The empty ID is included, because an entry without an ID belongs to another wire
    layout.
    """
    nothing = {"", *(d.message_id for d in view.delivered if d.received is None)} - view.known_ids
    return own_ids_of_other_channels(view).union(sync_ids(view), unsent_own_ids(view), nothing)


def ids_barred_from_log(view: ChannelView, ids: Iterable[str], before: int) -> set[str]:
    """The IDs of ``ids``, shown as logged before step ``before``, that another requirement keeps out of the log."""
    never, waits = _never_logged(view), _waiting_spans(view)
    if not (never or waits):
        return set()
    return {i for i in ids if i in never or (i in waits and _is_waiting(view, i, before))}


def names_barred_ids(view: ChannelView, sent: Sent) -> bool:
    """Does the causal history of an own message name an ID that another requirement keeps out of the log?"""
    return bool(ids_barred_from_log(view, sent.history, sent.step.index))


@cache_per_view
def shows_own_messages(view: ChannelView) -> bool:
    """Does a causal history or a state ever show an own message as logged?"""
    own = {sent.message.message_id for sent in view.sent if not sent.repeat}
    named = (message_id for sent in view.outgoing for message_id in sent.history)
    logged = (message_id for o in view.states_showing("log") for message_id in o.step.shown_log)
    return any(message_id in own for message_id in itertools.chain(named, logged))


@cache_per_view
def shown_log_is_wrong(view: ChannelView) -> bool:
    """Is a shown log incomplete or out of order? If so, causal histories are wrong as a consequence, because they name
    its last entries.
    """
    for observed in view.states_showing("log"):
        places = {item.message_id: item for item in observed.log}
        shown = observed.step.shown_log
        known = [places[message_id] for message_id in shown if message_id in places]
        if known != sorted(known) or len(known) != len(shown) or not places.keys() <= set(shown):
            return True
    return False
