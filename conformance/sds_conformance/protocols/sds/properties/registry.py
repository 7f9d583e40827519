"""The register of the global properties of SDS, with wrappers that report a repeated violation once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps

from ....judging.judgement import Outcome
from ...properties import Properties, Sighting
from .group_view import GroupView
from .sides import Side

PROPERTIES = Properties("SDS-", GroupView)
global_property = PROPERTIES.of_one
twin_property = PROPERTIES.of_twins
examine = PROPERTIES.examine

for _id, _judged_by in {
    "G-04": ("DELIVER-07", "RECV-05", "RECV-06"),
    "G-05": ("STATE-11",),
    "G-08": ("DELIVER-06",),
    "G-09": ("MSG-09", "MSG-20", "RECV-05", "STATE-10"),
    "G-13": ("SEND-01", "SEND-02", "SYNC-03", "SYNC-14"),
    "G-14": ("SEND-01", "SYNC-03"),
    "G-16": ("SEND-01", "SYNC-03", "SYNC-14", "DELIVER-01"),
    "G-17": ("SYNC-07", "SYNC-08", "SYNC-09"),
    "G-20": ("R-TRESP-04",),
    "G-21": ("R-TREQ-02",),
    "G-25": ("OUTSWEEP-04", "STATE-15", "R-RECV-01"),
    "G-27": ("STATE-04", "G-01"),
    "G-28": ("G-01",),
    "G-29": ("G-01",),
    "G-32": ("STATE-05", "RECV-04", "SEND-09", "SYNC-05"),
    "G-33": ("MSG-01", "MSG-10", "SYNC-02", "SYNC-07", "EPHEMERAL-05"),
    "G-34": ("RECV-05", "RECV-07", "MSG-24"),
}.items():
    PROPERTIES.withdraw(_id, *_judged_by)

PropertyFunction = Callable[[GroupView], Iterator[Sighting]]
SideFunction = Callable[[GroupView, Side], Iterator[Sighting]]


def of_each_side(function: SideFunction) -> PropertyFunction:
    """Wrap a property of one participant in one channel, so that it judges all participants in all channels.

    For each participant and channel, the wrapper yields all violations, or the last success if there is no violation.
    """

    @wraps(function)
    def of_all(view: GroupView) -> Iterator[Sighting]:
        for side in view.sides.values():
            sightings = list(function(view, side))
            wrong = [sighting for sighting in sightings if sighting.outcome is not Outcome.HELD]
            yield from wrong or sightings[-1:]

    return of_all


def of_each_channel(function: PropertyFunction) -> PropertyFunction:
    """Wrap a property, so that it yields one result for each channel: the first violation, or the last success if there
    is no violation.
    """

    @wraps(function)
    def of_all(view: GroupView) -> Iterator[Sighting]:
        last: dict[str, Sighting] = {}
        wrong: set[str] = set()
        for sighting in function(view):
            if sighting.outcome is Outcome.HELD:
                last[sighting.channel_id] = sighting
            elif sighting.channel_id not in wrong:
                wrong.add(sighting.channel_id)
                yield sighting
        yield from (sighting for channel_id, sighting in last.items() if channel_id not in wrong)

    return of_all


def to_the_first_fault(function: PropertyFunction) -> PropertyFunction:
    """Wrap a property, so that it stops at the first violation: later violations have the same cause."""

    @wraps(function)
    def of_all(view: GroupView) -> Iterator[Sighting]:
        for sighting in function(view):
            yield sighting
            if sighting.outcome is Outcome.VIOLATED:
                return

    return of_all
