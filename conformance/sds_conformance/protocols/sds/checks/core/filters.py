"""Bloom filters: their members, roll-overs and false positives."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, Outcome, observe_met, observe_outcome, observe_violation
from .....judging.table import RuleRow
from .....judging.view_cache import cache_per_view
from ...register import check, table
from ...view.channel_view import ChannelView
from ...view.facts import Received, Sent
from ...view.false_positives import (
    FALSE_ALARM,
    QUERIES_AFTER_ROLL_OVER,
    UNDECLARED_RATE,
    chose_filter_size,
    count_false_hits,
    degenerate_share,
    least_implausible_hits,
    queries_at_capacity,
    rate_at,
    rate_deviation,
    reads_filters,
)
from ...view.filters import ENOUGH, KnownFilters, Membership, find_missing, holds_all
from ...view.histories import sync_ids, unsent_own_ids


def filters_of_new_messages(view: ChannelView) -> Iterator[tuple[Sent, Membership]]:
    """Yield the own messages with new IDs whose filters can be read, each with the content of its filter."""
    for sent in view.outgoing:
        holds = view.filter_of(sent.message.bloom_filter) if not sent.repeat else None
        if holds is not None:
            yield sent, holds


class _ReadableFilter(NamedTuple):
    sent: Sent
    newest: list[Received]
    """The newest received content messages. Every roll-over keeps them in the filter."""
    hits: list[bool | None]
    """For each message of ``newest``: is it in the filter? None if unknown."""


@cache_per_view
def _readable_filters(view: ChannelView) -> list[_ReadableFilter]:
    kept = max(1, view.configuration.bloom_capacity // 10) if view.configuration.HasField("bloom_capacity") else 1
    # Own messages, ephemeral messages and copies may take room in the filter as well (AMB-19, AMB-36, AMB-112).
    own = view.sent + view.ephemerals + (view.syncs if view.revision.syncs_are_logged else [])
    taking_room = sorted(sent.step.index for sent in own)
    found = []
    for sent, holds in filters_of_new_messages(view):
        others = bisect_left(taking_room, sent.step.index) + bool(holds(sent.message.message_id))
        end = bisect_left(view.received, sent.step.index, key=lambda r: r.step.index)
        newest = [r for r in view.received[max(0, end - max(0, kept - others)) : end] if r.acceptable]
        found.append(_ReadableFilter(sent, newest, [holds(received.message.message_id) for received in newest]))
    return found


def is_in_next_filter(view: ChannelView, received: Received) -> bool | None:
    """Is a received message in the next filter that must hold it? None if there is no such filter or no evidence."""
    later = (
        one for one in _readable_filters(view) if one.sent.step.index > received.step.index and received in one.newest
    )
    return next((one.hits[one.newest.index(received)] for one in later), None)


class _FilterContent(NamedTuple):
    """A filter that holds all of the newest delivered IDs, or certainly lacks one of them."""

    step: Step
    sync: bool
    """Was the filter sent in a sync message?"""
    due: int
    """The number of delivered IDs that the filter must hold."""
    missing: str
    """A delivered ID that is not in the filter; "" if there is none."""


def filters_hold_what_was_delivered(view: ChannelView) -> Iterator[_FilterContent]:
    """The filter in a message holds the newest IDs that were delivered before."""
    for sent, newest, hits in _readable_filters(view):
        index = sent.step.index
        delivered = [
            (received.message.message_id, hit)
            for received, hit in zip(newest, hits, strict=True)
            if received.delivered and received.delivered[0].step.index < index
        ]
        missing = next((message_id for message_id, hit in delivered if hit is False), "")
        if delivered and (missing or all(hit for _, hit in delivered)):
            yield _FilterContent(sent.step, sent.sync, len(delivered), missing)


def _describe_members(members: _FilterContent, row: RuleRow[_FilterContent]) -> tuple[str, str]:
    where = row.why.format(missing=members.missing, count=members.due)
    return where, f"the filter lacks {members.missing!r}"


def _is_in_content(members: _FilterContent) -> bool:
    return not members.sync


def _is_in_sync(members: _FilterContent) -> bool:
    return members.sync


def _has_several_due(members: _FilterContent) -> bool:
    return members.due >= 3


def _lacks_a_member(members: _FilterContent) -> bool:
    return bool(members.missing)


_IN_MESSAGE = "{missing!r}, delivered before, in the filter of the message"
_IN_SYNC = "{missing!r}, received before, in the filter of the sync"
_NEWEST = "all of the {count} newest received IDs in the filter"

table(
    filters_hold_what_was_delivered,
    _describe_members,
    [
        # the columns: requirement, applies, wrong, code, why, position, needs
        RuleRow("SDS-SEND-09", _is_in_content, _lacks_a_member, "not-in-filter", _IN_MESSAGE),
        RuleRow("SDS-SYNC-05", _is_in_sync, _lacks_a_member, "not-in-filter", _IN_SYNC, "", (pb.CAPABILITY_SYNC,)),
        RuleRow("SDS-STATE-05", _has_several_due, _lacks_a_member, "not-in-filter", _NEWEST),
    ],
    of="outgoing received",
    apart=True,
)


@check("SDS-RECV-04", of="received")
def received_ids_enter_the_filter(view: ChannelView) -> Iterator[Observation]:
    """Received content enters the local filter, delivered or not."""
    for sent, newest, hits in _readable_filters(view):
        met = observe_met(sent.step)
        for received, hit in zip(newest, hits, strict=True):
            if hit:
                yield met
                continue
            waits = received.unmet and not received.is_delivered_before(sent.step.index)
            if waits and hit is False:
                which = f"{received.message.message_id!r}, which arrived at step {received.step.index} and waits"
                seen = "the filter lacks the ID"
                yield observe_violation(sent.step, "not-in-filter", f"{which}, in the filter", seen)


def judge_members(
    step: Step, holds: Membership, message_ids: Collection[str], expected: str, seen: str = "the filter lacks the ID"
) -> Iterator[Observation]:
    """Judge whether a filter holds all of ``message_ids``.

    In ``expected`` and ``seen``, ``{}`` stands for an ID that is certainly missing.
    """
    if missing := find_missing(holds, message_ids):
        yield observe_violation(step, "not-in-filter", expected.format(repr(missing)), seen.format(repr(missing)))
    elif holds_all(holds, message_ids):
        yield observe_met(step)


def judge_unexpected_members(
    step: Step, holds: Membership, ids: Collection[str], expected: str, *, code: str
) -> Iterator[Observation]:
    """Judge whether a filter holds all of ``ids``, which it should not hold. Fewer than `ENOUGH` IDs are not judged,
    because all of them may be false positives.
    """
    found = holds_all(holds, ids) if len(ids) >= ENOUGH else None
    if found is not None:
        yield observe_outcome(step, code, not found, expected, f"all {len(ids)} of them")


@check("SDS-SYNC-08", of="any-sync outgoing")
def syncs_in_no_filter(view: ChannelView) -> Iterator[Observation]:
    """Sync messages do not enter bloom filters."""
    if len(sync_ids(view)) < ENOUGH:
        return
    own = {s.message.message_id for s in view.syncs}
    came = [
        (r.step.index, (r.message.content is not None, bool(r.unmet)), r.message.message_id)
        for r in view.received
        if r.kind is Kind.SYNC
    ]
    for sent, holds in filters_of_new_messages(view):
        syncs = {message_id for message_id, since in sync_ids(view).items() if since < sent.step.index}
        if len(syncs) < ENOUGH:
            continue
        kinds: dict[object, set[str]] = {"own": own & syncs}
        for index, kind, message_id in came:
            if index < sent.step.index and message_id in syncs:
                kinds.setdefault(kind, set()).add(message_id)
        for which in kinds.values():
            for seen in judge_unexpected_members(
                sent.step, holds, which, "no sync message in the filter", code="in-filter"
            ):
                # Own sync messages alone do not exercise the rule.
                if len(kinds) > 1 or seen.outcome is not Outcome.HELD:
                    yield seen


@check("SDS-SYNC-08", *(pb.CAPABILITY_OBSERVE, pb.CAPABILITY_SYNC), of="syncs observed")
def own_syncs_are_not_shown_in_the_filter(view: ChannelView) -> Iterator[Observation]:
    """A filter that can be queried holds no own sync messages, whatever its encoding."""
    for observed in view.observed:
        hits = observed.filter_hits
        own = {s.message.message_id for s in view.syncs if s.step.index < observed.step.index}
        asked = own & hits.keys() & sync_ids(view).keys()
        yield from judge_unexpected_members(
            observed.step, hits.get, asked, "no own sync message in the filter", code="in-filter"
        )


@check("SDS-SYNC-08", pb.CAPABILITY_SYNC, of="syncs")
def syncs_do_not_change_the_filter(view: ChannelView) -> Iterator[Observation]:
    """Received sync messages do not change the bytes of the filter.

    Judged only if the last two own sync messages before the arrival have the same filter.
    """
    for first, second, third in zip(view.syncs, view.syncs[1:], view.syncs[2:], strict=False):
        if first.message.bloom_filter is None or first.message.bloom_filter != second.message.bloom_filter:
            continue  # the encoding differs each time, or the filter holds own sync messages: a change proves nothing
        between = _count_syncs_if_nothing_else(view, second, third)
        if not between or _count_syncs_if_nothing_else(view, first, second) != 0:
            continue
        expected = f"the same filter as before {between} sync messages arrived"
        seen = "the filter has changed"
        met = third.message.bloom_filter == second.message.bloom_filter
        yield observe_outcome(third.step, "in-filter", met, expected, seen)


def _count_syncs_if_nothing_else(view: ChannelView, before: Sent, after: Sent) -> int | None:
    """The number of sync messages that arrived between two own sync messages.

    None if the participant did anything else from the step of ``before`` to the step of ``after``, or if time passed.
    """
    steps = [s for s in view.trace.of(view.party.name) if before.step.index < s.index < after.step.index]
    syncs = [r for r in view.received if before.step.index < r.step.index < after.step.index and r.kind is Kind.SYNC]
    silent = len(steps) == len(syncs) and not any(step.broadcasts or step.events for step in steps)
    silent &= all(_sent_only_sync(sync.step) for sync in (before, after))
    return len(syncs) if silent and before.step.now_ms == after.step.now_ms else None


def _sent_only_sync(step: Step) -> bool:
    """Did a step send only a sync message, and do nothing that may change a filter?"""
    return step.command in ("send_sync", "tick") and not step.events and all(m.kind is Kind.SYNC for m in step.messages)


_FEW_MESSAGES = 20
"""Maximum number of messages with which most bits of any filter are certainly unset."""


@check("SDS-RECV-04", of="outgoing received")
def filters_change_by_what_is_received(view: ChannelView) -> Iterator[Observation]:
    """The bytes of a filter change when several messages arrive.

    One new ID may be a false positive and change no bit. Four new IDs change a bit of a nearly empty filter. A change
    proves nothing, because the encoding may differ each time.
    """
    with_filters = [sent for sent in view.outgoing if sent.message.bloom_filter is not None and not sent.repeat]
    for before, after in itertools.pairwise(with_filters):
        if before.message.bloom_filter != after.message.bloom_filter:
            continue
        received = [r for r in view.received if r.step.index < after.step.index]
        fresh = [r for r in received if r.step.index > before.step.index and r.acceptable]
        if len(fresh) >= ENOUGH and len(received) <= _FEW_MESSAGES:
            because = f"because {len(fresh)} messages arrived since"
            expected = f"another bloom filter than at step {before.step.index}, {because}"
            seen = f"the same filter of {len(after.message.bloom_filter or b'')} bytes"
            yield observe_violation(after.step, "not-in-filter", expected, seen)


@check("SDS-RECV-04", pb.CAPABILITY_OBSERVE, of="observed received")
def the_newest_is_shown_in_the_filter(view: ChannelView) -> Iterator[Observation]:
    """A filter that can be queried holds the ID of the last arrival, for any encoding and size, even after a roll-over.

    Other messages may enter the filter, too (AMB-19, AMB-36, AMB-112), and a roll-over may drop all earlier IDs.
    """
    capacity = view.configuration.bloom_capacity
    came = [received for received in view.received if received.acceptable and not received.duplicate]
    others = _optional_members(view)
    for observed in view.observed:
        at = bisect_right(came, observed.step.index, key=lambda received: received.step.index)
        newest = came[at - 1] if at else None
        other_count = bisect_right(others, observed.step.index)
        aged = newest is not None and other_count > bisect_right(others, newest.step.index)
        if newest is None or (aged and at + other_count > capacity):
            continue
        message_id, hits = newest.message.message_id, observed.filter_hits
        if message_id in hits:
            expected = f"{message_id!r}, the last arrival, in the filter"
            yield observe_outcome(observed.step, "not-in-filter", hits[message_id], expected, "the filter lacks the ID")


@cache_per_view
def _optional_members(view: ChannelView) -> list[int]:
    """Indices of the steps with messages that may enter the filter, but need not.

    These are own messages, ephemeral messages, messages that may be refused, and messages that arrive again. A message
    that arrives again counts only if a roll-over may have removed its ID. Otherwise it does not change the filter.
    """
    logged, capacity = view.revision.syncs_are_logged, view.configuration.bloom_capacity
    own = sorted(sent.step.index for sent in view.sent + view.ephemerals + (view.syncs if logged else []))
    out, entered = list(own), 0
    for received in view.received:
        if received.kind is Kind.SYNC and not logged:
            continue
        if not received.duplicate:
            entered += 1
        rolled_over = entered + bisect_left(own, received.step.index) > capacity
        if rolled_over if received.duplicate else not received.acceptable:
            out.append(received.step.index)
    return sorted(out)


_UNSENT_OWN = "message with the participant's sender ID that the participant did not send"


@check("SDS-RECV-01", of="outgoing own-came")
def unsent_own_ids_enter_no_filter(view: ChannelView) -> Iterator[Observation]:
    """A received message with the participant's sender ID, which the participant never sent, enters no bloom filter.

    IDs of messages that the participant sent may be in the filter (AMB-19).
    """
    for sent, holds in filters_of_new_messages(view):
        ids = {message_id for message_id, since in unsent_own_ids(view).items() if since < sent.step.index}
        expected = f"no {_UNSENT_OWN} in the filter"
        yield from judge_unexpected_members(sent.step, holds, ids, expected, code="in-filter")


@check("SDS-STATE-05", of="outgoing")
def filter_holds_nothing_else(view: ChannelView) -> Iterator[Observation]:
    """IDs of other channels, of messages that did not arrive and of missing dependencies are not in the filter.

    SDS-STATE-07 judges IDs that resemble a received ID, because a weak hash may confuse them. A filter that holds none
    of the received IDs does not exercise this rule.
    """
    for sent, holds, what, ids in _find_unexpected_ids(view, alike=False):
        for seen in judge_unexpected_members(
            sent.step, holds, ids, f"no IDs {what} in the filter", code="foreign-entry"
        ):
            if seen.outcome is not Outcome.HELD or any(map(holds, view.arrivals)):
                yield seen


@check("SDS-STATE-07", of="outgoing")
def the_hash_distinguishes_similar_ids(view: ChannelView) -> Iterator[Observation]:
    """IDs with a long prefix or suffix of a received ID are not in the filter: the hash covers the whole ID."""
    for sent, holds, what, ids in _find_unexpected_ids(view, alike=True):
        common = f"although they have {COMMON_CHARACTERS} characters in common with received IDs"
        expected = f"no IDs {what} in the filter, {common}"
        yield from judge_unexpected_members(sent.step, holds, ids, expected, code="alike-entry")


@check("SDS-STATE-07", pb.CAPABILITY_FILTER_CODEC)
def the_hash_reads_all_characters(view: ChannelView) -> Iterator[Observation]:
    """A filter of the codec, at most a tenth full, holds hardly any of the queried IDs that are not its members."""
    for step, bloom_filter, members in _filters_of_the_codec(view):
        holds = view.filter_of(bloom_filter)
        if holds is None or len(members) * 10 > view.configuration.bloom_capacity:
            continue
        queries = (step.request.query_filter for step in view.trace.steps if step.answer == "membership")
        queried = [i for query in queries if query.bloom_filter == bloom_filter for i in query.message_ids]
        others = [message_id for message_id in queried if message_id not in members]
        if len(others) >= FEW:
            hits = sum(holds(message_id) is True for message_id in others)
            expected = (
                f"hardly any of {len(others)} other IDs, such as {others[0]!r}, in a filter of {len(members)} IDs"
            )
            seen = f"{hits} of these IDs are in the filter"
            yield observe_outcome(step, "alike-entry", hits <= len(others) // 4, expected, seen)


COMMON_CHARACTERS = 16
"""Minimum number of equal characters, at the start or at the end, for two IDs to count as similar."""


@cache_per_view
def _ends_of_members(view: ChannelView) -> tuple[set[str], set[str]]:
    """The prefixes and the suffixes of the received message IDs, each `COMMON_CHARACTERS` long."""
    members = [message_id for message_id in view.arrivals if len(message_id) > COMMON_CHARACTERS]
    return {message_id[:COMMON_CHARACTERS] for message_id in members}, {
        message_id[-COMMON_CHARACTERS:] for message_id in members
    }


def _find_unexpected_ids(view: ChannelView, *, alike: bool) -> Iterator[tuple[Sent, Membership, str, set[str]]]:
    """Yield (own message, membership in its filter, origin of IDs, IDs that the filter should not hold).

    With ``alike``, only IDs that resemble a received ID are yielded, else only IDs that resemble none. The sets of IDs
    grow from message to message.
    """
    met = {s.message.message_id for s in [*view.sent, *view.syncs, *view.ephemerals]}
    met |= view.arrivals.keys() - _only_refused(view)
    if len(_ids_with_content(view.known_filters) - met) < ENOUGH:
        return
    starts, ends = _ends_of_members(view)
    foreign: dict[str, set[str]] = {}
    steps, passed = _steps_with_content(view.known_filters), 0
    for sent in view.outgoing:
        holds = view.filter_of(sent.message.bloom_filter)
        if holds is None:
            continue
        while passed < len(steps) and steps[passed].index < sent.step.index:
            for what, message_id in _foreign_ids(view, steps[passed], met):
                if (message_id[:COMMON_CHARACTERS] in starts or message_id[-COMMON_CHARACTERS:] in ends) is alike:
                    foreign.setdefault(what, set()).add(message_id)
            passed += 1
        yield from ((sent, holds, what, ids) for what, ids in foreign.items())


@cache_per_view
def _only_refused(view: ChannelView) -> set[str]:
    """IDs of other participants' messages that were refused at every arrival."""
    refused = {received.message.message_id for received in view.refused if not received.own}
    return refused - {received.message.message_id for received in view.received}


