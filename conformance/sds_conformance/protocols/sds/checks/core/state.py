"""Section STATE: "Participant state"."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind

from .....judging.judgement import Observation, held, judged, violated
from .....judging.once import once
from ...register import check
from ...view.channel_view import ChannelView
from ...view.deafness import tail_probes
from ...view.declared_limits import limit_in_force
from ...view.facts import Sent
from ...view.filters import ENOUGH, KnownFilters, Membership
from ...view.histories import outsiders, with_outsiders
from ...view.lateness import named_early
from ...view.log_orders import neighbours
from ...view.losses import may_be_lost
from ...view.odd_messages import in_another_layout
from ...view.repair_tracker import NEVER
from ...view.resends import given_up, spoken_for
from .outsweep import acknowledged_at, no_copies_after_acknowledgement
from .send import judge_members, judge_strangers, received_before

ACK_STATES = {number: name.removeprefix("ACK_STATE_").lower() for name, number in pb.AckState.items()}


@check("SDS-STATE-05", of="outgoing received")
def filter_holds_what_was_received(view: ChannelView) -> Iterator[Observation]:
    """The bloom filter has no false negatives for the newest received IDs."""
    for sent in view.outgoing:
        expected = received_before(view, sent, delivered=True)
        holds = view.filter_of(sent.message.bloom_filter)
        if holds is None or len(expected) < 3 or sent.repeat:
            continue
        what = f"all of the {len(expected)} newest received IDs in the filter"
        yield from judge_members(sent.step, holds, expected, what, "{} is not")


@check("SDS-STATE-05", of="outgoing")
def filter_holds_nothing_else(view: ChannelView) -> Iterator[Observation]:
    """Neither IDs of other channels, nor of other participants, nor of missing messages are in the filter.

    Those that resemble a received one may be in it by a hash that does not tell them apart: SDS-STATE-07.
    """
    for sent, holds, what, ids in _strangers(view, alike=False):
        yield from judge_strangers(sent.step, holds, ids, f"no IDs {what} in the filter", code="foreign-entry")


@check("SDS-STATE-07", of="outgoing")
def the_hash_tells_alike_ids_apart(view: ChannelView) -> Iterator[Observation]:
    """IDs that share a long beginning or end with a received one are not in the filter for that: the hash is of all."""
    for sent, holds, what, ids in _strangers(view, alike=True):
        expected = f"no IDs {what} in the filter, although they have {ALIKE} characters in common with received ones"
        yield from judge_strangers(sent.step, holds, ids, expected, code="alike-entry")


ALIKE = 16
"""That many characters at the beginning or at the end make two IDs resemble each other."""


@once
def _ends_of_members(view: ChannelView) -> tuple[set[str], set[str]]:
    """How the IDs of received messages begin, and how they end."""
    members = [message_id for message_id in view.arrivals if len(message_id) > ALIKE]
    return {message_id[:ALIKE] for message_id in members}, {message_id[-ALIKE:] for message_id in members}


def _strangers(view: ChannelView, *, alike: bool) -> Iterator[tuple[Sent, Membership, str, set[str]]]:
    """Own messages whose filters can be read, and the IDs that these have no reason to hold, by where they come from.

    They are those that resemble a received ID, or those that do not. The set grows from message to message.
    """
    met = {s.message.message_id for s in [*view.sent, *view.syncs, *view.ephemerals]}
    met |= view.arrivals.keys() - _only_refused(view)
    if len(_named_with_content(view.known_filters) - met) < ENOUGH:
        return
    starts, ends = _ends_of_members(view)
    foreign: dict[str, set[str]] = {}
    steps, passed = _with_content(view.known_filters), 0
    for sent in view.outgoing:
        holds = view.filter_of(sent.message.bloom_filter)
        if holds is None:
            continue
        while passed < len(steps) and steps[passed].index < sent.step.index:
            for what, message_id in _foreign_ids(view, steps[passed], met):
                if (message_id[:ALIKE] in starts or message_id[-ALIKE:] in ends) is alike:
                    foreign.setdefault(what, set()).add(message_id)
            passed += 1
        yield from ((sent, holds, what, ids) for what, ids in foreign.items())


@once
def _only_refused(view: ChannelView) -> set[str]:
    """IDs of others that came, and were refused each time."""
    refused = {received.message.message_id for received in view.refused if not received.own}
    return refused - {received.message.message_id for received in view.received}


@once
def _with_content(known: KnownFilters) -> list[Step]:
    """The steps of anybody in which content comes, or is sent."""
    content = Kind.CONTENT
    return [
        step
        for step in known.trace.steps
        if (step.command == "send" and any(sent.kind is content for sent in step.messages))
        or (step.command == "receive" and (message := step.arrived) is not None and message.kind is content)
    ]


@once
def _named_with_content(known: KnownFilters) -> set[str]:
    """The IDs of all that was sent or came in these steps, and of what they depend on."""
    messages = [m for step in _with_content(known) for m in (*step.messages, step.arrived) if m is not None]
    ids = {message.message_id for message in messages}
    return ids.union(entry.message_id for message in messages for entry in message.causal_history)


def _foreign_ids(view: ChannelView, step: Step, met: set[str]) -> Iterator[tuple[str, str]]:
    """The IDs of a step that a filter has no reason to hold, with where they come from; not what it has ``met``."""
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


@check("SDS-STATE-08", pb.CAPABILITY_RESEND, of="sent")
def outgoing_buffer_kept(view: ChannelView) -> Iterator[Observation]:
    """Unacknowledged own messages are shown as such."""
    for observed in view.showing("outgoing"):
        states = {entry.message_id: entry.state for entry in observed.state.outgoing.entries}
        for message_id, anything_speaks in observed.outstanding.items():
            if anything_speaks:
                continue
            shown = ACK_STATES.get(states[message_id], "in no known state") if message_id in states else "not there"
            soft = given_up(view, message_id, observed.step.index) if message_id not in states else ""
            expected = f"{message_id!r} unacknowledged in the outgoing buffer"
            yield judged(
                observed.step,
                "wrong-state" if message_id in states else "not-kept",
                states.get(message_id) == pb.ACK_STATE_UNACKNOWLEDGED,
                expected,
                shown,
                soft,
            )
    for copy in view.copies:
        if copy.step.index < spoken_for(view, copy.original):
            yield held(copy.step)


@check("SDS-STATE-09", pb.CAPABILITY_DELIVERED, of="received")
def incoming_buffer_kept(view: ChannelView) -> Iterator[Observation]:
    """Messages with unmet dependencies are in the incoming buffer: it shows them, or they are delivered later."""
    for received in view.received:
        if received.acceptable and received.unmet and received.delivered and not received.delivered_at_once:
            yield held(received.step)
    for observed in view.observed:
        if observed.state.HasField("incoming"):
            kept = set(observed.state.incoming.message_ids)
            for message_id in sorted(observed.buffered):
                if message_id in kept or _unmet_now(view, message_id, observed.step):
                    expected = f"{message_id!r}, which waits, in the incoming buffer"
                    yield judged(observed.step, "not-kept", message_id in kept, expected, f"{sorted(kept)}")


@check("SDS-STATE-09", pb.CAPABILITY_DELIVERED, of="refused incoming-shown")
def refused_messages_do_not_wait(view: ChannelView) -> Iterator[Observation]:
    """A message that was refused is not in the incoming buffer."""
    for observed in view.showing("incoming"):
        came = {r.message.message_id for r in view.refused if r.step.index < observed.step.index}
        refused = came & _only_refused(view)
        left = min(refused & set(observed.state.incoming.message_ids), default="")
        if refused:
            expected = f"{left!r}, which was refused, out of the incoming buffer"
            yield judged(observed.step, "refused-kept", not left, expected, "it is in it")


@once
def _first_delivered(view: ChannelView) -> dict[str, int]:
    return {d.message_id: d.step.index for d in reversed(view.delivered)}


def _unmet_now(view: ChannelView, message_id: str, now: Step) -> bool:
    """Does it wait for what has neither been delivered nor may have been given up?"""
    done = _first_delivered(view)
    arrivals = [r for r in view.arrivals.get(message_id, ()) if r.acceptable and r.step.index < now.index]
    waiting = (r for r in arrivals if not r.rejected and any(done.get(i, NEVER) >= now.index for i in r.unmet))
    return any(not may_be_lost(view, {message_id, *r.unmet}, now) for r in waiting)


@check("SDS-STATE-10", pb.CAPABILITY_DELIVERED)
def log_is_complete(view: ChannelView) -> Iterator[Observation]:
    """The log holds every own and every delivered message, and nothing else.

    A causal history that has room for all of it shows the whole log.
    """
    for sent in view.outgoing:
        size = view.history_size_of(sent)
        if sent.certain and not sent.repeat and 0 < sent.log_most <= min(size, len(sent.tail)):
            absent = next((item.message_id for item in sent.before if item.message_id not in sent.history), None)
            if absent is None:
                yield held(sent.step)
            elif not with_outsiders(view, sent):
                expected = f"{absent!r} in the causal history, which has room for all of the log"
                yield violated(sent.step, "missing-entry", expected, "not there")
    bound = limit_in_force(view.trace, "log_entries")
    for observed in view.showing("log"):
        if bound is not None and len(observed.log) > bound:
            continue
        shown = set(observed.step.shown_log)
        sure = {item.message_id for item in observed.log if not item.unseen}
        strange = shown - view.known_ids - outsiders(view, shown, observed.step.index)
        if sure - shown:
            yield violated(observed.step, "missing-entry", f"{min(sure - shown)!r} in the log", "it is not in it")
        elif strange:
            yield violated(
                observed.step, "foreign-entry", "only messages of the channel in the log", f"{min(strange)!r} in it"
            )
        elif sure:
            yield held(observed.step)


@check("SDS-STATE-10", of="outgoing received")
def what_was_named_stays_in_the_log(view: ChannelView) -> Iterator[Observation]:
    """A message that an own one has named is in the log, and is named again as long as it is among the last.

    This is for who gives no delivery events.
    """
    if view.can(pb.CAPABILITY_DELIVERED):
        return
    first_named: dict[str, int] = {}
    for sent in reversed(view.outgoing):
        first_named |= dict.fromkeys(sent.history, sent.step.index)
    for sent, received in tail_probes(view):
        message_id = received.message.message_id
        if first_named.get(message_id, sent.step.index) < sent.step.index:
            expected = f"{message_id!r}, named at step {first_named[message_id]}, in causal_history again"
            yield judged(sent.step, "missing-entry", message_id in sent.history, expected, f"{list(sent.history)}")


@check("SDS-STATE-11", pb.CAPABILITY_DELIVERED, of="log-of-two")
def log_ordered_by_lamport(view: ChannelView) -> Iterator[Observation]:
    """The log is ordered by Lamport timestamp."""
    for pair in neighbours(view):
        if pair.tied:
            continue
        if pair.in_order:
            yield held(pair.step)
        else:
            yield violated(pair.step, "wrong-order", pair.expected, "the other way round")


@check("SDS-STATE-12", pb.CAPABILITY_ACKNOWLEDGED, of="unmentioned")
def no_acknowledgement_from_nothing(view: ChannelView) -> Iterator[Observation]:
    """A message that nothing speaks for stays unacknowledged."""
    for silent in view.unmentioned:
        step, standing = silent.received.step, view.standing(silent.message_id)
        events = [ack for ack in standing.acks if ack.step is step]
        before = any(mention.received.step.index < step.index for mention in standing.mentions)
        if events and not before:
            expected = f"{silent.message_id!r} unacknowledged: neither history nor filter names it"
            yield violated(
                step, "acknowledged-by-nothing", expected, f"{'possibly ' if events[0].possibly else ''}acknowledged"
            )
        elif not before:
            yield held(step)


@check("SDS-STATE-12", pb.CAPABILITY_ACKNOWLEDGED, of="acks")
def no_acknowledgement_out_of_the_blue(view: ChannelView) -> Iterator[Observation]:
    """No acknowledgement is signalled, in any step, for a message that nothing received speaks for."""
    for ack in view.acks:
        if view.own(ack.message_id) is None:
            continue
        spoke = [mention.received.step.index for mention in view.standing(ack.message_id).mentions]
        spoke += [view.maybe[ack.message_id]] if ack.message_id in view.maybe else []
        spoke += [early] if (early := named_early(view, ack.message_id)) is not None else []
        expected = f"{ack.message_id!r} unacknowledged: nothing that was received speaks for it"
        seen = f"{'possibly ' if ack.possibly else ''}acknowledged in answer to {ack.step.command}"
        yield judged(
            ack.step,
            "acknowledged-by-nothing",
            min(spoke, default=ack.step.index + 1) <= ack.step.index,
            expected,
            seen,
        )


@check("SDS-STATE-13", pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED, of="mentions")
def possibly_acknowledged_stays_buffered(view: ChannelView) -> Iterator[Observation]:
    """A possibly acknowledged message stays in the outgoing buffer."""
    once_in_a_filter = [mention for mention in view.mentions if mention.hits == 1 and not mention.certain]
    for observed in view.showing("outgoing"):
        buffered = {entry.message_id for entry in observed.state.outgoing.entries}
        for mention in once_in_a_filter:
            if view.maybe.get(mention.message_id, observed.step.index) < observed.step.index:
                continue
            once = mention.received.step.index < observed.step.index
            said = view.standing(mention.message_id).mentions if once else ()
            acks = (ack for ack in view.standing(mention.message_id).acks if not ack.possibly)
            if any(ack.step.index < observed.step.index for ack in acks):
                continue  # that it was told as acknowledged is SDS-ACK-04, or SDS-STATE-12
            if once and not any(m is not mention and m.received.step.index < observed.step.index for m in said):
                met = mention.message_id in buffered
                expected = f"{mention.message_id!r}, possibly acknowledged, in the buffer"
                yield judged(
                    observed.step,
                    "not-kept",
                    met,
                    expected,
                    "it is gone",
                    given_up(view, mention.message_id, observed.step.index),
                )
    for mention in once_in_a_filter:
        later = (copy.step for copy in view.standing(mention.message_id).copies)
        yield from (held(step) for step in later if step.index > mention.received.step.index)


@check("SDS-STATE-15", pb.CAPABILITY_RESEND, of="mentions")
def acknowledged_leaves_the_buffer(view: ChannelView) -> Iterator[Observation]:
    """An acknowledged message is not in the outgoing buffer, or only as acknowledged; nothing of it is sent again."""
    if view.can(pb.CAPABILITY_VIRTUAL_CLOCK):
        yield from no_copies_after_acknowledgement(view)
    acknowledged = acknowledged_at(view)
    for observed in view.observed:
        certain = {message_id for message_id, step in acknowledged.items() if step.index < observed.step.index}
        if not certain or not observed.state.HasField("outgoing"):
            continue
        entries = observed.state.outgoing.entries
        waiting = (e.message_id for e in entries if e.state != pb.ACK_STATE_ACKNOWLEDGED)
        left = next((message_id for message_id in waiting if message_id in certain), None)
        yield judged(
            observed.step,
            "still-buffered",
            left is None,
            f"{left!r}, acknowledged, out of the outgoing buffer",
            "it is still there",
        )


@check("SDS-STATE-16", pb.CAPABILITY_DELIVERED, of="came-elsewhere")
def channels_not_joined_deliver_nothing(view: ChannelView) -> Iterator[Observation]:
    """A message of a channel that the participant has not joined is delivered in none that it has, however alike."""
    for step in view.trace.of(view.party.name):
        message = step.arrived
        if message is None or message.channel_id in view.party.channels or message.message_id in view.arrivals:
            continue
        if message.kind is Kind.CONTENT and not in_another_layout(message, view.channel_id):
            delivered = [event.message_id for event in step.signals("delivered", view.channel_id)]
            met = message.message_id not in delivered
            expected = f"no delivery in {view.channel_id!r} of a message of channel {message.channel_id!r}"
            yield judged(step, "delivered-elsewhere", met, expected, f"a delivery of {message.message_id!r}")


@check("SDS-STATE-16", pb.CAPABILITY_CHANNELS, pb.CAPABILITY_ACKNOWLEDGED, of="came-elsewhere sent")
def channels_are_isolated(view: ChannelView) -> Iterator[Observation]:
    """What a message of one channel says of a message of another changes nothing there."""
    for step in view.trace.of(view.party.name):
        message = step.arrived
        if message is None or message.channel_id == view.channel_id or message.sender_id == view.party.participant_id:
            continue
        # The other channel may have messages of these IDs, too, and acknowledge them.
        acked = {event.message_id for event in step.signals("acknowledged", view.channel_id)}
        for sent in (view.own(e.message_id) for e in message.causal_history):
            if sent is None or spoken_for(view, sent) < step.index:
                continue
            own_id = sent.message.message_id
            expected = f"{own_id!r} of channel {view.channel_id!r} untouched by a message of {message.channel_id!r}"
            yield judged(step, "acknowledged-elsewhere", own_id not in acked, expected, "acknowledged")
        for event in step.signals("possibly_acknowledged", view.channel_id):
            own_id = event.message_id
            sent = view.own(own_id)
            if sent is None or spoken_for(view, sent) < step.index:
                continue
            expected = f"{own_id!r} of channel {view.channel_id!r} untouched by a message of {message.channel_id!r}"
            yield violated(step, "acknowledged-elsewhere", expected, "possibly acknowledged")
