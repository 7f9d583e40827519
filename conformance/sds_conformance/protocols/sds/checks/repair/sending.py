"""Section R-SEND: what messages ask for."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.repair_terms import SECOND_MS, TIMED
from ...view.repair_tracker import NEVER, Missing
from ...view.requester import Requester, requester
from ...view.windows import Window

_LEFT_OUT = {Kind.CONTENT: "left-out-of-content", Kind.SYNC: "left-out-of-sync"}
"""Codes of due requests that a message does not carry, by its kind."""


def _exact(side: Requester, missing: Missing) -> Window | None:
    due = side.due(missing)
    return due if due is not None and due.exact else None


@check("SDS-R-SEND-01", *TIMED, of="missing sds-r")
def due_requests_go_along(view: ChannelView) -> Iterator[Observation]:
    """Every content and sync message carries what is due and was not asked for yet, within the cap."""
    side = requester(view)
    for missing in side.owing:
        due = _exact(side, missing)
        again = missing.named[1].step.index if len(missing.named) > 1 else NEVER
        if (asking := side.in_time(missing)) is not None:
            yield held(asking.step)
        for sent, asks in side.owed(missing):
            if asks or sent.step.index > again:
                break  # that it is named again must not matter: SDS-R-STATE-02
            if due is not None and sent.step.now_ms == due.high:
                continue  # the boundary is SDS-R-SEND-02's
            yield violated(
                sent.step,
                _LEFT_OUT[sent.message.kind],
                f"a request for {missing.message_id!r} in the {sent.message.kind.value} message"
                + (f": its T_req was {sent.step.now_ms - due.high} ms before" if due else ""),
                f"none{view.terms.clock_hint(due is not None and sent.step.now_ms <= due.high + SECOND_MS)}",
            )
            break


@check("SDS-R-SEND-02", *TIMED, of="missing sds-r")
def from_t_req_on(view: ChannelView) -> Iterator[Observation]:
    """No request before T_req, and one from the very millisecond on, where T_req is known exactly (AMB-110)."""
    side = requester(view)
    for missing in side.wanted:
        due, detected = _exact(side, missing), missing.detected.step
        if due is None:
            continue
        end = min(side.until(missing), side.first_asked(missing.message_id, detected.index) + 1)
        for sent in side.sends(detected.index, end):
            early = due.low - sent.step.now_ms
            if not side.in_step(detected, sent.step):
                continue
            if early > side.slack_ms and side.asks(sent, missing.message_id):
                expected = f"no request for {missing.message_id!r} before its T_req"
                hint = view.terms.clock_hint(early <= SECOND_MS)
                yield violated(sent.step, "asked-early", expected, f"one {early} ms before it{hint}")
            elif early > 0:
                yield held(sent.step)
        for sent, asks in side.owed(missing) if not side.slack_ms else ():
            if sent.step.now_ms != due.high:
                continue
            if asks or sent.message.kind in side.kinds:
                expected = f"{missing.message_id!r} asked for at T_req, which is this very millisecond"
                yield judged(sent.step, "asked-late", asks, expected, f"it is not{view.terms.clock_hint()}")


@check("SDS-R-SEND-03", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def no_more_than_the_cap(view: ChannelView) -> Iterator[Observation]:
    """No message asks for more than the cap in force."""
    for sent in view.repair.requesting if view.terms.on else ():
        count, cap = len(sent.message.repair_request), view.terms.cap
        if cap is None or not count:
            continue
        expected = f"at most {cap} entries in a repair request, the cap in force"
        seen = f"{count}, one more than that" if count == cap + 1 else f"{count}"
        yield judged(sent.step, "over-cap", count <= cap, expected, seen)


@check("SDS-R-SEND-04", *TIMED, of="missing outgoing sds-r")
def lowest_t_req_first(view: ChannelView) -> Iterator[Observation]:
    """Where more is due than the cap allows, what is asked for has the lowest T_req."""
    side = requester(view)
    known = {m.message_id: (m, due) for m in side.wanted if (due := _exact(side, m)) is not None}
    for sent in side.carriers:
        if not side.full(sent):
            continue
        index, chosen = sent.step.index, {entry.message_id for entry in sent.message.repair_request}
        left = [
            due.high
            for message_id, (missing, due) in known.items()
            if message_id not in chosen
            and missing.detected.step.index < index < min(side.until(missing), side.first_asked(message_id))
            and due.high + view.terms.clock_ms <= sent.step.now_ms <= side.latest(missing, due)
            and side.in_step(missing.detected.step, sent.step)
            and not side.untracked(missing, sent)
        ]
        taken = {message_id: known[message_id][1].low for message_id in chosen if message_id in known}
        if not left or not taken:
            continue
        latest = max(taken, key=lambda message_id: taken[message_id])
        expected = f"{len(chosen)} requests with the lowest T_req of {len(chosen) + len(left)} that are due"
        seen = f"one for {latest!r}, due {taken[latest] - min(left)} ms after one that is left out"
        apart = 0 if side.shown else view.terms.clock_ms  # between two that are counted from different presents
        yield judged(sent.step, "wrong-order", taken[latest] <= min(left) + apart, expected, seen)


@check("SDS-R-SEND-05", pb.CAPABILITY_SDS_R, of="outgoing sds-r")
def at_most_three_by_default(view: ChannelView) -> Iterator[Observation]:
    """Where nobody asked for another cap, a message asks for three at most."""
    for sent in view.repair.requesting if view.terms.on else ():
        count = len(sent.message.repair_request)
        if not count or view.party.asked.HasField("max_repair_requests"):
            continue
        yield judged(
            sent.step,
            "default-too-high",
            count <= 3,
            "at most three entries in a repair request by default",
            f"{count}",
        )


@check("SDS-R-SEND-06", *TIMED, of="outgoing sds-r")
def unset_when_nothing_is_due(view: ChannelView) -> Iterator[Observation]:
    """When nothing can be due, field 13 does not occur at all, not even with an empty entry.

    An entry with an ID is SDS-R-FIELDS-02's, SDS-R-SEND-02's or SDS-R-RECV-01's matter.
    """
    side, t_min = requester(view), view.terms.t_min_ms
    for sent in side.carriers if view.terms.on and t_min is not None else ():
        known = [m for m in view.repair.missing if m.detected.step.index < sent.step.index]
        if any(
            (m.arrived is None or m.arrived.index >= sent.step.index)
            and not (
                side.in_step(m.detected.step, sent.step)
                and sent.step.now_ms < m.detected.step.now_ms + (t_min or 0) - SECOND_MS
            )
            for m in known
        ):
            continue
        empty = sum(not entry.message_id for entry in sent.message.repair_request)
        if empty or not sent.message.repair_request:
            what = "field 13 with nothing in it" if empty == 1 else f"{empty} entries with nothing in them"
            yield judged(
                sent.step,
                "empty-entry",
                not empty,
                "no occurrence of field 13 (repair_request), for nothing is due",
                what,
            )


@check("SDS-R-SEND-07", *TIMED, of="missing sds-r")
def only_what_is_still_missing(view: ChannelView) -> Iterator[Observation]:
    """What arrived after its T_req and before the message is sent is not asked for any more.

    That it stays in the buffer, or arrived before it was due, is SDS-R-RECV-01's matter.
    """
    side = requester(view)
    for missing in side.wanted:
        arrived, due = missing.arrived, side.due(missing)
        detected = missing.detected.step
        if arrived is None or due is None or side.until(missing) < arrived.index:
            continue
        if not side.in_step(detected, arrived) or arrived.now_ms < due.high + side.slack_ms:
            continue
        if side.first_asked(missing.message_id, detected.index) < arrived.index:
            continue
        for sent in side.sends(arrived.index, view.trace.steps[-1].index + 1):
            if not side.in_log(missing.message_id, sent.step):
                continue
            if not side.asks(sent, missing.message_id):
                yield held(sent.step)
            elif not any(missing.message_id in shown.due for shown in side.states(arrived.index, sent.step.index)):
                expected = f"no request for {missing.message_id!r}, which has arrived at step {arrived.index}"
                yield violated(sent.step, "already-arrived", expected, "a request for it")
            break


@check("SDS-R-SEND-07", pb.CAPABILITY_SDS_R, of="sds-r sent")
def own_messages_are_not_missing(view: ChannelView) -> Iterator[Observation]:
    """What others named before it was sent is not "locally missing" any more once it is: nobody is asked for it."""
    named = {entry.message_id: r.step.index for r in reversed(view.received) for entry in r.message.causal_history}
    early = [own for own in view.sent if named.get(own.message.message_id, NEVER) < own.step.index]
    for sent in view.repair.requesting if view.terms.on and early else ():
        asked = {entry.message_id for entry in sent.message.repair_request}
        for own in early:
            if own.step.index < sent.step.index:
                expected = f"no request for {own.message.message_id!r}, sent by itself at step {own.step.index}"
                yield judged(
                    sent.step, "asked-for-own", own.message.message_id not in asked, expected, "a request for it"
                )
