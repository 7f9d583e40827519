"""Orders of the log that an implementation shows: in observed states, and in the causal histories of its messages."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from sds_harness.sds.trace import Step

from ....judging.view_cache import cache_per_view
from .channel_view import ChannelView
from .facts import LogItem


@dataclass(slots=True)
class Neighbours:
    """Two adjacent messages of a shown log, ``first`` before ``second``.

    Treat it as immutable. It is not frozen because freezing doubles the time to create it.
    """

    step: Step
    first: LogItem
    second: LogItem

    @property
    def tied(self) -> bool:
        """Are the Lamport timestamps of the two messages equal, so that the message IDs decide their order?"""
        return self.first.lamport == self.second.lamport

    @property
    def in_order(self) -> bool:
        return self.first < self.second

    @property
    def in_utf16_order(self) -> bool:
        """Are the two IDs in the order of UTF-16, which differs for these IDs from the order of UTF-8 (AMB-88)?"""
        return only_in_utf16_order(self.first.message_id, self.second.message_id)

    @property
    def expected(self) -> str:
        """A phrase for reports: the two messages in the opposite order."""
        first, second = self.first, self.second
        return f"{second.message_id!r} (Lamport {second.lamport}) before {first.message_id!r} ({first.lamport})"

    @property
    def is_late_insertion(self) -> bool:
        """Does the message that entered the log later belong before the other message?"""
        return (self.first.arrival < self.second.arrival) is not self.in_order


def only_in_utf16_order(first: str, second: str) -> bool:
    """Are these IDs, which are not in UTF-8 order, in UTF-16 order? The two orders differ only for rare characters
    (AMB-88).
    """
    one, other = (message_id.encode("utf-16-be", "surrogatepass") for message_id in (first, second))
    return not (first + second).isascii() and one < other


def shown_orders(view: ChannelView) -> Iterator[tuple[Step, list[LogItem]]]:
    """Yield (step, known entries with the oldest first) of each shown log and of each causal history.

    IDs that belong to several different messages are left out.
    """
    for observed in view.observed:
        if observed.state.HasField("log"):
            places = (item for item in observed.log if item.message_id not in view.ambiguous_ids)
            items = {item.message_id: item for item in places}
            yield observed.step, [items[message_id] for message_id in observed.step.shown_log if message_id in items]
    direction = _direction(view)
    for sent in view.outgoing:
        if sent.log_is_known and direction:
            items = {item.message_id: item for item in sent.tail}
            yield sent.step, [items[message_id] for message_id in sent.history[::direction] if message_id in items]


def shows_its_log(view: ChannelView) -> bool:
    """Does any state show the log? If so, a causal history in the wrong order violates only SDS-SEND-05."""
    return bool(view.states_showing("log"))


@cache_per_view
def neighbours(view: ChannelView) -> tuple[Neighbours, ...]:
    """All neighbours in all shown orders. If the trace shows the log, wrong orders of causal histories are left out."""
    by_the_log = shows_its_log(view)
    pairs = (
        Neighbours(step, first, second)
        for step, known in shown_orders(view)
        for first, second in itertools.pairwise(known)
        if first != second
    )
    return tuple(pair for pair in pairs if pair.in_order or pair.step.command == "observe" or not by_the_log)


def _direction(view: ChannelView) -> int:
    """The order of the entries in causal histories: 1 if oldest first, -1 if newest first, 0 if unknown (AMB-29)."""
    pairs = (pair for sent in view.outgoing if sent.log_is_known for pair in itertools.pairwise(sent.named_lamports))
    score = sum((b > a) - (b < a) for a, b in pairs)
    return (score > 0) - (score < 0)
