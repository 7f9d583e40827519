"""Exchanges in which both sides must agree on more than single messages: on the order of logs, and on repairs.

A repair needs more than two participants; all but "bob" run the sender's implementation.
"""

from __future__ import annotations

from sds_harness.schedules import Operation, Route, Schedule
from sds_harness.schedules.operations import Crash, Look, Tick, Wait
from sds_harness.sds.operations import Member, Say, Send
from sds_proto.testee.v1 import testee_pb2 as pb

from ...exchanges import RECEIVER, SENDER, YES, Cell, Exchange, Pair, failed_cell, left_open
from .aspects import Aspect
from .reactions import ReadGroupTrace
from .single_messages import cell_if_unsent, lost

# ---- 8 order -------------------------------------------------------------------------------------------------------

_TIES = 5
_SCRIPTED = ("B", "a", "_", "10", "9")
"""Names of scripted peers. The ID of a message begins with the name of its sender, and collations sort these names in
another order than by bytes.
"""


def _crossing_sends(number: int) -> tuple[Operation, ...]:
    """Both participants send before they receive the other's message."""
    mine, yours = Route(late=((RECEIVER, 50),)), Route(late=((SENDER, 50),))
    return (Send(SENDER, f"m{number}", route=mine), Send(RECEIVER, f"b{number}", route=yours), Wait(1_000))


ORDERING = Schedule(
    (Member(SENDER), Member(RECEIVER)),
    (
        *(op for number in range(1, _TIES + 1) for op in _crossing_sends(number)),
        *(Say(peer, f"tie-{peer}") for peer in _SCRIPTED),
        *(Wait(60_000), Tick(), Wait(60_000), Tick()),
        Look(),
        Send(SENDER, "m-last", route=lost(RECEIVER)),
        Send(RECEIVER, "b-last", route=lost(SENDER)),
    ),
    configuration=(("causal_history_size", 30),),
    name="interop-order",
)
_OWN = tuple(f"{who}{number}" for number in range(1, _TIES + 1) for who in ("m", "b"))
_ALL = (*_OWN, *(f"tie-{peer}" for peer in _SCRIPTED))