@cache_per_view
def _steps_with_content(known: KnownFilters) -> list[Step]:
    """The steps of all participants that send or receive content."""
    content = Kind.CONTENT
    return [
        step
        for step in known.trace.steps
        if (step.command == "send" and any(sent.kind is content for sent in step.messages))
        or (step.command == "receive" and (message := step.arrived) is not None and message.kind is content)
    ]


@cache_per_view
def _ids_with_content(known: KnownFilters) -> set[str]:
    """The IDs of the messages in `_steps_with_content`, and of their dependencies."""
    messages = [m for step in _steps_with_content(known) for m in (*step.messages, step.arrived) if m is not None]
    ids = {message.message_id for message in messages}
    return ids.union(entry.message_id for message in messages for entry in message.causal_history)


def _foreign_ids(view: ChannelView, step: Step, met: set[str]) -> Iterator[tuple[str, str]]:
    """Yield (origin, ID) for the IDs of a step that the participant's filter should not hold.

    ``met`` has the IDs that the participant has sent or received. They are left out.
    """
    for sent in step.messages if step.command == "send" and step.participant != view.party.name else ():
        if sent.kind is Kind.CONTENT and sent.channel_id == view.channel_id and sent.message_id not in met:
            yield f"that {step.participant} sent and that did not arrive", sent.message_id
    message = step.arrived
    if message is None or message.kind is not Kind.CONTENT or message.channel_id not in view.party.channels:
        return
    if message.message_id not in met:
        whose = f"that only {step.participant} received in {message.channel_id!r}"
        if message.message_id in view.arrivals:
            whose = "of messages that were refused"
        yield whose, message.message_id
    if step.participant == view.party.name and message.channel_id == view.channel_id:
        missing = {entry.message_id for entry in message.causal_history} - met
        yield from (("of missing dependencies", message_id) for message_id in missing)


