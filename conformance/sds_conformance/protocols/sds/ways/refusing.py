"""When a refusal tells something: it is of what is odd, and what is ordinary is taken."""

from __future__ import annotations

from collections.abc import Iterator

from sds_harness.sds.trace import Step

from ....judging.once import once
from ..view.channel_view import ChannelView
from ..view.refusals import excuse


@once
def takes_the_ordinary(view: ChannelView) -> bool:
    """Did the participants in the channel take all messages that nobody may refuse, and one at least?"""
    unfounded = any(r.valid and not excuse(each, r) for each in view.everybody for r in each.refused)
    return not unfounded and any(r.valid and not r.rejected for each in view.everybody for r in each.received)


def refused(view: ChannelView, step: Step) -> Iterator[tuple[Step, str]]:
    """What a refusal shows: the way ``refuses``, or nothing, by who refuses what is ordinary as well."""
    if takes_the_ordinary(view):
        yield step, "refuses"
