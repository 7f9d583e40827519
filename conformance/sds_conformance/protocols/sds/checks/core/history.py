"""Causal histories: their entries, the order of the entries, and their retrieval hints."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry

from .....judging.judgement import Observation, observe_met, observe_note, observe_outcome, observe_violation
from .....judging.view_cache import cache_per_view
from ...register import check
from ...view.channel_view import ChannelView
from ...view.deafness import tail_probes, unblocked_probes
from ...view.declared_limits import limit_in_force
from ...view.facts import Received, Sent
from ...view.histories import ids_barred_from_log, names_barred_ids, shown_log_is_wrong, shows_own_messages
from ...view.lateness import may_be_delivered_late


@cache_per_view
def _expected_histories(view: ChannelView) -> list[tuple[Sent, list[str]]]:
    """(Own message, IDs that belong in its causal history): the last entries of the log, oldest first.

    Messages are left out if the log before them is unknown. They are also left out if the first of these entries and
    the entry before it have equal Lamport timestamps, because another requirement judges their order.
    """
    ends = []
    for sent in view.outgoing:
        size = view.history_size_of(sent)
        if not size or not sent.log_is_known or sent.repeat:
            continue
        before = sent.before
        expected = [item.message_id for item in before[-size:]]
        edge = len(before) - len(expected) - 1
        tied = bool(expected) and edge >= 0 and before[edge].lamport == before[edge + 1].lamport
        if not tied and all(view.kept_entries.holds(i, sent.step.index - 1) for i in expected):
            ends.append((sent, expected))
    return ends


@check("SDS-SEND-04", of="sent")
def history_is_the_end_of_the_log(view: ChannelView) -> Iterator[Observation]:
    """The causal history holds the last n IDs of the log, even after late arrivals."""
    return _judge_histories(view, syncs=False)


@check("SDS-SYNC-04", pb.CAPABILITY_SYNC, of="syncs")
def sync_history(view: ChannelView) -> Iterator[Observation]:
    """A sync message has the same causal history as a content message would have."""
    return _judge_histories(view, syncs=True)


def _judge_histories(view: ChannelView, *, syncs: bool) -> Iterator[Observation]:
    """Judge whether causal histories hold the end of the log.

    Other requirements judge missing own messages (SDS-SEND-11), entries that belong in no log, and logs in the wrong
    order, whose end has other messages.
    """
    for sent, end in _expected_histories(view):
        if sent.sync is syncs and (end or not syncs):
            entries, wanted = set(sent.history), set(end)
            own = any(item.own for item in sent.before)
            if entries == wanted:
                yield observe_met(sent.step)
            elif (
                not (own and not shows_own_messages(view))
                and not names_barred_ids(view, sent)
                and not shown_log_is_wrong(view)
            ):
                code = "missing-entry" if entries < wanted else "too-many-entries"
                code = code if entries < wanted or entries > wanted else "wrong-entries"
                seen = f"{list(sent.history)}"
                yield observe_violation(sent.step, code, f"the last {len(end)} IDs of the log, {end}", seen)


def histories_of_default_size(view: ChannelView) -> list[Sent]:
    """Own content messages whose causal history has the default size. Left out are messages sent with fewer than three
    messages in the log.
    """
    if view.party.asked.HasField("causal_history_size"):
        return []
    return [sent for sent in view.sent if sent.log_is_known and sent.log_size >= 3 and not sent.repeat]


@check("SDS-SEND-07", of="sent")
def two_entries_by_default(view: ChannelView) -> Iterator[Observation]:
    """Without configuration, a causal history has the recommended two entries."""
    for sent in histories_of_default_size(view):
        if len(sent.history) == 2:
            yield observe_met(sent.step)
        else:
            # The size in force is stated once for all messages, unless this message contradicts it.
            reported = view.configuration.causal_history_size
            size = reported if reported not in (0, 2) else len(sent.history)
            note = f"causal histories of {size} entries by default; the specification recommends 2"
            yield observe_note(sent.step, note)


@check("SDS-SEND-05", of="outgoing")
def history_is_ordered(view: ChannelView) -> Iterator[Observation]:
    """Causal histories are in log order, all oldest first or all newest first.

    They are not judged if a shown log is incomplete or in the wrong order.
    """
    direction = 0
    for sent in view.outgoing:
        lamports = sent.named_lamports
        steps = [(b > a) - (b < a) for a, b in itertools.pairwise(lamports) if a != b]
        if not steps or not sent.log_is_known or shown_log_is_wrong(view):
            continue
        if any(step != steps[0] for step in steps):
            expected = "the causal history in log order"
            seen = f"the causal history has the Lamport timestamps {lamports}"
            yield observe_violation(sent.step, "wrong-order", expected, seen)
        elif direction not in (0, steps[0]):
            expected = "the same order, oldest or newest first, as in the causal histories of earlier messages"
            yield observe_violation(sent.step, "direction-changed", expected, "the opposite direction")
        else:
            direction = steps[0]
            yield observe_met(sent.step)


@check("SDS-SEND-08", of="outgoing")
def hints_as_supplied(view: ChannelView) -> Iterator[Observation]:
    """A history entry has the hint that was supplied for its ID, or none."""
    for sent in view.outgoing:
        for entry in sent.message.causal_history:
            given = view.hints.get(entry.message_id, set())
            if not given and entry.retrieval_hint is None:
                continue
            expected = f"the hint supplied for {entry.message_id!r}, or none"
            seen = f"the hint {entry.retrieval_hint!r}"
            met = entry.retrieval_hint is None or entry.retrieval_hint in given
            yield observe_outcome(sent.step, "wrong-hint", met, expected, seen)


@check("SDS-SEND-11", of="outgoing")
def own_messages_are_in_the_log(view: ChannelView) -> Iterator[Observation]:
    """Own messages enter the local log: the next own message names them, and replies to them are delivered.

    If any own message is shown as logged, the others count as logged as well. If many messages arrived after an own
    message, a log in the order of arrival would not end with it, which violates SDS-DELIVER-04 instead. A missing
    delivery of a reply counts only if own messages are not shown as logged, or if the shown log lacks an own message
    that the reply names.
    """
    for sent, end in _expected_histories(view):
        own = [item.message_id for item in sent.tail if item.own and item.message_id in end]
        if not own:
            continue
        everything_own = {item.message_id for item in sent.tail if item.own}
        if not everything_own.isdisjoint(sent.history):
            yield observe_met(sent.step)
        elif sent.history and set(sent.history) == set(end[-len(sent.history) :]):
            continue  # SDS-SEND-04 judges a causal history that is too short and has no other fault
        elif not shows_own_messages(view) and not names_barred_ids(view, sent):
            late = [message_id for message_id in own if _count_arrivals_between(view, message_id, sent) < len(end)]
            if late:
                expected = f"the own message {late[-1]!r} in causal_history"
                yield observe_violation(sent.step, "not-logged", expected, f"{list(sent.history)}")
    if not view.can(pb.CAPABILITY_DELIVERED):
        return
    for received in view.received:
        if not received.plain or received.unmet:
            continue
        ids = [entry.message_id for entry in received.message.causal_history]
        known = ids and all(view.own(message_id) for message_id in ids)
        # After a crash nothing is delivered; the crash is reported.
        if known and received.step.reply is not None and not may_be_delivered_late(view, received):
            met = bool(received.delivered)
            absent = "" if met else _find_unlogged(view, ids)
            if not met and (not view.delivered or (shows_own_messages(view) and not absent)):
                continue  # SDS-RECV-07 judges that nothing is delivered although own messages are in the log
            expected = f"a reply to the own message {(absent or ids[0])!r} to be delivered"
            yield observe_outcome(received.step, "reply-never-delivered", met, expected, "no delivery")


def _count_arrivals_between(view: ChannelView, message_id: str, sent: Sent) -> int:
    """The number of messages that arrived between the own messages ``message_id`` and ``sent``."""
    own = view.own(message_id)
    since = own.step.index if own is not None else 0
    return sum(since < received.step.index < sent.step.index for received in view.received)


def _find_unlogged(view: ChannelView, message_ids: list[str]) -> str:
    """The ID of an own message that is missing from the last shown log; "" if there is none."""
    bounded = limit_in_force(view.trace, "log_entries") is not None
    shown = [] if bounded else view.states_showing("log")[-1:]
    before = shown[0].step.index if shown else 0
    logged = {message_id for observed in shown for message_id in observed.step.shown_log}
    sent = (own for message_id in message_ids if (own := view.own(message_id)) is not None)
    lacking = (own.message.message_id for own in sent if own.step.index < before)
    return next((message_id for message_id in lacking if message_id not in logged), "")


@check("SDS-RECV-05", of="never-gives-up no-delivery-events outgoing unmet")
def named_messages_have_their_dependencies(view: ChannelView) -> Iterator[Observation]:
    """No causal history names a message with a dependency that never arrived.

    Only delivered messages are in the log. Judged only for implementations without delivery events (AMB-27).
    """
    own = {sent.message.message_id for sent in view.sent}
    first = {message_id: came[0].step.index for message_id, came in view.arrivals.items()}
    for refused in view.refused:
        first.setdefault(refused.message.message_id, refused.step.index)
    for sent in view.outgoing:
        for message_id, came in view.arrivals.items():
            before = [received for received in came if received.step.index < sent.step.index]
            missing = [_find_unarrived(received, own, first, sent.step) for received in before if received.acceptable]
            if missing and all(missing) and len(before) == len(missing):
                expected = (
                    f"{message_id!r} to wait for {missing[0]!r}, which has not arrived, and not to be in causal_history"
                )
                seen = f"causal_history names the message: {list(sent.history)}"
                yield observe_outcome(sent.step, "delivered-early", message_id not in sent.history, expected, seen)


def _find_unarrived(received: Received, own: set[str], first: dict[str, int], by: Step) -> str:
    """The first dependency of ``received`` that is no own message and did not arrive before the step ``by``; else "".

    ``first`` has the indices of the steps in which messages arrived first. A refused message counts as arrived.
    """
    named = (entry.message_id for entry in received.message.causal_history)
    return next((i for i in named if i not in own and first.get(i, by.index) >= by.index), "")


@check("SDS-RECV-07", of="no-delivery-events outgoing received")
def met_messages_are_in_the_next_history(view: ChannelView) -> Iterator[Observation]:
    """Content whose dependencies are met is in the log, so the next causal history names it.

    Judged only for implementations without delivery events. A message is expected before the next sweep only if the
    implementation delivered other messages without a sweep (AMB-94).
    """
    probed: set[str] = set()
    probes = []
    for sent, received in tail_probes(view):
        message_id = received.message.message_id
        if message_id not in probed:
            swept = any(received.step.index < tick.index < sent.step.index for tick in view.ticks)
            probes.append((sent, received, swept))
            probed.add(message_id)
    at_once = any(received.message.message_id in sent.history for sent, received, swept in probes if not swept)
    for sent, received, swept in probes:
        message_id = received.message.message_id
        if message_id in sent.history or swept or at_once:
            arrived = f"which arrived at step {received.step.index} with all dependencies met"
            expected = f"{message_id!r}, {arrived}, in causal_history"
            seen = f"{list(sent.history)}"
            yield observe_outcome(sent.step, "never-delivered", message_id in sent.history, expected, seen)


@check("SDS-RECV-08", pb.CAPABILITY_VIRTUAL_CLOCK, of="no-delivery-events outgoing unmet")
def unmet_messages_are_in_a_later_history(view: ChannelView) -> Iterator[Observation]:
    """A message that had to wait is kept: after its dependencies arrived, a causal history names it.

    Judged only for implementations without delivery events.
    """
    probed: set[str] = set()
    for sent, received, since in unblocked_probes(view):
        message_id = received.message.message_id
        if message_id not in probed:
            probed.add(message_id)
            kept = f"{message_id!r}, which waited, kept until step {since.index}, when its last dependency arrived"
            expected = f"{kept}, and in causal_history"
            yield observe_outcome(sent.step, "not-kept", message_id in sent.history, expected, f"{list(sent.history)}")


@check("SDS-STATE-10", of="no-delivery-events outgoing received")
def what_was_named_stays_in_the_log(view: ChannelView) -> Iterator[Observation]:
    """A message that a causal history named stays in the log: it is named while it is at the end of the log.

    Judged only for implementations without delivery events.
    """
    first_named: dict[str, int] = {}
    for sent in reversed(view.outgoing):
        first_named |= dict.fromkeys(sent.history, sent.step.index)
    for sent, received in tail_probes(view):
        message_id = received.message.message_id
        if first_named.get(message_id, sent.step.index) < sent.step.index:
            expected = f"{message_id!r}, named at step {first_named[message_id]}, in causal_history again"
            seen = f"{list(sent.history)}"
            yield observe_outcome(sent.step, "missing-entry", message_id in sent.history, expected, seen)


@check("SDS-MSG-10", of="outgoing")
def history_names_message_ids(view: ChannelView) -> Iterator[Observation]:
    """Causal histories name messages by their SDS message ID, not by an ID of the transport."""
    for sent in view.outgoing:
        others = ids_barred_from_log(view, sent.history, sent.step.index)
        for message_id in sent.history:
            if message_id in others:
                continue
            expected = "only IDs of messages of the channel in causal_history"
            met = message_id in view.known_ids
            seen = f"{message_id!r}, which is the ID of no message of the channel"
            yield observe_outcome(sent.step, "unknown-entry", met, expected, seen)


@check("SDS-MSG-11", pb.CAPABILITY_MISSING, of="hints received")
def hints_surface_unchanged(view: ChannelView) -> Iterator[Observation]:
    """Retrieval hints of missing dependencies reach the application as they were received."""
    for received in view.received:
        given = {e.message_id for e in received.message.causal_history if e.retrieval_hint}
        for entry in missing_signals(view, received.step):
            if entry.message_id in given and entry.retrieval_hint is not None:
                yield from judge_hint(view, received.step, entry.message_id, entry.retrieval_hint)


def missing_signals(view: ChannelView, step: Step) -> list[HistoryEntry]:
    """The missing dependencies that a step signalled."""
    return [entry for event in step.signals("missing", view.channel_id) for entry in event.missing]


@check("SDS-MSG-11", of="outgoing")
def hints_belong_to_their_id(view: ChannelView) -> Iterator[Observation]:
    """A retrieval hint in a causal history belongs to the ID of its entry."""
    for sent in view.outgoing:
        for entry in sent.message.causal_history:
            if entry.retrieval_hint is not None and entry.message_id:
                yield from judge_hint(view, sent.step, entry.message_id, entry.retrieval_hint)


def judge_hint(view: ChannelView, step: Step, message_id: str, hint: bytes) -> Iterator[Observation]:
    """Judge a retrieval hint by the hints that were given for its ID and for other IDs.

    A hint is "optional": an implementation may leave it out, or make its own hint, even the same one for many messages.
    A hint is wrong if it was given for exactly one other ID, or if it is a damaged form of a hint for its ID.
    """
    given = view.hints.get(message_id, set())
    if hint in given:
        yield observe_met(step)
        return
    expected = f"the hint of {message_id!r}, or none"
    other = _ids_by_unique_hint(view).get(hint) if hint else None
    if other is not None:
        yield observe_violation(step, "hint-of-another", expected, f"{hint!r}, the hint of {other!r}")
    elif any(_is_cut_or_decoded(hint, whole) for whole in given):
        yield observe_violation(step, "hint-changed", expected, f"{hint!r}, a damaged form of this hint")


@cache_per_view
def _ids_by_unique_hint(view: ChannelView) -> dict[bytes, str]:
    """By hint: the ID for which the application or a scripted peer supplied it. Hints for several IDs are left out."""
    found: dict[bytes, set[str]] = {}
    for message_id, hints in view.supplied_hints.items():
        for hint in hints:
            found.setdefault(hint, set()).add(message_id)
    return {hint: min(message_ids) for hint, message_ids in found.items() if len(message_ids) == 1}


def _is_cut_or_decoded(hint: bytes, whole: bytes) -> bool:
    """Was the hint truncated, or damaged by decoding it as text?"""
    return bool(hint) and (whole.startswith(hint) or hint == whole.decode("utf-8", "replace").encode())