NEARLY_FULL = 0.95
"""Minimum share of its capacity at which a filter counts as full. Some implementations roll over at a larger share."""
FEW = 5
"""Minimum number of IDs for a verdict."""
FEW_OTHERS = 5
"""A late roll-over is proven only if other IDs that may be in the filter take at most 1 / FEW_OTHERS of the capacity.
"""
GROWTH = 1.1
GROWTH_BYTES = 16
"""Tolerated growth of a filter after it is full: a factor, plus a number of bytes. Compression can cause growth."""


@dataclass(frozen=True, slots=True)
class _FilterLoad:
    """An own message, and the number of IDs that may be in its filter."""

    sent: Sent
    bloom_filter: bytes
    received: int
    """The number of received messages that must enter the filter."""
    others: int
    """The number of other messages that may take room in the filter: own and ephemeral messages, and copies (AMB-19,
    AMB-36, AMB-112).
    """


@cache_per_view
def _possible_members(view: ChannelView) -> list[tuple[int, str]]:
    """All messages that may enter the filter, in order: (index of the step, ID if the message must enter, else "")."""
    own = [s.step.index for s in view.sent + view.ephemerals] + [copy.step.index for copy in view.copies]
    others = [(r, r.acceptable and not r.unmet) for r in view.received if r.kind is not Kind.SYNC]
    received = [(r.step.index, r.message.message_id if must else "") for r, must in others]
    return sorted([*received, *((index, "") for index in own)])


