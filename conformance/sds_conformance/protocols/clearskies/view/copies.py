"""Versions of others as a peer repeats them: to other peers, and to its application.

What was in conflict is left out: what came of it may say something else under the same revision (CA-8). So is what may
be refused, of which nothing says what it is taken for.
"""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.clearskies.trace import Step

from ....judging.once import once
from .facts import Update, Version, same_content
from .peer_view import PeerView
from .shown import Seen, of_record


@once
def copies_sent(view: PeerView) -> list[tuple[Update, Update]]:
    """What it sent of versions of others, each with the one that came."""
    out = []
    for update in view.sent:
        if update.by != view.peer_id and update.version is not None:
            original = _original(view, update.version, update.content, update.step)
            if original is not None:
                out.append((update, original))
    return out


@once
def told_to_applications(view: PeerView) -> list[tuple[Step, Seen, Update]]:
    """What it told its application of versions of others, each with the one that came."""
    return list(_told(view))


def _told(view: PeerView) -> Iterator[tuple[Step, Seen, Update]]:
    for step in view.steps:
        for event in step.signals("changed"):
            seen = of_record(event.record)
            if seen.version is not None and seen.by != view.peer_id:
                original = _original(view, seen.version, seen.content, step)
                if original is not None:
                    yield step, seen, original


def _original(view: PeerView, version: Version, content: tuple[object, object, bool], step: Step) -> Update | None:
    """What came of a version until a step: as it is said, if it ever came so; None if it was in conflict."""
    came = [u for u in _received_as(view).get(version, ()) if u.step.index <= step.index]
    if not came or version[0] in view.contested(step):
        return None
    return next((update for update in came if same_content(update.content, content)), came[-1])


@once
def _received_as(view: PeerView) -> dict[Version | None, list[Update]]:
    out: dict[Version | None, list[Update]] = {}
    for arrival in view.arrivals:
        if not (arrival.must_not or arrival.may_not):
            out.setdefault(arrival.update.version, []).append(arrival.update)
    return out
