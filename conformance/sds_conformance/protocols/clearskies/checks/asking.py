"""Section "Requesting Updates": who asks for what."""

from __future__ import annotations

from collections.abc import Iterator

from clearskies_reference.vector_clock import is_id
from sds_harness.clearskies.frames import GET_UPDATES

from ....judging.judgement import Observation, judged, violated
from ....judging.quoting import json_of
from ..register import check
from ..view.facts import LinkView
from ..view.peer_view import PeerView
from ..view.spreading import askings


@check("CSDB-29", of="links")
def every_connection_is_asked_on(view: PeerView) -> Iterator[Observation]:
    """On a new connection, a peer asks for updates."""
    for link in view.links:
        if _has_another(view, link):
            continue  # one connection to a peer is enough: CSDB-36
        start = view.trace.steps[link.began - 1]
        step = view.due(start, link)
        if link.asked or step is not None:
            asked = f"a database.get_updates for {view.end_of(link)}"
            yield judged(
                link.asked[0].step if link.asked else start, "not-asked", bool(link.asked), asked, "nobody was asked"
            )


@check("CSDB-29", of="asked received")
def the_highest_known_is_asked_for(view: PeerView) -> Iterator[Observation]:
    """A request says the highest known revision of each peer, or what a scan of all records finds (CA-11)."""
    for asking in askings(view):
        for peer, least in asking.at_least.items():
            seen = asking.since.get(peer, 0)
            expected = f"at least {least} for {view.name(peer)}, of whom it has that revision"
            code, said = ("since-too-low", f"{seen}") if peer in asking.since else ("known-peer-not-named", "nothing")
            yield judged(asking.step, code, seen >= least, expected, said)


@check("CSDB-30", of="asked")
def requests_have_revisions_by_peer(view: PeerView) -> Iterator[Observation]:
    """A request is a ``database.get_updates``, and its since an object of integers by peer ID."""
    for request in view.asked:
        kind, since = request.message.type, request.message.body.members.get("since")
        if kind != GET_UPDATES:
            yield violated(request.step, "wrong-type", f"the type {GET_UPDATES!r}", f"{kind!r}")
        elif not isinstance(since, dict):
            yield violated(
                request.step, "since-not-object", "since, an object of revisions by peer ID", json_of(since, 120)
            )
        else:
            wrong = {peer: said for peer, said in since.items() if not is_id(peer) or type(said) is not int}
            expected = "since has integers by peer ID, 32 hex digits"
            code = "revision-not-integer" if all(map(is_id, wrong)) else "peer-id-malformed"
            yield judged(request.step, code, not wrong, expected, json_of(wrong, 120))


@check("CSDB-36", of="links")
def one_connection_is_enough(view: PeerView) -> Iterator[Observation]:
    """Of several connections to a peer, updates are asked for on one."""
    for link in view.links:
        if (other := _has_another(view, link)) is not None:
            step = view.trace.steps[link.began - 1]
            if not other.asked or view.due(step, link) is None:
                continue
            twice = [request for request in link.asked if request.step.index < other.ended]
            seen = f"another one, beside that at step {other.asked[0].step.index}"
            yield judged(
                twice[0].step if twice else step, "asked-twice", not twice, "no request on a second connection", seen
            )


@check("CSDB-36", of="links")
def several_connections_are_tolerated(view: PeerView) -> Iterator[Observation]:
    """A connection stays that was there when the same peer opened another one, and the other one as well."""
    for link in view.links:
        if (other := _has_another(view, link)) is None:
            continue
        step = view.trace.steps[link.began - 1]
        for each in (other, link):
            closed = each.connection.closed_by_peer and not each.in_doubt(step) and each.ended == step.index
            if closed or view.due(step, each) is not None:
                expected = f"two connections to {view.end_of(link)}"
                yield judged(
                    step,
                    "connection-closed",
                    not closed,
                    expected,
                    f"one is closed: {each.connection.reason or 'no reason given'}",
                )


@check("CSDB-37", of="asked")
def nothing_is_skipped_in_requests(view: PeerView) -> Iterator[Observation]:
    """A request names no revision above what is known: what follows that would never come."""
    for asking in askings(view):
        for peer, seen in asking.since.items():
            if peer != view.peer_id:
                most = asking.at_most.get(peer, 0)
                yield judged(
                    asking.step, "since-too-high", seen <= most, f"at most {most} for {view.name(peer)}", f"{seen}"
                )


def _has_another(view: PeerView, link: LinkView) -> LinkView | None:
    """A connection to the same peer that was there before."""
    return next((o for o in view.links if o.peer_id == link.peer_id and o.began < link.began <= o.ended), None)
