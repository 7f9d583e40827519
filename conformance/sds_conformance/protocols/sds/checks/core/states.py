"""Section STATE, the three states of an own message: what makes it acknowledged, and that there is no way back."""

from __future__ import annotations

from collections.abc import Iterator

from sds_proto.testee.v1 import testee_pb2 as pb

from .....judging.judgement import Observation, held, judged, violated
from ...register import check
from ...view.channel_view import ChannelView
from ...view.facts import Mention
from ...view.resends import given_up, resend_period

_RANKS = {pb.ACK_STATE_UNACKNOWLEDGED: 0, pb.ACK_STATE_POSSIBLY_ACKNOWLEDGED: 1, pb.ACK_STATE_ACKNOWLEDGED: 2}
_NAMES = ("unacknowledged", "possibly acknowledged", "acknowledged")


@check("SDS-STATE-14", of="mentions")
def some_participants_are_enough(view: ChannelView) -> Iterator[Observation]:
    """Of several participants known, one that names a message in a causal history acknowledges it for all."""
    met: dict[str, int] = {}
    for received in view.received:
        if not received.own and not received.rejected:
            met.setdefault(received.message.sender_id, received.step.index)
    for mention in view.mentions:
        named_by = mention.received.message.sender_id
        known = {who for who, index in met.items() if index < mention.received.step.index}
        if not mention.certain or not known - {named_by}:
            continue
        result = _acknowledged_by_one(view, mention)
        if result is True:
            yield held(mention.received.step)
        elif result is False:
            expected = f"{mention.message_id!r} acknowledged, which {named_by!r} names: some participants are enough"
            seen = f"no acknowledgement while the {len(known - {named_by})} others known have not named it"
            yield violated(
                mention.received.step,
                "not-acknowledged",
                expected,
                seen,
                given_up(view, mention.message_id, mention.received.step.index),
            )


def _acknowledged_by_one(view: ChannelView, mention: Mention) -> bool | None:
    """Did the message become acknowledged before anybody else spoke for it? None if nothing tells.

    By the signal, else by the last state that was shown, else by copies that stop.
    """
    message_id, index = mention.message_id, mention.received.step.index
    named_again = (
        r.step.index
        for r in view.received
        if r.step.index > index and message_id in {entry.message_id for entry in r.message.causal_history}
    )
    until = min(named_again, default=len(view.trace.steps) + 1)
    if view.can(pb.CAPABILITY_ACKNOWLEDGED):
        if any(not ack.possibly and ack.step.index < until for ack in view.standing(message_id).acks):
            return True
        # It may be signalled by a sweep.
        return False if any(index < tick.index < until for tick in view.ticks) else None
    shown = [o for o in view.observed if index < o.step.index < until and o.state.HasField("outgoing")]
    if shown:
        entries = shown[-1].state.outgoing.entries
        return message_id not in {e.message_id for e in entries if e.state != pb.ACK_STATE_ACKNOWLEDGED}
    return _copies_stopped(view, mention, until)


def _copies_stopped(view: ChannelView, mention: Mention, until: int) -> bool | None:
    """Do no copies follow the mention? None where none was due before ``until``, or where a repair was asked for."""
    message_id, since = mention.message_id, mention.received.step
    period = resend_period(view)
    timed = view.can(pb.CAPABILITY_RESEND) and view.can(pb.CAPABILITY_VIRTUAL_CLOCK)
    if not timed or period is None or message_id in view.repairs:
        return None
    copies = [copy.step for copy in view.standing(message_id).copies]
    if any(since.index < step.index < until for step in copies):
        return False
    last = max(copies, key=lambda step: step.index, default=since)
    due = max(last.now_ms, since.now_ms) + 2 * period
    ticks = [tick for tick in view.ticks if since.index < tick.index < until and tick.now_ms > since.now_ms]
    return True if last is not since and ticks and ticks[-1].now_ms >= due else None


def _used_once(view: ChannelView) -> set[str]:
    """Own messages whose IDs were not used again: a second message of an ID starts from the beginning."""
    return {s.message.message_id for s in view.sent} - {s.message.message_id for s in view.sent if s.repeat}


@check("SDS-STATE-17", pb.CAPABILITY_ACKNOWLEDGED, of="acks")
def signals_go_forward(view: ChannelView) -> Iterator[Observation]:
    """An acknowledged message is not signalled as possibly acknowledged later; in one step the order is free."""
    own = _used_once(view)
    acknowledged: dict[str, int] = {}
    for ack in view.acks:
        if ack.message_id not in own:
            continue
        at = acknowledged.get(ack.message_id)
        met = not (ack.possibly and at is not None and at < ack.step.index)
        expected = f"{ack.message_id!r} acknowledged for good, since step {at}"
        yield judged(ack.step, "moved-back", met, expected, "possibly acknowledged again")
        if not ack.possibly:
            acknowledged.setdefault(ack.message_id, ack.step.index)


@check("SDS-STATE-17", of="outgoing-shown sent")
def shown_states_go_forward(view: ChannelView) -> Iterator[Observation]:
    """Shown again and again, a message is in one state at a time and in none it has left."""
    own = _used_once(view)
    reached: dict[str, int] = {}
    for observed in view.showing("outgoing"):
        states: dict[str, set[int]] = {}
        for entry in observed.state.outgoing.entries:  # as ranks; -1 is none of the three
            states.setdefault(entry.message_id, set()).add(_RANKS.get(entry.state, -1))
        # An acknowledged message is gone, or stays as one that is acknowledged (AMB-C15).
        states |= {message_id: {2} for message_id in reached if message_id not in states}
        for message_id in [one for one in states if one in own]:
            ranks = states[message_id]
            if len(ranks) > 1 or not ranks <= {0, 1, 2}:
                seen = [_NAMES[rank] if rank in (0, 1, 2) else "in no known state" for rank in sorted(ranks)]
                yield violated(
                    observed.step, "no-single-state", f"{message_id!r} in one of the three states", " and ".join(seen)
                )
                continue
            (rank,) = ranks
            before = reached.setdefault(message_id, rank)
            if rank < before:
                yield violated(
                    observed.step, "moved-back", f"{message_id!r} {_NAMES[before]}, as before, or further", _NAMES[rank]
                )
            elif rank:
                yield held(observed.step)
            reached[message_id] = max(rank, before)
