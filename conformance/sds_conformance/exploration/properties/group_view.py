"""A performance, read as the facts of all participants together."""

from __future__ import annotations

from sds_harness.schedules import Performance


class GroupView:
    """The facts that global properties ask for."""

    def __init__(self, performance: Performance) -> None:
        self.performance = performance
        self.schedule = performance.schedule