@cache_per_view
def _filter_loads(view: ChannelView) -> list[_FilterLoad]:
    """All own messages with a filter, in order, with the numbers of messages that may have entered the filter
    before.
    """
    out: list[_FilterLoad] = []
    entries = _possible_members(view)
    at = received = others = 0
    for sent in view.outgoing:
        while at < len(entries) and entries[at][0] < sent.step.index:
            received += bool(entries[at][1])
            others += not entries[at][1]
            at += 1
        if sent.message.bloom_filter is not None and not sent.repeat:
            out.append(_FilterLoad(sent, sent.message.bloom_filter, received, others))
    return out


def _loads_with_roll_over(view: ChannelView) -> list[_FilterLoad]:
    """All own messages with a filter; empty if fewer IDs than three times the capacity were received before the last
    of them.
    """
    c = view.configuration
    if not (c.bloom_capacity and 0 < c.bloom_error_rate < 1) or len(view.received) < 3 * c.bloom_capacity:
        return []
    loads = _filter_loads(view)
    return loads if loads and loads[-1].received >= 3 * c.bloom_capacity else []


@check("SDS-STATE-05", of="outgoing")
def nothing_is_dropped_before_the_filter_is_full(view: ChannelView) -> Iterator[Observation]:
    """As long as a filter has room for all possible members, it holds all delivered messages.

    A filter may be recomputed only "once it reaches" its capacity. SDS-RECV-04 judges messages that had to wait.
    """
    if len(view.received) < FEW:
        return
    room = NEARLY_FULL * view.configuration.bloom_capacity
    roomy = [f for f in _filter_loads(view) if f.received + f.others <= room] if room and reads_filters(view) else []
    holds = view.filter_of(roomy[-1].bloom_filter) if roomy else None
    if holds is None or roomy[-1].received < FEW:
        return
    step = roomy[-1].sent.step
    done = {delivery.message_id for delivery in view.delivered if delivery.step.index < step.index}
    received = [
        message_id for index, message_id in _possible_members(view) if message_id in done and index < step.index
    ]
    expected = f"all {len(received)} delivered IDs in a filter for {view.configuration.bloom_capacity}"
    yield from judge_members(step, holds, received, expected, "{} is not")


