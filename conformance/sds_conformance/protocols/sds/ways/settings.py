"""What becomes of settings that the text says little about: refused, or put in force in some way."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import default_response_groups

from ..register import way
from ..view.channel_view import ChannelView

WITHOUT_HALVES = 128
"""Participants from which on prose and formula differ."""
_SETTING = {"refuses": "refuses it", "takes": "takes it", "others": "puts other settings in force"}


def _opened(view: ChannelView) -> Iterator[tuple[Step, pb.Configuration, pb.Configuration | None]]:
    """What was asked for with SDS-R, and what is in force, None where it was refused; once for a trace.

    Refused settings have no participant, so one view speaks for the trace.
    """
    first = next(iter(view.trace.parties.values()))
    if view.party is not first or view.channel_id != next(iter(first.channels), view.channel_id):
        return
    for step in view.trace.steps:
        asked = step.request.open.configuration if step.command == "open" else None
        if asked is None or not asked.sds_r or step.reply is None or not view.can(pb.CAPABILITY_SDS_R):
            continue
        if step.answer == "opened":
            yield step, asked, step.reply.opened.configuration
        elif step.answer == "rejected":
            yield step, asked, None


@way("AMB-09", _SETTING)
def no_time_to_answer_in(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A participant is to have a T_max of 0: it is refused, or opened with that, or with another one."""
    for step, asked, in_force in _opened(view):
        if asked.HasField("t_max_ms") and not asked.t_max_ms:
            yield step, _made_of_it(in_force, in_force is not None and in_force.t_max_ms == 0)


@way("AMB-08", _SETTING)
def no_room_for_a_backoff(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A participant is to have a T_max that is not above T_min: it is refused, or opened with that, or with others."""
    for step, asked, in_force in _opened(view):
        if asked.HasField("t_max_ms") and asked.HasField("t_min_ms") and asked.t_max_ms <= asked.t_min_ms:
            yield step, _made_of_it(in_force, in_force is not None and in_force.t_max_ms <= in_force.t_min_ms)


@way("AMB-10", _SETTING)
def no_response_groups(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """A participant is to have no response groups: it is refused, or opened with none, or with another number."""
    for step, asked, in_force in _opened(view):
        if asked.HasField("num_response_groups") and asked.num_response_groups < 1:
            yield step, _made_of_it(in_force, in_force is not None and in_force.num_response_groups < 1)


def _made_of_it(in_force: pb.Configuration | None, taken: bool) -> str:
    return "refuses" if in_force is None else "takes" if taken else "others"


@way(
    "AMB-11",
    {
        "formula": "one more than the whole 128s, as the formula has it",
        "prose": "one for each whole 128, as the prose has it",
        "otherwise": "another number",
    },
)
def default_number_of_groups(view: ChannelView) -> Iterator[tuple[Step, str]]:
    """The number of groups in force, where only that of the participants was given, 128 or more."""
    for step, asked, in_force in _opened(view):
        if in_force is None or asked.HasField("num_response_groups") or asked.num_participants < WITHOUT_HALVES:
            continue
        if in_force.HasField("num_response_groups"):
            names = {default_response_groups(asked.num_participants): "formula"}
            names[asked.num_participants // WITHOUT_HALVES] = "prose"
            yield step, names.get(in_force.num_response_groups, "otherwise")
