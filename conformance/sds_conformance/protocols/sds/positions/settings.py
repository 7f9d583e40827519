"""Positions on values of settings that the specification neither allows nor forbids: they are refused, used, or
replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import default_response_groups

from ..register import shows
from ..view.channel_view import ChannelView

PER_GROUP = 128
"""Number of participants for each response group. With this number or more, the prose and the formula of the
specification differ.
"""


def _iterate_opened(view: ChannelView) -> Iterator[tuple[Step, pb.Configuration, pb.Configuration | None]]:
    """Yield (step, requested settings, settings in force) for each command to open a participant with SDS-R.

    The settings in force are None if the command was refused. Yields nothing for all views but the first view of a
    trace: a refused command belongs to no participant, so it must be counted once.
    """
    first = next(iter(view.trace.parties.values()))
    if view.party is not first or view.channel_id != next(iter(first.channels), view.channel_id):
        return
    for step in view.trace.steps:
        asked = step.request.open.configuration
        if step.command == "open" and asked.sds_r and step.reply is not None and step.answer in ("opened", "rejected"):
            yield step, asked, step.reply.opened.configuration if step.answer == "opened" else None


def _shows_treatment(position: str, fields: tuple[str, ...], is_odd: Callable[[pb.Configuration], bool]) -> None:
    """Register a function that shows whether odd values of the settings ``fields`` are refused, used or replaced."""

    @shows(position, pb.CAPABILITY_SDS_R)
    def treatment_of_odd_settings(view: ChannelView) -> Iterator[tuple[Step, str]]:
        for step, asked, in_force in _iterate_opened(view):
            if all(map(asked.HasField, fields)) and is_odd(asked):
                yield step, "refuses" if in_force is None else "takes" if is_odd(in_force) else "others"


_shows_treatment("AMB-08", ("t_min_ms", "t_max_ms"), lambda settings: settings.t_max_ms <= settings.t_min_ms)
_shows_treatment("AMB-09", ("t_max_ms",), lambda settings: settings.t_max_ms == 0)
_shows_treatment("AMB-10", ("num_response_groups",), lambda settings: settings.num_response_groups < 1)


@shows("AMB-11", pb.CAPABILITY_SDS_R)
def default_number_of_groups(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """Show which default number of response groups is in force for 128 participants or more."""
    for step, asked, in_force in _iterate_opened(view):
        if in_force is None or asked.HasField("num_response_groups") or asked.num_participants < PER_GROUP:
            continue
        if in_force.HasField("num_response_groups"):
            names = {default_response_groups(asked.num_participants): "formula"}
            names[asked.num_participants // PER_GROUP] = "prose"
            yield step, names.get(in_force.num_response_groups, "otherwise")
