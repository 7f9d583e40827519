"""A trace, read for each participant in each of its channels."""

from __future__ import annotations

from sds_harness.sds.trace import Trace

from .channel_view import ChannelView
from .filters import KnownFilters


def channel_views(trace: Trace) -> list[ChannelView]:
    """One view for every participant and channel of a trace."""
    filters = KnownFilters(trace)
    views = [ChannelView(trace, party, where, filters) for party in trace.parties.values() for where in party.channels]
    together: dict[str, list[ChannelView]] = {}
    for view in views:
        view.everybody = together.setdefault(view.channel_id, [])
        view.everybody.append(view)
    return views