@check("SDS-STATE-05", pb.CAPABILITY_OBSERVE, of="observed received")
def a_queried_filter_with_room_holds_all(view: ChannelView) -> Iterator[Observation]:
    """As long as a filter has room for all possible members, it holds all delivered messages that Observe asks for.

    The encoding of the filter does not matter. Only content of others counts: own messages, ephemeral messages and odd
    messages may be left out (AMB-19, AMB-36).
    """
    capacity = view.configuration.bloom_capacity
    entered = [index for index, _ in _possible_members(view)] if capacity else []
    first: dict[str, int] = {}
    for delivery in view.delivered if entered else ():
        if delivery.received is not None and delivery.received.acceptable:
            first.setdefault(delivery.message_id, delivery.step.index)
    for observed in view.observed if entered else ():
        index = observed.step.index
        if bisect_left(entered, index) > NEARLY_FULL * capacity:
            return
        hits = observed.filter_hits
        asked = [message_id for message_id in hits if message_id in first and first[message_id] < index]
        if len(asked) >= FEW:
            expected = f"all {len(asked)} delivered IDs that were queried, in a filter for {capacity}"
            yield from judge_members(observed.step, hits.get, asked, expected, "{} is not")


@check("SDS-STATE-06", of="outgoing received")
def filters_cease_to_grow(view: ChannelView) -> Iterator[Observation]:
    """A filter has no more bytes after three times its capacity of IDs than after one to two times its capacity."""
    loads, capacity = _loads_with_roll_over(view), view.configuration.bloom_capacity
    lengths = [len(load.bloom_filter) for load in loads[:-1] if capacity <= load.received <= 2 * capacity]
    if not lengths:
        return
    last = loads[-1]
    seen, most = len(last.bloom_filter), max(lengths) * GROWTH + GROWTH_BYTES
    if seen > most or (reads_filters(view) and view.filter_of(last.bloom_filter) is not None):
        # A length alone does not show a roll-over.
        expected = f"a bloom filter for {capacity} IDs that stays at {max(lengths)} bytes"
        met = seen <= most
        yield observe_outcome(last.sent.step, "filter-grows", met, expected, f"{seen} bytes after {last.received} IDs")