def agrees(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Do both logs have the same order, even with equal Lamport timestamps (section "Resolve Conflicts")?"""
    if (cell := cell_if_unsent(group_trace, pair, *_OWN)) is not None:
        return cell
    own = {group_trace.id_of(label) for label in _OWN}
    scripted = {group_trace.id_of(f"tie-{peer}") for peer in _SCRIPTED}
    ours, theirs = _log(group_trace, SENDER), _log(group_trace, RECEIVER)
    if ours is None or theirs is None:
        return _agrees_on_the_wire(group_trace)
    sent = {m.message_id: m.lamport_timestamp for label in _ALL if (m := group_trace.message(label)) is not None}
    for side, log in ((pair.sender, ours), (pair.receiver, theirs)):
        logged = dict(log)
        if lacking := (own | scripted) - set(logged):
            whose = "messages of the two" if lacking & own else "messages of scripted peers"
            return failed_cell(f"{side.name} must act: {whose} are missing in its log")
        if any(logged[message_id] != lamport for message_id, lamport in sent.items()):
            return failed_cell(f"{side.name} must act: Lamport timestamps in its log differ from those of the messages")
    for ids, what in ((own, "that the two implementations create"), (scripted, "that begin with B, a, _, 10 and 9")):
        mine, yours = ([entry for entry in log if entry[0] in ids] for log in (ours, theirs))
        if mine != yours:
            return failed_cell(
                f"{_blame_wrong_order(pair, mine, yours)}: messages with equal Lamport timestamps and IDs {what} are "
                "not in ascending order of their IDs in its log"
            )
    return YES


Entries = list[tuple[str, int]]
"""Entries of a log: message IDs and Lamport timestamps."""


def _log(group_trace: ReadGroupTrace, who: str) -> Entries | None:
    """The log that a member showed; None if it showed none."""
    state = group_trace.state(who)
    if state is None or not state.HasField("log"):
        return None
    return [(entry.message_id, entry.lamport_timestamp) for entry in state.log.entries]


def _blame_wrong_order(pair: Pair, mine: Entries, yours: Entries) -> str:
    """Return a sentence that names the sides whose logs are not in ascending order."""
    both = ((pair.sender, mine), (pair.receiver, yours))
    names = [side.name for side, log in both if log != sorted(log, key=lambda e: (e[1], e[0].encode()))]
    return f"{' and '.join(dict.fromkeys(names)) or 'one of the two'} must act"


def _agrees_on_the_wire(group_trace: ReadGroupTrace) -> Cell:
    """Compare causal histories, which may be oldest first or newest first, if a log is not shown."""
    histories = []
    for label in ("m-last", "b-last"):
        message = group_trace.message(label)
        histories.append([entry.message_id for entry in message.causal_history] if message is not None else [])
    if not group_trace.revision.histories_are_ordered:
        return left_open(
            "at least one of the two does not show its log, and the order of its causal histories is no evidence of "
            "the order of the log"
        )
    common = set(histories[0]) & set(histories[1])
    mine, yours = ([message_id for message_id in ids if message_id in common] for ids in histories)
    if len(common) < 2:
        return left_open(
            "at least one of the two does not show its log, and their causal histories have too few messages in common"
        )
    if mine in (yours, yours[::-1]):
        return YES
    return failed_cell(
        "the causal histories of the two sides name the same messages in different orders; at least one side does not "
        "show its log"
    )


# ---- 9 repair ------------------------------------------------------------------------------------------------------

_HOLDER, _OVERHEARS, _DOES_NOT = "anna", "carol", "dave"


def repairing(t_max_ms: int) -> Schedule:
    """Bob requests a message that only anna has.

    The author of the message has left, so Anna's broadcast of the message is a response and not a resend. Carol
    receives Bob's request, and Dave does not.
    """
    group = (SENDER, _HOLDER, RECEIVER, _OVERHEARS, _DOES_NOT)
    return Schedule(
        tuple(Member(name) for name in group),
        (
            Send(SENDER, "m1", route=lost(RECEIVER, _OVERHEARS, _DOES_NOT)),
            Wait(1_000),
            Send(SENDER, "m2"),
            Crash(SENDER),
            Wait(t_max_ms + 1_000),
            Send(RECEIVER, "asks", route=lost(_DOES_NOT)),
            Send(_OVERHEARS, "heard", route=lost(*group)),
            Send(_DOES_NOT, "unheard", route=lost(*group)),
            Wait(t_max_ms + 1_000),
            Tick(_HOLDER),
            *(Wait(60_000), Tick(RECEIVER), Wait(60_000), Tick(RECEIVER)),
            Look(RECEIVER),
            Send(RECEIVER, "content", route=lost(*group)),
        ),
        configuration=(("sds_r", True), ("t_min_ms", 30_000), ("t_max_ms", 120_000), ("num_response_groups", 1)),
        name="interop-repair",
    )


def repairs(group_trace: ReadGroupTrace, pair: Pair) -> Cell:
    """Is a request answered, is the response delivered, and does the request end (section "SDS Repair (SDS-R)")?"""
    if (cell := cell_if_unsent(group_trace, pair, "m1", "m2", "asks")) is not None:
        return cell
    ours, them, m1 = pair.sender.name, pair.receiver.name, group_trace.id_of("m1")
    if not _requests_repair(group_trace, "asks", m1):
        return failed_cell(f"{them} does not request a missing message of {ours} within T_max")
    sweep = group_trace.recorded.schedule.operations.index(Tick(_HOLDER))
    answers = (
        group_trace.wire(packet).message for packet in group_trace.broadcasts_of(_HOLDER, range(sweep, sweep + 1))
    )
    if not any(message is not None and message.message_id == m1 for message in answers):
        return failed_cell(f"{ours} does not answer the request of {them} within T_max")
    if group_trace.has(RECEIVER, m1) is False:
        return failed_cell(f"{them} does not deliver the response of {ours} to its request")
    if _requests_repair(group_trace, "content", m1):
        return failed_cell(f"{them} requests a message again that it received as a response of {ours}")
    if _requests_repair(group_trace, "heard", m1):
        return failed_cell(
            f"{ours} requests a message that {them} has just requested: a received request must cancel "
            "the own request for the same message"
        )
    if not _requests_repair(group_trace, "unheard", m1):
        return Cell(
            YES.mark,
            f"{ours} sends no requests, so nothing shows whether a request of {them} cancels a request of {ours}",
        )
    return YES


def _requests_repair(group_trace: ReadGroupTrace, label: str, message_id: str) -> bool:
    message = group_trace.message(label)
    return message is not None and any(entry.message_id == message_id for entry in message.repair_request)


def _both_repair(pair: Pair) -> str:
    needed = (pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK)
    return pair.sender.describe_missing_capabilities(*needed) or pair.receiver.describe_missing_capabilities(*needed)


ABOUT_AGREEMENT = (
    Exchange("order", (ORDERING,), {Aspect.ORDER: agrees}),
    # An implementation that cannot be configured may use the largest recommended T_max.
    Exchange("repairs", (repairing(120_000), repairing(600_000)), {Aspect.REPAIR: repairs}, needs=_both_repair),
)
