"""Companies that remember: what a participant did before, after all the same, it does not do again."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakSet

from sds_harness.link import Limits, Link
from sds_harness.remembering import OtherAnswer, Remembering
from sds_harness.schedules import Performance, Schedule

from ..judging.runner import Connect
from .casting import Casting, Company
from .casts import NotPlayed

OTHERWISE = "does not always do the same: {}. With --whole nothing is taken from memory"
"""Why nothing more is played."""


class Rehearsed(Company):
    """A company whose implementation is asked what it was not asked yet."""

    def __init__(
        self,
        connect: Connect,
        limits: Limits,
        casting: Casting = Casting.TOGETHER,
        revision: str = "",
        dialect: str | None = None,
        *,
        forgetful: bool = False,
    ) -> None:
        """``forgetful``, it remembers nothing, and asks everything each time."""
        self._links: WeakSet[Remembering] = WeakSet()
        self._whole = False

        def remembering(environment: Mapping[str, str]) -> Link:
            link = Remembering(connect(environment))
            link.whole = self._whole
            self._links.add(link)
            return link

        super().__init__(connect if forgetful else remembering, limits, casting, revision, dialect)

    @property
    def whole(self) -> bool:
        """Everything is asked, and held against what is remembered."""
        return self._whole

    @whole.setter
    def whole(self, whole: bool) -> None:
        self._whole = whole
        for link in self._links:
            link.whole = whole

    def play(self, schedule: Schedule) -> Performance:
        """Raises NotPlayed, also for one that does not do the same as before."""
        try:
            return super().play(schedule)
        except OtherAnswer as other:
            raise NotPlayed(self.declaration.name, OTHERWISE.format(other)) from None
