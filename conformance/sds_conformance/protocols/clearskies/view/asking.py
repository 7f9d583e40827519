"""What a peer asked for, and what it must and may have known then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clearskies_proto.testee.v1 import testee_pb2 as pb
from sds_harness.clearskies.trace import Step

from ....judging.once import once
from .authority import SAFE_INTEGER
from .facts import Request
from .peer_view import PeerView


@dataclass(frozen=True)
class Asking:
    """One request, beside what was known of each other peer."""

    step: Step
    since: Mapping[str, int]
    at_least: Mapping[str, int]
    """What a scan of the records that surely are there finds (CA-11)."""
    at_most: Mapping[str, int]
    """The highest revision that ever came. That of what is to be refused is CSDB-03, CSDB-06 and CSDB-16."""


@once
def askings(view: PeerView) -> list[Asking]:
    """All requests of a peer that can be read, but for those that only say again what the one before did."""
    return [
        Asking(request.step, request.since, _least(view, _formed(view, request)), _most(view, request))
        for request in view.asked
        if request.since is not None and not request.message.repeated
    ]


def _formed(view: PeerView, request: Request) -> int:
    """The index of the step by which a request may have been formed, although it was sent later."""
    link = view.link_of(request)
    return link.began if request is link.asked[0] else request.step.index


def _least(view: PeerView, index: int) -> dict[str, int]:
    """What was there when the peer was quiet last, and still is: it may be slow to take things in."""
    quiet = max((step for step in view.quiet if step < index), default=0)
    least: dict[str, int] = {}
    for _, held in view.known.all_at(index - 1):
        update = held.update
        if update is None or held.step.index > quiet or update.version in view.untaken:
            continue
        if any(link.connection.closed_by_peer and link.ended == held.step.index for link in view.links):
            continue  # it may have done so in place of taking it
        exact = view.can(pb.CAPABILITY_WIDE_INTEGERS) or (update.rev or 0) <= SAFE_INTEGER
        if update.by not in (None, view.peer_id) and update.rev and exact:
            least[str(update.by)] = max(update.rev or 0, least.get(str(update.by), 0))
    return least


def _most(view: PeerView, request: Request) -> dict[str, int]:
    most: dict[str, int] = {}
    for arrival in view.arrivals:
        if arrival.step.index <= request.step.index and arrival.update.by is not None:
            most[arrival.update.by] = max(arrival.update.rev or 0, most.get(arrival.update.by, 0))
    return most
