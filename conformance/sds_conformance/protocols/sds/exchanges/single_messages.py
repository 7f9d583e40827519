"""Exchanges on single messages: their content, dependencies, acknowledgements and missing messages.

"alice" runs the sending implementation, the row of the matrix, and "bob" the receiving one, the column.
"""

from __future__ import annotations

from sds_harness.declaration import printable
from sds_harness.schedules import Operation, Route, Schedule
from sds_harness.schedules.operations import Look, Tick, Wait
from sds_harness.sds.operations import Again, Ephemeral, Member, Say, Send, Sync
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, Message

from ...exchanges import RECEIVER, SENDER, YES, AspectMark, Cell, Exchange, Pair, failed_cell, left_open
from .aspects import Aspect, describe_filter_difference
from .reactions import ReadGroupTrace

SWEEP_MS = 60_000
"""Milliseconds that pass before a tick, so that the tick runs a sweep in implementations that deliver in sweeps."""


def index_of_send(schedule: Schedule, label: str) -> int:
    """Index of the operation that sends the message with a label."""
    return next(i for i, op in enumerate(schedule.operations) if isinstance(op, Send | Say) and op.label == label)


def cell_if_unsent(group_trace: ReadGroupTrace, pair: Pair, *labels: str) -> Cell | None:
    """An inconclusive cell if one of the messages ``labels`` was not sent; None if all were sent."""
    for label in labels:
        if group_trace.sent(label) is None:
            return left_open(
                f"not all messages were sent: {group_trace.left_out() or f'{pair.sender.name} broadcast nothing'}"
            )
    return None


def lost(*who: str) -> Route:
    return Route(lost=who)


def _schedule(name: str, *operations: Operation) -> Schedule:
    """A schedule for both sides. Causal histories have the recommended length, so that only filters name older
    messages.
    """
    asked = (("causal_history_size", 2),)
    return Schedule((Member(SENDER), Member(RECEIVER)), operations, configuration=asked, name=name)


def _two_sweeps(who: str) -> tuple[Operation, ...]:
    """Two sweeps: the first delivers messages, and the second delivers messages that depend on the delivered ones."""
    return (Wait(SWEEP_MS), Tick(who)) * 2


# ---- 1 wire, 2 content ---------------------------------------------------------------------------------------------

GREETING = _schedule(
    "interop-greeting",
    Send(SENDER, "m1"),
    Wait(1_000),
    Send(SENDER, "m2"),
    *_two_sweeps(RECEIVER),
    Look(RECEIVER),
    Send(RECEIVER, "r1", route=lost(SENDER)),
)


