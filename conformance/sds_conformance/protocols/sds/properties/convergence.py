"""Properties of convergence: the logs of all participants after a calm phase."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.group_trace import Act

from ....judging.view_cache import cache_per_view
from ...properties import Sighting, observe_met
from .group_view import GroupView
from .omissions import OMISSION_CODES, Omission, omissions
from .registry import global_property
from .sides import MessageArrival, Side

_REPAIRS = {code: what for code, what in OMISSION_CODES.items() if code in ("never-asked", "never-answered")}


def converged(view: GroupView, channel_id: str) -> set[str]:
    """The message IDs in the logs of all participants in ``view.steady`` for a channel, if the logs are equal; else
    empty.

    Messages that participants may treat differently are left out.
    """
    sides = view.steady.get(channel_id, [])
    if len(sides) < 2:
        return set()
    logs = [{i for i in view.claims(side) if view.is_sound((channel_id, i))} for side in sides]
    return logs[0] if all(log == logs[0] for log in logs) else set()


def _missing_repairs(view: GroupView) -> list[Omission]:
    return [omission for omission in omissions(view) if omission.sighting.code in _REPAIRS]


def _last(view: GroupView, channel_id: str) -> Act:
    return max((view.last_act(side) for side in view.steady[channel_id]), key=lambda act: act.number)


@global_property(
    "G-01",
    "All logs have the same entries",
    "STATE-10",
    "DELIVER-04",
    "OUTSWEEP-01",
    "INSWEEP-04",
    codes=OMISSION_CODES,
)
def all_logs_have_the_same_entries(view: GroupView) -> Iterator[Sighting]:
    """After a calm phase, each log has all messages that its participant received or that others had to send again.

    A missing message is not judged if no participant had a duty to send it. Logs of participants that may give up
    dependencies are not judged either (AMB-92).
    """
    yield from (omission.sighting for omission in omissions(view))
    for channel_id in view.steady:
        if converged(view, channel_id):
            yield observe_met(_last(view, channel_id), channel_id)


@global_property(
    "G-06",
    "Nothing is lost while its sender lives",
    "OUTSWEEP-01",
    "SEND-10",
    "ACK-04",
    "STATE-12",
    codes={"never-resent": OMISSION_CODES["never-resent"]},
)
def nothing_is_lost_while_its_sender_lives(view: GroupView) -> Iterator[Sighting]:
    """The sender itself resends a message that a participant did not receive and that no message acknowledges."""
    yield from (omission.sighting for omission in omissions(view) if omission.sighting.code == "never-resent")
    for side, arrival in _after_a_loss(view):
        if arrival.packet.sender == _author(view, side, arrival) and arrival.message.message_id in side.logged:
            yield observe_met(arrival.act, side.channel_id)
            return


@global_property(
    "G-07",
    "No message is lost while a participant has it",
    "R-RECV-03",
    "R-RECV-04",
    "R-RECV-08",
    "R-SWEEP-02",
    "R-SYNC-01",
    codes=_REPAIRS,
)
def nothing_is_lost_while_somebody_has_it(view: GroupView) -> Iterator[Sighting]:
    """With one response group, others answer SDS-R requests for a message whose sender is gone (AMB-119).

    A participant may omit a request if its first request was lost, or if it received the request of another participant
    (AMB-68).
    """
    yield from (omission.sighting for omission in _missing_repairs(view) if _sender_is_gone(view, omission))
    for side, arrival in _after_a_loss(view):
        if _is_repair_without_sender(view, side, arrival) and arrival.message.message_id in side.logged:
            yield observe_met(arrival.act, side.channel_id)
            return


@global_property(
    "G-30",
    "If one participant delivers a message, all deliver it",
    "R-STATE-08",
    "R-RECV-08",
    "SYNC-04",
    codes=_REPAIRS,
)
def what_one_delivers_all_deliver(view: GroupView) -> Iterator[Sighting]:
    """If one SDS-R participant delivers a message, all others that know its ID do, even if the sender crashed."""
    yield from (omission.sighting for omission in _missing_repairs(view) if _is_held_by_some(view, omission))
    for side, arrival in _after_a_loss(view):
        key = (side.channel_id, arrival.message.message_id)
        everybody = view.steady.get(side.channel_id, [])
        author = view.origins[key].message.sender_id if key in view.origins else ""
        gone = view.side_of(side.channel_id, author) is not None and not view.is_alive(side.channel_id, author)
        if gone and side.terms.on and everybody and all(key[1] in view.claims(s) for s in everybody):
            yield observe_met(_last(view, side.channel_id), side.channel_id)
            return


@global_property("G-26", "Participants with and without SDS-R converge", "R-FIELDS-04", "MSG-24", codes=OMISSION_CODES)
def participants_with_and_without_sds_r_converge(view: GroupView) -> Iterator[Sighting]:
    """If some participants use SDS-R and others do not, all logs become equal while the senders are online."""
    for channel_id, sides in view.steady.items():
        repairing = [side.terms.on for side in sides]
        if not any(repairing) or all(repairing):
            continue
        wrong = [omission.sighting for omission in omissions(view) if omission.side.channel_id == channel_id]
        yield from wrong
        if not wrong and converged(view, channel_id) and _mixed(view, channel_id):
            yield observe_met(_last(view, channel_id), channel_id)


# ---- Messages that arrived after a loss ------------------------------------------------------------------------------


@cache_per_view
def _after_a_loss(view: GroupView) -> list[tuple[Side, MessageArrival]]:
    """Return (participant, arrival) for each message that the network lost on the way to a participant and that arrived
    later.
    """
    out = []
    for loss in view.group_trace.losses:
        message = loss.packet.wire.message
        if message is None or not view.is_sound((message.channel_id, message.message_id)):
            continue
        side = view.sides.get((loss.listener, message.channel_id))
        arrival = side.arrivals.get(message.message_id) if side is not None else None
        if side is None or arrival is None or arrival.packet.number <= loss.packet.number:
            continue
        if arrival.act.source == "network" and arrival.packet.act:
            out.append((side, arrival))
    return out


def _author(view: GroupView, side: Side, arrival: MessageArrival) -> str:
    author = view.side_of(side.channel_id, arrival.message.sender_id)
    return author.who if author is not None else ""


def _is_repair_without_sender(view: GroupView, side: Side, arrival: MessageArrival) -> bool:
    author = _author(view, side, arrival)
    crashed = view.group_trace.crashed.get(author)
    gone = not author or (crashed is not None and crashed <= arrival.act.operation)
    return gone and side.terms.on and arrival.packet.sender != author


def _sender_is_gone(view: GroupView, omission: Omission) -> bool:
    author = view.origins[omission.side.channel_id, omission.message_id].message.sender_id
    return not view.is_alive(omission.side.channel_id, author)


def _is_held_by_some(view: GroupView, omission: Omission) -> bool:
    others = (side for side in view.steady[omission.side.channel_id] if side is not omission.side)
    return any(omission.message_id in side.logged for side in others)


def _mixed(view: GroupView, channel_id: str) -> bool:
    """Did a participant with SDS-R receive messages of a participant without SDS-R, and the other way round?"""
    kinds = {
        (side.terms.on, other.terms.on)
        for side in view.steady[channel_id]
        for other in view.steady[channel_id]
        if any(i in other.sent for i in side.arrivals)
    }
    return {(True, False), (False, True)} <= kinds
