"""The local log: its order, its entries, and the messages that never enter it; sections DELIVER and CONFLICT."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, observe_met, observe_outcome, observe_violation
from .....judging.table import RuleRow
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.declared_limits import limit_in_force
from ...view.dependencies import depends_on
from ...view.facts import Received
from ...view.histories import (
    Since,
    ephemeral_ids,
    find_waiting,
    hybrid_ids,
    ids_barred_from_log,
    is_hybrid,
    names_barred_ids,
    sync_ids,
    unsent_own_ids,
)
from ...view.log_orders import Neighbours, neighbours
from ...view.losses import find_possibly_lost
from ...view.repair_tracker import NEVER


@check("SDS-SYNC-13", pb.CAPABILITY_DELIVERED, of="received sync-came unmet")
def syncs_with_gaps_not_persisted(view: ChannelView) -> Iterator[Observation]:
    """A sync message with unmet dependencies is never delivered or logged, not even after the dependencies arrived."""
    for received in view.received:
        if received.kind is not Kind.SYNC or received.own or not received.unmet:
            continue
        message_id = received.message.message_id
        if message_id in view.known_ids:
            continue
        delivered = [d for d in view.delivered if d.message_id == message_id and d.step.index >= received.step.index]
        if delivered:
            expected = "a sync message never to be delivered"
            yield observe_violation(delivered[0].step, "delivered", expected, f"{message_id!r} is delivered")
        elif received.unmet <= view.logged_ids:
            yield observe_met(received.step)


@check("SDS-RECV-09", pb.CAPABILITY_DELIVERED)
def waiting_messages_stay_invisible(view: ChannelView) -> Iterator[Observation]:
    """A message that waits is not in the log and in no causal history."""
    for sent in view.outgoing:
        named = find_waiting(view, sent.history, sent.step.index)
        if named is None or not sent.log_is_known:
            continue
        shown = next(iter(named), None)
        expected = f"{shown!r}, which still waits, in no causal history"
        yield observe_outcome(sent.step, "logged", shown is None, expected, f"{list(sent.history)}")
    for observed in view.observed:
        waiting = set(observed.buffered)
        if not waiting or not observed.state.HasField("log"):
            continue
        shown = next((i for i in observed.step.shown_log if i in waiting), None)
        expected = f"{shown!r}, which still waits, not in the log"
        yield observe_outcome(observed.step, "logged", shown is None, expected, "the log contains the message")


@check("SDS-RECV-10", pb.CAPABILITY_DELIVERED, of="received sync-came")
def contentless_messages_leave_no_trace(view: ChannelView) -> Iterator[Observation]:
    """A message without content is neither delivered nor logged, whether content is unset or of zero length."""
    logs = [(o, set(o.step.shown_log)) for o in view.states_showing("log")]
    for received in view.received:
        if received.kind is not Kind.SYNC or received.own or received.unmet or received.step.reply is None:
            continue
        message_id = received.message.message_id
        delivered = [event.message_id for event in received.step.events if event.kind == "delivered"]
        later = (o for o, log in logs if message_id in log and o.step.index > received.step.index)
        logged = next(later, None)
        if message_id in delivered:
            expected = "a message without content not to be delivered"
            yield observe_violation(received.step, "delivered", expected, f"{message_id!r} is delivered")
        elif logged is not None and message_id not in view.known_ids:
            expected = f"{message_id!r}, a message without content, not in the log"
            yield observe_violation(logged.step, "logged", expected, "the log contains the message")
        else:
            yield observe_met(received.step)


@check("SDS-EPHEMERAL-05", pb.CAPABILITY_DELIVERED, of="any-ephemeral received unmet")
def ephemerals_meet_no_dependency(view: ChannelView) -> Iterator[Observation]:
    """An ephemeral message with the ID of a missing dependency does not release a waiting message."""
    logged = (d for d in view.delivered if d.received is not None and d.received.kind is Kind.CONTENT)
    came = {(delivery.message_id, delivery.step.index) for delivery in logged}
    waiting: dict[str, list[Received]] = {}
    for received in view.received:
        for message_id in received.unmet if received.acceptable else ():
            waiting.setdefault(message_id, []).append(received)
    for late in view.received:
        if late.kind is not Kind.EPHEMERAL or late.own or is_hybrid(late):
            continue
        message_id = late.message.message_id
        for received in waiting.get(message_id, ()):
            if received.step.index > late.step.index:
                continue
            since = (d for d in received.delivered if d.step.index >= late.step.index and message_id in d.unmet)
            # If content with this ID was delivered in the same step, SDS-DELIVER-07 judges the order.
            freed = [d for d in since if (message_id, d.step.index) not in came]
            if freed and not find_possibly_lost(view, [message_id, freed[0].message_id], freed[0].step):
                why = "an ephemeral message with this ID does not meet the dependency"
                expected = f"{received.message.message_id!r} to wait for {message_id!r}: {why}"
                seen = f"delivered at step {freed[0].step.index}"
                yield observe_violation(freed[0].step, "met-a-dependency", expected, seen)
            elif not freed:
                yield observe_met(late.step)


@check("SDS-STATE-10", pb.CAPABILITY_DELIVERED)
def log_is_complete(view: ChannelView) -> Iterator[Observation]:
    """The log holds every own and every delivered message, and nothing else.

    If no state shows the log, a causal history that has room for the whole log shows it.
    """
    for sent in view.outgoing:
        size = view.history_size_of(sent)
        if sent.log_is_known and not sent.repeat and 0 < sent.log_most <= min(size, len(sent.tail)):
            absent = next((item.message_id for item in sent.before if item.message_id not in sent.history), None)
            if absent is None:
                yield observe_met(sent.step)
            elif not view.can(pb.CAPABILITY_OBSERVE) and not names_barred_ids(view, sent):
                expected = f"{absent!r} in the causal history, which has room for all of the log"
                yield observe_violation(sent.step, "missing-entry", expected, "not there")
    bound = limit_in_force(view.trace, "log_entries")
    for observed in view.states_showing("log"):
        if bound is not None and len(observed.log) > bound:
            continue
        shown = set(observed.step.shown_log)
        sure = {item.message_id for item in observed.log if not item.uncertain}
        strange = shown - view.known_ids - ids_barred_from_log(view, shown, observed.step.index)
        if sure - shown:
            seen = "the log lacks the message"
            yield observe_violation(observed.step, "missing-entry", f"{min(sure - shown)!r} in the log", seen)
        elif strange:
            expected = "only messages of the channel in the log"
            seen = f"{_describe_foreign(view, min(strange))} in the log"
            yield observe_violation(observed.step, "foreign-entry", expected, seen)
        elif sure:
            yield observe_met(observed.step)


def _describe_foreign(view: ChannelView, message_id: str) -> str:
    """The ID, with the kind of messages that have it, if such messages must not be logged."""
    kind = next((kind for kind, (ids_since, _) in _NEVER_LOGGED.items() if message_id in ids_since(view)), "")
    return f"{message_id!r}, the ID of {'an' if kind[0] == 'e' else 'a'} {kind}," if kind else repr(message_id)


_TOO_MANY_PAIRS = 3
"""Minimum number of wrong pairs that prove that the log is in the order of arrival. Fewer pairs may be in this order
by chance; then SDS-CONFLICT-01 is violated.
"""


@check("SDS-DELIVER-05", pb.CAPABILITY_DELIVERED, of="ties")
def ties_resolved_on_insertion(view: ChannelView) -> Iterator[Observation]:
    """The rule "Resolve Conflicts", not the order of arrival, decides the order of messages with equal timestamps."""
    tied = [pair for pair in neighbours(view) if pair.tied and not (pair.first.own or pair.second.own)]
    by_arrival = all(pair.first.arrival < pair.second.arrival for pair in tied)
    wrong = {(pair.first.message_id, pair.second.message_id) for pair in tied if not pair.in_order}
    for pair in tied:
        if not pair.is_late_insertion or (by_arrival and len(wrong) < _TOO_MANY_PAIRS):
            continue
        expected = f"{pair.second.message_id!r} before {pair.first.message_id!r}: equal Lamport, smaller ID"
        seen = "the order of their arrival"
        soft = "AMB-88" if pair.in_utf16_order else ""
        yield observe_outcome(pair.step, "order-of-arrival", not by_arrival, expected, seen, soft)


@check("SDS-DELIVER-06", pb.CAPABILITY_DELIVERED)
def logged_once(view: ChannelView) -> Iterator[Observation]:
    """However often a message arrives, it is in the log once.

    A causal history that names an ID twice proves that the log contains it twice only if the message has arrived twice
    and the participant does not show its log.
    """
    duplicates = [r for r in view.received if r.duplicate]
    twice = {r.message.message_id for r in duplicates if not r.own}
    since = {r.message.message_id: r.step.index for r in reversed(duplicates)}
    for observed in view.observed:
        ids = observed.step.shown_log
        double = _first_duplicate(ids)
        again = since and any(since.get(message_id, NEVER) < observed.step.index for message_id in ids)
        if double is not None or again:
            expected = f"{double!r} once in the log"
            seen = f"{ids.count(double or '')} times"
            yield observe_outcome(observed.step, "logged-twice", double is None, expected, seen)
    for delivery in view.delivered:
        again = delivery.repeated and not delivery.maybe_dropped
        if again and delivery.received is not None and delivery.received.kind is Kind.CONTENT:
            came = [r for r in view.arrivals[delivery.message_id] if r.step.index <= delivery.step.index]
            copies = len(came) > 1 or view.own(delivery.message_id) is not None
            expected = f"{delivery.message_id!r} delivered once"
            seen = f"delivered again at step {delivery.step.index}" + ("" if copies else ", although it arrived once")
            yield observe_violation(delivery.step, "delivered-twice", expected, seen, "AMB-24" if copies else "")
    for sent in view.outgoing:
        double = _first_duplicate(sent.history)
        if double is not None:
            others = ids_barred_from_log(view, sent.history, sent.step.index)
            double = _first_duplicate([message_id for message_id in sent.history if message_id not in others])
        if double is not None:
            is_proof = since.get(double, NEVER) < sent.step.index and not view.can(pb.CAPABILITY_OBSERVE)
            expected = f"{double!r} once in causal_history"
            seen = f"{sent.history.count(double)} times"
            yield observe_violation(sent.step, "logged-twice", expected, seen, "" if is_proof else "AMB-148")
        elif not twice.isdisjoint(sent.history):
            yield observe_met(sent.step)


def _first_duplicate(ids: Sequence[str]) -> str | None:
    if len(set(ids)) == len(ids):
        return None
    counts = Counter(ids)
    return next((message_id for message_id in ids if counts[message_id] > 1), None)


@check("SDS-DELIVER-07", pb.CAPABILITY_DELIVERED, of="delivered never-gives-up unmet")
def delivered_in_causal_order(view: ChannelView) -> Iterator[Observation]:
    """In one step, the dependencies of a message are delivered before it.

    SDS-RECV-05 and SDS-RECV-06 judge dependencies that are delivered in a later step.
    """
    first: dict[str, tuple[int, Step]] = {}
    for number, delivery in enumerate(view.delivered):
        first.setdefault(delivery.message_id, (number, delivery.step))
    for delivery in view.delivered:
        received = delivery.received
        if received is None or received.kind is not Kind.CONTENT or delivery.repeated or not received.unmet:
            continue
        named = [entry.message_id for entry in received.message.causal_history]
        number = first[delivery.message_id][0]
        after = (i for i in named if i in first and first[i][1] is delivery.step and first[i][0] > number)
        late = next((i for i in after if not depends_on(view, i, delivery.message_id)), None)
        expected = f"{late!r} delivered before {delivery.message_id!r}, which names it"
        yield observe_outcome(delivery.step, "delivered-early", late is None, expected, "after it")


DELIVERED = (pb.CAPABILITY_DELIVERED,)


class _Exposure(NamedTuple):
    """A place in a trace that shows whether messages of a kind that must not be logged are logged."""

    step: Step
    kind: str
    """The kind of messages that must not be logged, as in `_NEVER_LOGGED`."""
    place: str
    """The place: a causal history (``history``), a shown log (``log``), or a message that depends on a message of this
    kind (``dependency``).
    """
    wrong: bool
    """Does the place show a message of this kind as logged?"""
    expected: str
    seen: str


_NEVER_LOGGED: dict[str, tuple[Callable[[ChannelView], Since], str]] = {
    "sync message": (sync_ids, "a sync message"),
    "ephemeral message": (ephemeral_ids, "ephemeral"),
    "message without a Lamport timestamp": (hybrid_ids, "without a Lamport timestamp"),
    "message with the participant's sender ID that the participant did not send": (
        unsent_own_ids,
        "not sent by the participant",
    ),
}
"""By kind of message that is never logged: (function that finds the IDs, reason for reports)."""


def never_logged(view: ChannelView) -> Iterator[_Exposure]:
    """Messages that must not be logged are neither shown in the log nor named in causal histories."""
    for kind, (ids_since, _) in _NEVER_LOGGED.items():
        if not (since := ids_since(view)):
            continue
        # The rule is exercised only if a message of this kind arrives: own messages alone are not enough.
        come = min((index for message_id, index in since.items() if message_id in view.arrivals), default=NEVER)
        for sent in view.outgoing:
            at = sent.step.index
            named = next((message_id for message_id in sent.history if since.get(message_id, NEVER) < at), None)
            if named is not None or come < at:
                expected = f"no {kind} in causal_history"
                yield _Exposure(sent.step, kind, "history", named is not None, expected, f"{named!r}")
        for observed in view.states_showing("log"):
            at = observed.step.index
            logged = min((i for i in observed.step.shown_log if since.get(i, NEVER) < at), default=None)
            if logged is not None or come < at:
                expected = f"no {kind} in the log"
                yield _Exposure(observed.step, kind, "log", logged is not None, expected, f"{logged!r} in the log")


def unlogged_dependencies(view: ChannelView) -> Iterator[_Exposure]:
    """A message that depends on an unlogged message is not delivered."""
    for kind, (ids_since, why) in _NEVER_LOGGED.items():
        since = ids_since(view)
        for received in view.received if since and not view.gives_up else ():
            at, wrong = received.step.index, bool(received.delivered)
            on = [message_id for message_id in received.unmet if since.get(message_id, NEVER) < at]
            if on and received.acceptable:
                expected = f"{received.message.message_id!r} to wait: {min(on)!r} is {why}, and never in the log"
                seen = f"delivered at step {received.delivered[0].step.index}" if wrong else ""
                yield _Exposure(received.step, kind, "dependency", wrong, expected, seen)


def _is_exposure_of(kind: str, where: str) -> Callable[[_Exposure], bool]:
    return lambda place: place.kind == kind and place.place == where


_SYNC, _EPHEMERAL, _NO_TIMESTAMP, _NOT_SENT = _NEVER_LOGGED
_RULES = {
    (_SYNC, "history"): ("SDS-SYNC-07", "named-in-history"),
    (_SYNC, "log"): ("SDS-SYNC-09", "logged"),
    (_SYNC, "dependency"): ("SDS-SYNC-09", "met-a-dependency"),
    (_EPHEMERAL, "history"): ("SDS-EPHEMERAL-05", "logged"),
    (_EPHEMERAL, "log"): ("SDS-EPHEMERAL-05", "logged"),
    (_EPHEMERAL, "dependency"): ("SDS-EPHEMERAL-05", "met-a-dependency"),
    (_NO_TIMESTAMP, "history"): ("SDS-EPHEMERAL-06", "logged"),
    (_NO_TIMESTAMP, "log"): ("SDS-EPHEMERAL-06", "logged"),
    (_NO_TIMESTAMP, "dependency"): ("SDS-EPHEMERAL-06", "met-a-dependency"),
    (_NOT_SENT, "history"): ("SDS-RECV-01", "logged"),
    (_NOT_SENT, "log"): ("SDS-RECV-01", "logged"),
}
"""By kind of message and place: the requirement that keeps the messages out of this place, and the code."""


def _rows(*places: str, needs: tuple[int, ...] = ()) -> list[RuleRow[_Exposure]]:
    return [
        RuleRow(requirement, _is_exposure_of(kind, place), attrgetter("wrong"), code, needs=needs)
        for (kind, place), (requirement, code) in _RULES.items()
        if place in places
    ]


table(never_logged, lambda place, _: (place.expected, place.seen), _rows("history", "log"), of="unlogged")
table(
    unlogged_dependencies,
    lambda place, _: (place.expected, place.seen),
    _rows("dependency", needs=DELIVERED),
    of="unmet",
)

_HASH = re.compile("(?:[0-9a-f]{2}){4,}")


def log_order(view: ChannelView) -> Iterable[Neighbours]:
    """The log is in the order of Lamport timestamps, for every order of arrival."""
    return (pair for pair in neighbours(view) if not pair.tied)


def order_of_ties(view: ChannelView) -> Iterable[Neighbours]:
    """Messages with equal Lamport timestamps are in the order of their IDs.

    This holds for own messages, too, and for IDs that are hashes.
    """
    return (pair for pair in neighbours(view) if pair.tied)


def _are_hashes(pair: Neighbours) -> bool:
    return all(_HASH.fullmatch(item.message_id) for item in (pair.first, pair.second))


def _applies_to_every_pair(_: Neighbours) -> bool:
    return True


def _was_inserted_late(pair: Neighbours) -> bool:
    return pair.is_late_insertion


def _is_tie_of_received(pair: Neighbours) -> bool:
    return not (pair.first.own or pair.second.own) and not _are_hashes(pair)


def _is_tie_of_hashes(pair: Neighbours) -> bool:
    alike = len(pair.first.message_id) == len(pair.second.message_id)
    return alike and not (pair.first.own or pair.second.own) and _are_hashes(pair)


def _is_tie_with_own(pair: Neighbours) -> bool:
    return pair.first.own != pair.second.own


def _is_out_of_order(pair: Neighbours) -> bool:
    return not pair.in_order


def _is_in_utf16_order_only(pair: Neighbours) -> bool:
    return not pair.in_order and pair.in_utf16_order


def _describe_order(pair: Neighbours, row: RuleRow[Neighbours]) -> tuple[str, str]:
    first, second = pair.first.message_id, pair.second.message_id
    if not pair.tied:
        return pair.expected, row.why
    why = "equal Lamport timestamps, so the smaller ID (by UTF-8 bytes) first"
    return f"{second!r} before {first!r} in the log: {why}", f"{first!r} before {second!r}"


_OPPOSITE, _BY_ARRIVAL = "in the opposite order", "the order of arrival"

table(
    log_order,
    _describe_order,
    [
        # the columns: requirement, applies, wrong, code, why, position, needs
        RuleRow("SDS-STATE-11", _applies_to_every_pair, _is_out_of_order, "wrong-order", _OPPOSITE, "", DELIVERED),
        RuleRow("SDS-DELIVER-04", _was_inserted_late, _is_out_of_order, "wrong-order", _BY_ARRIVAL, "", DELIVERED),
    ],
    of="log-of-two",
    apart=True,
)
table(
    order_of_ties,
    _describe_order,
    [
        # the columns: requirement, applies, wrong, code, why, position, needs
        RuleRow(
            "SDS-CONFLICT-01", _is_tie_of_received, _is_in_utf16_order_only, "utf16-order", "", "AMB-88", DELIVERED
        ),
        RuleRow("SDS-CONFLICT-01", _is_tie_of_received, _is_out_of_order, "wrong-order", "", "", DELIVERED),
        RuleRow("SDS-CONFLICT-02", _is_tie_of_hashes, _is_in_utf16_order_only, "utf16-order", "", "AMB-88", DELIVERED),
        RuleRow("SDS-CONFLICT-02", _is_tie_of_hashes, _is_out_of_order, "wrong-order", "", "", DELIVERED),
        RuleRow("SDS-CONFLICT-03", _is_tie_with_own, _is_in_utf16_order_only, "utf16-order", "", "AMB-88", DELIVERED),
        RuleRow("SDS-CONFLICT-03", _is_tie_with_own, _is_out_of_order, "wrong-order", "", "", DELIVERED),
    ],
    of="ties",
    apart=True,
)