def delivers(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Are m1 and m2 delivered with their original content and ID (section "Deliver Message")?"""
    if (cell := cell_if_unsent(group_trace, pair, "m1", "m2")) is not None:
        return cell
    them = pair.receiver.name
    got = group_trace.delivered(RECEIVER)
    for label in ("m1", "m2"):
        message_id, content = group_trace.sent(label) or ("", b"")
        if (message_id, content) in got:
            continue
        message = group_trace.message(label)
        if message is not None and message.message_id != message_id and (message.message_id, content) in got:
            return failed_cell(
                f"{pair.sender.name} must act: it returns another message ID for {label} than its bytes have"
            )
        if any(found == content for _, found in got):
            return failed_cell(f"{them} delivers the content of {label} under another message ID")
        if any(found == message_id for found, _ in got):
            seen = next(found for known, found in got if known == message_id)
            return failed_cell(f"{them} delivers {label} with other content: {_quote(seen)}")
        has = group_trace.has(RECEIVER, message_id)
        if has is None:
            return left_open(f"{them} shows neither deliveries nor its log, and names {label} in no message")
        if not has:
            return failed_cell(_describe_silence(group_trace, them, label))
    shown = group_trace.can(RECEIVER, pb.CAPABILITY_DELIVERED)
    return YES if shown else Cell(AspectMark.YES, f"{them} does not show the content that it delivers")


def reads(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Are untranslated bytes read, refused, misread or ignored?"""
    cell = delivers(group_trace, pair)
    if cell.mark is not AspectMark.NO:
        return cell
    ours, theirs = pair.sender, pair.receiver
    known = {sent for label in ("m1", "m2") if (sent := group_trace.sent(label)) is not None}
    refused = group_trace.refusal(RECEIVER)
    misread = [content for found, content in group_trace.delivered(RECEIVER) if (found, content) not in known]
    if refused is not None:
        what = f"{theirs.name} refuses the bytes ({refused})"
    elif misread:
        what = f"{theirs.name} misreads the bytes of {ours.name} and delivers {_quote(misread[0])}"
    elif group_trace.named_by(RECEIVER) - {group_trace.id_of("r1"), *dict(known)} - group_trace.logged_syncs():
        what = f"{theirs.name} misreads the bytes of {ours.name} and names messages that were never sent"
    else:
        what = f"the bytes of {ours.name} have no effect at {theirs.name}"
    return failed_cell(f"{what}. {_who_must_act(group_trace, pair)}")


def _who_must_act(group_trace: ReadGroupTrace, pair: Pair) -> str:
    ours, theirs = pair.sender, pair.receiver
    if pair.translated:
        private = [side for side in (ours, theirs) if side.dialect]
        names, layouts = (" and ".join(words) for words in zip(*((s.name, s.speaks) for s in private), strict=True))
        return f"{names} must act, and use the layout of the specification instead of {layouts}"
    message = group_trace.message("m1")
    if (
        message is None
        or message.kind is not Kind.CONTENT
        or message.content != (group_trace.sent("m1") or ("", b""))[1]
    ):
        return f"{ours.name} must act: the bytes that it sent are not a content message in {ours.speaks}"
    return f"{theirs.name} must act: the bytes are a content message in {ours.speaks}"


def _describe_silence(group_trace: ReadGroupTrace, them: str, label: str) -> str:
    refused = group_trace.refusal(RECEIVER)
    return f"{them} refuses {label} ({refused})" if refused is not None else f"{them} does not deliver {label}"


def _quote(content: bytes) -> str:
    return '"' + printable(content.decode("utf-8", "replace"), 40) + '"'


# ---- 3 dependencies ------------------------------------------------------------------------------------------------

# m4 names only m2 and m3, which both wait for m1: a buffered message is not in the log.
BACKWARDS = _schedule(
    "interop-dependencies",
    *(op for n in range(1, 5) for op in (Send(SENDER, f"m{n}", route=lost(RECEIVER)), Wait(1_000))),
    *(Again(f"m{n}", RECEIVER) for n in (3, 2, 4)),
    *_two_sweeps(RECEIVER),
    Look(RECEIVER),
    Again("m1", RECEIVER),
    *_two_sweeps(RECEIVER),
    Look(RECEIVER),
    Send(RECEIVER, "r1", route=lost(SENDER)),
)
_BEFORE_ITS_ROOT = range(BACKWARDS.operations.index(Again("m1", RECEIVER)))


def _only_log_meets_dependencies(group_trace: ReadGroupTrace) -> bool:
    """Does the revision say that a buffered message meets no dependency, because only messages in the log do?"""
    return not group_trace.revision.syncs_are_logged


def waits(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Is each message delivered only after all messages in its causal history (section "Receive Message")?"""
    labels = ("m1", "m2", "m3", "m4")
    if (cell := cell_if_unsent(group_trace, pair, *labels)) is not None:
        return cell
    ours, them = pair.sender.name, pair.receiver.name
    ids = {group_trace.id_of(label): label for label in labels}
    messages = {label: group_trace.message(label) for label in labels}
    if not any(m is not None and m.causal_history for m in messages.values()):
        return left_open(f"{ours} sends empty causal histories, so that no message depends on another")
    if group_trace.can(RECEIVER, pb.CAPABILITY_DELIVERED):
        met: list[str] = []
        for act in group_trace.acts(RECEIVER):
            if act.step.arrived is not None and not _only_log_meets_dependencies(group_trace):
                met.append(ids.get(act.step.arrived.message_id, ""))
            for event in act.step.events:
                if event.kind != "delivered":
                    continue
                label = ids.get(event.message_id, "")
                message = messages.get(label)
                unmet = [ids.get(e.message_id, "another message") for e in message.causal_history] if message else []
                unmet = [label for label in unmet if label not in met]
                if unmet:
                    return failed_cell(f"{them} delivers {label} before {' and '.join(unmet)}, which it depends on")
                met.append(label)
    late = ("m2", "m3", "m4") if _only_log_meets_dependencies(group_trace) else ("m2", "m3")
    early = [label for i, label in ids.items() if label in late and group_trace.has(RECEIVER, i, _BEFORE_ITS_ROOT)]
    if early and not group_trace.can(RECEIVER, pb.CAPABILITY_DELIVERED):
        return failed_cell(f"{them} has {early[0]} in its log before m1, although all messages depend on m1")
    for message_id, label in ids.items():
        has = group_trace.has(RECEIVER, message_id)
        if has is None:
            return left_open(f"{them} shows neither deliveries nor its log")
        if not has:
            return failed_cell(
                f"{_describe_silence(group_trace, them, label)}, although all of its dependencies have arrived"
            )
    return YES


# ---- 4 acknowledgement by causal history, 5 by filter --------------------------------------------------------------

_RECEIVED = ("m1", "m2", "m3", "m4")
_LOST = ("m5", "m6", "m7", "m8")
REPLIES = _schedule(
    "interop-acknowledgement",
    *(op for label in _RECEIVED for op in (Send(SENDER, label), Wait(1_000))),
    *_two_sweeps(RECEIVER),
    Send(RECEIVER, "r1"),
    Look(),
    *(op for label in _LOST for op in (Send(SENDER, label, route=lost(RECEIVER)), Wait(1_000))),
    Send(RECEIVER, "r2"),
    Look(),
)
_FIRST_REPLY = range(index_of_send(REPLIES, "r1"), index_of_send(REPLIES, "m5"))
_ALL_REPLIES = range(index_of_send(REPLIES, "r1"), len(REPLIES.operations))


def _arrived(group_trace: ReadGroupTrace, pair: Pair) -> tuple[dict[str, str], Message] | Cell:
    """Return (labels by ID of the messages that the receiver got, the receiver's reply); a cell if no message arrived
    or no reply was sent.
    """
    if (cell := cell_if_unsent(group_trace, pair, *_RECEIVED)) is not None:
        return cell
    reply, named = group_trace.message("r1"), group_trace.named_by(RECEIVER)
    if reply is None:
        return left_open(
            f"{pair.receiver.name} sends no reply that can be read: {group_trace.left_out() or 'no reason given'}"
        )
    ids = {group_trace.id_of(label): label for label in _RECEIVED}
    got = {i: label for i, label in ids.items() if i in named or group_trace.has(RECEIVER, i)}
    return (got, reply) if got else left_open(f"{pair.receiver.name} accepts no message that it could acknowledge")


def acknowledges(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Are the messages in the causal history of the reply acknowledged (section "Review ACK Status")?"""
    arrived = _arrived(group_trace, pair)
    if isinstance(arrived, Cell):
        return arrived
    got, reply = arrived
    ours, them = pair.sender.name, pair.receiver.name
    named = [got[e.message_id] for e in reply.causal_history if e.message_id in got]
    if not named:
        return failed_cell(f"{them} must act: the causal history of its reply names no message of {ours}")
    seen = group_trace.acknowledged(SENDER, _FIRST_REPLY)
    if seen is None:
        return left_open(f"{ours} neither declares acknowledged nor shows its outgoing buffer")
    overlooked = [label for label in named if group_trace.id_of(label) not in seen]
    if overlooked:
        refused = group_trace.refusal(SENDER)
        why = f": {ours} refuses the reply ({refused})" if refused is not None else ""
        hint = f" ({differ})" if (differ := describe_filter_difference(pair)) else ""
        return failed_cell(
            f"{ours} does not treat {overlooked[0]} as acknowledged, although a reply of {them} names it{why}{hint}"
        )
    return YES


def reads_filters(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Are the messages in a filter possibly acknowledged, and no others (section "Review ACK Status")?"""
    arrived = _arrived(group_trace, pair)
    if isinstance(arrived, Cell):
        return arrived
    got, reply = arrived
    ours, them = pair.sender.name, pair.receiver.name
    seen, later = (group_trace.possibly_acknowledged(SENDER, r) for r in (_FIRST_REPLY, _ALL_REPLIES))
    if seen is None or later is None:
        return left_open(f"{ours} neither declares possibly-acknowledged nor shows its outgoing buffer")
    if not reply.bloom_filter:
        return left_open(f"replies of {them} have no bloom filter")
    only_there = set(got) - {entry.message_id for entry in reply.causal_history}
    if not only_there:
        return left_open(f"causal histories of {them} name all messages, so filters have no effect that can be seen")
    refused = group_trace.refusal(SENDER)
    why = f"{ours} refuses the reply: {refused}" if refused is not None else ""
    why = why or describe_filter_difference(pair) or _sizes_differ(group_trace, pair)
    reason = f" ({why})" if why else ""
    overlooked = sorted(got[message_id] for message_id in only_there - seen)
    if overlooked:
        return failed_cell(
            f"{ours} does not see {overlooked[0]} in the bloom filter of {them}, although {them} has it{reason}"
        )
    imagined = sorted(label for label in _LOST if group_trace.id_of(label) in later)
    if imagined:
        return failed_cell(
            f"{ours} sees {imagined[0]} in the bloom filter of {them}, although {them} never received it{reason}"
        )
    return YES


def _sizes_differ(group_trace: ReadGroupTrace, pair: Pair) -> str:
    """Describe the sizes of the filters if both sides use one bloom profile with different sizes; else ""."""
    sizes = []
    for who in (SENDER, RECEIVER):
        party = group_trace.recorded.parties.get(who)
        if party is None or not (
            party.in_force.HasField("bloom_capacity") and party.in_force.HasField("bloom_error_rate")
        ):
            return ""
        sizes.append(f"{party.in_force.bloom_capacity} IDs with error rate {party.in_force.bloom_error_rate:g}")
    if sizes[0] == sizes[1]:
        return ""
    return f"sizes of filters differ: {sizes[0]} at {pair.sender.name}, {sizes[1]} at {pair.receiver.name}"


# ---- 6 sync, 7 ephemeral -------------------------------------------------------------------------------------------

SYNCING = _schedule(
    "interop-sync",
    Send(RECEIVER, "b1"),
    *_two_sweeps(SENDER),
    Send(SENDER, "m1", route=lost(RECEIVER)),
    Wait(1_000),
    Sync(SENDER),
    *_two_sweeps(RECEIVER),
    Look(RECEIVER),
    Wait(1_000),
    Send(RECEIVER, "b2", route=lost(SENDER)),
)
_THE_SYNC = SYNCING.operations.index(Sync(SENDER))


def reads_syncs(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Does a sync message acknowledge messages and reveal missing ones, without being delivered as content ("Periodic
    Sync Message")?
    """
    ours, them = pair.sender.name, pair.receiver.name
    packet = next(group_trace.broadcasts_of(SENDER, range(_THE_SYNC, _THE_SYNC + 1)), None)
    if packet is None:
        return left_open(f"{ours} sends no sync message: {group_trace.left_out() or 'it has nothing to send'}")
    sync = group_trace.wire(packet).message
    if sync is None or sync.kind is not Kind.SYNC:
        return failed_cell(f"{ours} must act: it sends messages that are not sync messages of the specification")
    after = range(_THE_SYNC, len(SYNCING.operations))
    taken = any(i == sync.message_id for i, _ in group_trace.delivered(RECEIVER))
    if (taken or sync.message_id in group_trace.named_by(RECEIVER)) and not group_trace.revision.syncs_are_logged:
        return failed_cell(f"{them} must act: it treats a sync message as content")
    named = {entry.message_id for entry in sync.causal_history}
    effects = []
    if (own := group_trace.id_of("b1")) in named:
        seen = group_trace.acknowledged(RECEIVER, after)
        if seen is not None and own not in seen:
            return failed_cell(
                f"{them} does not treat its message as acknowledged, although a sync message of {ours} names it"
            )
        effects.append(seen)
    if group_trace.id_of("m1") in named and group_trace.can(RECEIVER, pb.CAPABILITY_MISSING):
        missing = {i for event in group_trace.events(RECEIVER, "missing", after) for i in event.message_ids}
        if group_trace.id_of("m1") not in missing:
            return failed_cell(f"{them} does not signal the missing messages that a sync message of {ours} names")
        effects.append(missing)
    return YES if any(one is not None for one in effects) else left_open("nothing shows the effect of a sync message")


TYPING = _schedule("interop-ephemeral", Ephemeral(SENDER), *_two_sweeps(RECEIVER))


def hears_ephemerals(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Is an ephemeral message delivered (section "Ephemeral Messages", a SHOULD)?"""
    packet = next(group_trace.broadcasts_of(SENDER, range(1)), None)
    if packet is None:
        return left_open(
            f"{pair.sender.name} sends no ephemeral message: {group_trace.left_out() or 'no reason given'}"
        )
    content = b"typing"
    if any(found == content for _, found in group_trace.delivered(RECEIVER)):
        return YES
    refused = group_trace.refusal(RECEIVER)
    what = f"refuses ({refused})" if refused is not None else "does not deliver"
    return failed_cell(f"{pair.receiver.name} {what} ephemeral messages (a SHOULD)")


def _both_type(pair: Pair) -> str:
    mine = pair.sender.describe_missing_capabilities(pb.CAPABILITY_EPHEMERAL)
    return mine or pair.receiver.describe_missing_capabilities(pb.CAPABILITY_EPHEMERAL, pb.CAPABILITY_DELIVERED)


ABOUT_MESSAGES = (
    Exchange("the untranslated bytes", (GREETING,), {Aspect.WIRE: reads}, translated=False),
    Exchange("content", (GREETING,), {Aspect.CONTENT: delivers}),
    Exchange("dependencies", (BACKWARDS,), {Aspect.DEPENDENCIES: waits}),
    Exchange("replies", (REPLIES,), {Aspect.ACKNOWLEDGED: acknowledges, Aspect.FILTER: reads_filters}),
    Exchange(
        "sync messages",
        (SYNCING,),
        {Aspect.SYNC: reads_syncs},
        needs=lambda pair: pair.sender.describe_missing_capabilities(pb.CAPABILITY_SYNC),
    ),
    Exchange("ephemeral messages", (TYPING,), {Aspect.EPHEMERAL: hears_ephemerals}, needs=_both_type),
)