@check("SDS-STATE-06")
def newest_survive_the_roll_over(view: ChannelView) -> Iterator[Observation]:
    """From the first roll-over on, the filter holds the newest IDs, as many as a tenth of its capacity (AMB-55)."""
    capacity = view.configuration.bloom_capacity
    for step, built_filter, members in _filters_of_the_codec(view):
        built = view.filter_of(built_filter) if len(members) >= 3 * capacity else None
        if built is not None:
            newest = members[-max(1, capacity // 10) :]
            expected = f"the newest {len(newest)} of {len(members)} IDs in the filter"
            yield from judge_members(step, built, newest, expected, "{} is not")
    entries = _possible_members(view)
    for load in _loads_with_roll_over(view) if reads_filters(view) else ():
        sent, holds = load.sent, view.filter_of(load.bloom_filter)
        if load.received < capacity or holds is None:
            continue
        newest = _newest_ids(view, entries, sent, bool(holds(sent.message.message_id)))
        if newest:
            expected = f"the newest {len(newest)} IDs in the filter; a roll-over may drop only older IDs"
            yield from judge_members(sent.step, holds, newest, expected, "{} is not")


def _newest_ids(view: ChannelView, entries: list[tuple[int, str]], sent: Sent, itself: bool) -> list[str]:
    """The received IDs among the newest possible members of the filter, as many as a tenth of its capacity.

    ``itself`` says whether the filter holds the own message.
    """
    room = max(1, view.configuration.bloom_capacity // 10) - itself
    end = bisect_left(entries, (sent.step.index, ""))
    return [message_id for _, message_id in entries[max(0, end - room) : end] if message_id]


@check("SDS-STATE-06", pb.CAPABILITY_OBSERVE, of="observed received")
def the_newest_are_shown_in_the_filter(view: ChannelView) -> Iterator[Observation]:
    """A filter that can be queried holds the newest IDs, as many as a tenth of its capacity (AMB-55).

    The encoding does not matter. Other messages may take room among the newest (AMB-19, AMB-36, AMB-112).
    """
    newest = max(1, view.configuration.bloom_capacity // 10) if view.configuration.bloom_capacity else 0
    came: dict[str, int] = {}
    for received in view.received if newest else ():
        if received.acceptable:
            came.setdefault(received.message.message_id, received.step.index)
    ids = list(came)
    others = _optional_members(view)
    for observed in view.observed if newest else ():
        index = observed.step.index
        at = bisect_right(ids, index, key=lambda message_id: came[message_id])
        other_count = bisect_right(others, index)
        kept = {
            message_id
            for place, message_id in enumerate(ids[max(0, at - newest) : at][:-1], max(0, at - newest))
            if at - place + other_count - bisect_right(others, came[message_id]) <= newest
        }
        hits = observed.filter_hits
        asked = [message_id for message_id in hits if message_id in kept]
        gone = next((message_id for message_id in asked if not hits[message_id]), "")
        if asked and at > view.configuration.bloom_capacity:
            expected = f"{gone!r}, one of the newest {newest} arrivals, in the filter"
            yield observe_outcome(observed.step, "not-in-filter", not gone, expected, "the filter lacks the ID")


@check("SDS-RECV-04", of="outgoing received")
def the_full_filter_takes_the_next(view: ChannelView) -> Iterator[Observation]:
    """A full filter also takes the IDs of later messages, and of the message that makes it roll over (AMB-55)."""
    c, last = view.configuration, 0
    if not c.bloom_capacity or len(view.received) < c.bloom_capacity or not reads_filters(view):
        return
    entries = _possible_members(view)
    for load in _filter_loads(view):
        holds, index = view.filter_of(load.bloom_filter), load.sent.step.index
        if holds is not None and load.received >= c.bloom_capacity // 2:
            arrived = {message_id for step, message_id in entries if last < step < index}
            newest = _newest_ids(view, entries, load.sent, bool(holds(load.sent.message.message_id)))
            fresh = [message_id for message_id in newest if message_id in arrived]
            expected = "{}, received since the previous message, in the filter of this message, even if it is full"
            yield from judge_members(load.sent.step, holds, fresh, expected) if fresh else ()
        last = index


@check("SDS-STATE-06")
def false_hits_stay_bounded(view: ChannelView) -> Iterator[Observation]:
    """From its capacity on, a filter has at most twice the target rate of false positives.

    The bound is the exact tail of the binomial distribution, averaged over the rates of filters of that size: a filter
    with exactly twice the target rate fails with a probability below 1e-6. False positives by IDs that test only a few
    bits of a small filter are added to the bound.
    """
    capacity = view.configuration.bloom_capacity
    loads = _loads_with_roll_over(view)
    for load in loads[:-1]:
        if load.received >= capacity and load.others <= capacity // FEW_OTHERS:
            yield from _judge_bounded(view, load.sent.step, load.bloom_filter, load.received, load.others)
    for last in loads[-1:]:
        yield from _judge_bounded(view, last.sent.step, last.bloom_filter, last.received)
    for step, bloom_filter, members in _filters_of_the_codec(view):
        if len(members) >= 3 * capacity and 0 < view.configuration.bloom_error_rate < 1:
            yield from _judge_bounded(view, step, bloom_filter, len(members))


def _judge_bounded(
    view: ChannelView, step: Step, bloom_filter: bytes, received: int, others: int = 0
) -> Iterator[Observation]:
    c = view.configuration
    deviation = rate_deviation(c.bloom_capacity, c.bloom_error_rate)
    degenerate = 2 * degenerate_share(c.bloom_capacity, c.bloom_error_rate)
    when = f"after {received:,} IDs, {received / c.bloom_capacity:.3g} times its capacity"
    limit = 2 * rate_at(1 + others / c.bloom_capacity, c.bloom_error_rate)
    yield from _judge_rate(view, step, bloom_filter, limit, QUERIES_AFTER_ROLL_OVER, deviation, when, degenerate)


def _filters_of_the_codec(view: ChannelView) -> Iterator[tuple[Step, bytes, list[str]]]:
    """Yield (step, filter, IDs) for each filter that the codec built with the capacity in force."""
    chosen = view.configuration.bloom_capacity and chose_filter_size(view.party)
    if chosen and view.channel_id == view.party.channels[0]:
        for step in view.trace.steps:
            if step.reply is not None and step.answer == "filter":
                members = list(dict.fromkeys(step.request.build_filter.message_ids))
                yield step, step.reply.filter.bloom_filter, members


SMALLEST_JUDGED = 200
"""Minimum capacity to judge the rate. Smaller filters have so few bits that their rates may differ by a factor of
several by chance.
"""


@check("SDS-STATE-07")
def full_filters_keep_their_rate(view: ChannelView) -> Iterator[Observation]:
    """A full filter has at most 1.5 times the declared rate of false positives, for IDs that resemble its members.

    The bound is the exact tail of the binomial distribution, averaged over the rates of filters of that size: a filter
    with exactly 1.5 times the declared rate fails with a probability below 1e-6. Published filters for 1,000 IDs at 1 %
    have 0.8 times the declared rate.
    """
    c = view.configuration
    if c.bloom_capacity < SMALLEST_JUDGED:
        return
    # Judge the last filter that was full without exceeding its capacity, else a full filter of the codec.
    enough = len(view.received) >= NEARLY_FULL * c.bloom_capacity
    room = c.bloom_capacity
    loads = _filter_loads(view) if enough else []
    full = [load for load in loads if NEARLY_FULL * room <= load.received <= room - load.others]
    if full:
        yield from _judge_full(view, full[-1].sent.step, full[-1].bloom_filter)
    for step, bloom_filter, members in _filters_of_the_codec(view) if not full else ():
        if len(members) == room:
            yield from _judge_full(view, step, bloom_filter)


def _judge_full(view: ChannelView, step: Step, bloom_filter: bytes) -> Iterator[Observation]:
    c = view.configuration
    declared = c.bloom_error_rate if 0 < c.bloom_error_rate < 1 else None
    rate = declared or UNDECLARED_RATE
    yield from _judge_rate(
        view,
        step,
        bloom_filter,
        1.5 * declared if declared is not None else UNDECLARED_RATE,
        queries_at_capacity(rate),
        rate_deviation(c.bloom_capacity, rate),
        f"with {c.bloom_capacity} IDs, its capacity",
    )


def _judge_rate(
    view: ChannelView,
    step: Step,
    bloom_filter: bytes,
    limit: float,
    count: int,
    deviation: float,
    when: str,
    degenerate: float = 0.0,
) -> Iterator[Observation]:
    found = count_false_hits(view, bloom_filter, count)
    if found is None or found[1] < count // 2:
        return
    hits, asked = found
    expected = f"false hits of the bloom filter in at most {limit + degenerate:.3%} of cases {when}"
    chance = f"by chance less than once in {1 / FALSE_ALARM:,.0f} times"
    seen = f"{hits} of {asked} unknown IDs, {hits / asked:.3%}; {chance}"
    met = hits < least_implausible_hits(limit, asked, deviation, degenerate)
    yield observe_outcome(step, "too-many-false-hits", met, expected, seen)
