"""Which value the Lamport timestamp has where the text lets it have several."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sds_harness.sds.trace import Step
from sds_reference import Kind

from ..register import way
from ..view.channel_view import ChannelView
from ..view.facts import ENDS, LamportExpectation, Sent
from ..view.odd_messages import LARGEST_LAMPORT
from ..view.refusals import offered
from ..view.timestamps import moved_sends
from .refusing import refused

DAY_MS = 24 * 3_600_000


def _first(view: ChannelView) -> tuple[Sent, int] | None:
    """The first own message and its timestamp, where nothing had arrived and the clock is known."""
    sent = next(iter(view.outgoing), None)
    if sent is None or sent.message.lamport_timestamp is None or not sent.lamport.now.exact:
        return None
    came = any(arrivals[0].step.index < sent.step.index for arrivals in view.arrivals.values())
    return None if came or sent.lamport.source != "open" else (sent, sent.message.lamport_timestamp)


@way("AMB-12", {"the-time": "carries the time itself", "one-more": "carries one millisecond more"})
def first_in_the_same_millisecond(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """The first message goes out in the millisecond in which the channel was made: its timestamp says it."""
    first = _first(view)
    if first is None or first[0].step.now_ms != view.party.opened_ms:
        return
    names = {view.party.opened_ms: "the-time", view.party.opened_ms + 1: "one-more"}
    if first[1] in names:
        yield first[0].step, names[first[1]]


@way("AMB-111", {"at-open": "when the channel is made", "at-first-use": "when the channel is first used"})
def initialised(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """The clock is set back between the making of a channel and its first message, which goes by one of the times."""
    first, opened = _first(view), view.party.opened_ms
    if first is None or first[0].step.now_ms + 1 >= opened:
        return
    sent, lamport = first
    names = {opened: "at-open", opened + 1: "at-open"}
    names |= {sent.step.now_ms: "at-first-use", sent.step.now_ms + 1: "at-first-use"}
    if lamport in names:
        yield sent.step, names[lamport]


@way(
    "AMB-14",
    {
        "refuses": "refuses messages with a timestamp beyond 2^53+10",
        "sends-no-more": "refuses to send after the largest timestamp",
        "stays": "sends the largest timestamp again",
        "wraps": "goes on with a smaller timestamp",
    },
)
def at_the_end(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A timestamp beyond 2^53+10 comes and is refused, or what is sent after an end of 64 bits carries the value."""
    for received in view.refused:
        if not received.own and received.odd.endswith("(AMB-14)"):
            yield from refused(view, received.step)
    for sent in view.outgoing:
        lamport, e = sent.message.lamport_timestamp, sent.lamport
        if lamport is None or e.previous <= LARGEST_LAMPORT:
            continue
        if e.stays(lamport):
            yield sent.step, "stays"
        elif lamport < e.previous:
            yield sent.step, "wraps"
    ends = (d.step for d in view.delivered if d.received and d.received.message.lamport_timestamp in ENDS)
    largest = next(ends, None)
    if largest is None:
        return
    for step in view.trace.of(view.party.name):
        here = step.channel_id == view.channel_id and step.index > largest.index
        if here and step.command == "send" and step.answer == "rejected" and step.request.send.content:
            yield step, "sends-no-more"


def _moved(
    view: ChannelView, highs: Callable[[LamportExpectation], tuple[int, int]], not_by_it: str, by_it: str
) -> Iterator[tuple[Step, str]]:
    """Is the clock moved by what is ahead of all else: the first of the two ``highs``, while the other is not?"""
    for sent, seen in moved_sends(view):
        e = sent.lamport
        ahead, other = highs(e)
        rest = max(e.high, other, e.claimed_high)
        if ahead > rest and e.low <= seen <= e.high:
            yield sent.step, not_by_it
        elif rest < seen <= ahead:
            yield sent.step, by_it


@way(
    "AMB-15",
    {"at-delivery": "when a message is delivered", "on-arrival": "when a message arrives, though it waits"},
    of="sent",
)
def moved_by_content(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A message that waits is ahead of the clock: the next own one follows it, or is below what follows it."""
    return _moved(view, lambda e: (e.buffered_high, e.sync_high), "at-delivery", "on-arrival")


@way("AMB-17", {"leaves-it": "leaves its own timestamp", "takes-it-over": "takes the timestamp over"}, of="sent")
def moved_by_a_sync(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A sync message that was received is ahead of all else: the next own message follows it, or is below."""
    return _moved(view, lambda e: (e.sync_high, e.buffered_high), "leaves-it", "takes-it-over")


@way(
    "AMB-18",
    {"moves": "moves its own timestamp", "does-not-move": "leaves it, and the next message has the same"},
    of="sent",
)
def moved_by_an_own_sync(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Ahead of the clock, the content message after a sync message carries one more, or the same once again."""
    for sent, seen in moved_sends(view):
        e = sent.lamport
        if e.source == "sync" and e.counts_on and not e.late_delivery and seen in (e.low, e.low - 1):
            yield sent.step, "moves" if seen == e.low else "does-not-move"


@way("AMB-107", {"delivers": "delivers a message from more than a day ahead", "refuses": "refuses it"}, of="arrived")
def far_ahead(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Content from more than a day ahead, with nothing else odd about it, is refused or delivered at once."""
    for received in offered(view):
        lamport = received.message.lamport_timestamp or 0
        ahead = received.step.now_ms + DAY_MS < lamport <= LARGEST_LAMPORT
        if not ahead or received.kind is not Kind.CONTENT or received.own or received.duplicate or received.unmet:
            continue
        if received.odd and not received.odd.endswith("(AMB-107)"):
            continue
        if received.rejected:
            yield from refused(view, received.step)
        elif received.delivered_at_once:
            yield received.step, "delivers"
