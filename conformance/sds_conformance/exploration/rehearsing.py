"""Companies that remember: what a participant did before, after all the same, it does not do again."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakSet

from sds_harness.link import Limits, Link
from sds_harness.remembering import OtherAnswer, Remembering
from sds_harness.schedules import Performance, Schedule

from ..judging.runner import Connect
from .casting import Casting, Company


class Suspects:
    """The kinds of events that an implementation breaks down at, found by the words that it plays."""

    def __init__(self) -> None:
        self.guilty: frozenset[int] = frozenset()
        """Found to be what it breaks down at."""
        self._sound: frozenset[int] = frozenset()
        """In words at which it did not break down."""
        self._broken: list[frozenset[int]] = []
        """The kinds in each of the last words: it broke down at all of these, one after the other."""

    def note(self, kinds: frozenset[int], *, broke: bool) -> None:
        """A word with these kinds of events was played."""
        if broke:
            self._broken.append(kinds)
        else:
            self._broken.clear()
            self._sound |= kinds

    def find(self, odd: frozenset[int]) -> bool:
        """After breakdowns in a row, blame the kinds in them that no other word has, else the ``odd`` ones that they
        have in common. False where there are none, or it broke down at every word so far."""
        if not (self._sound and self._broken):
            return False
        found = frozenset[int]().union(*self._broken) - self._sound or frozenset.intersection(*self._broken) & odd
        self.guilty |= found
        self._broken.clear()
        return bool(found)


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
        self.forgetful = forgetful
        self.otherwise = ""
        """What was answered otherwise than before; since then it is forgetful."""
        self.suspects = Suspects()
        self._links: WeakSet[Remembering] = WeakSet()
        self._whole = False

        def remembering(environment: Mapping[str, str]) -> Link:
            if self.forgetful:
                return connect(environment)
            link = Remembering(connect(environment))
            link.whole = self._whole
            self._links.add(link)
            return link

        super().__init__(remembering, limits, casting, revision, dialect)

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
        """Of who does not do the same as before (it may draw IDs by lot) nothing is remembered any more. Raises
        NotPlayed."""
        try:
            return super().play(schedule)
        except OtherAnswer as other:
            self.otherwise, self.forgetful = str(other), True
            self.kill()
            return super().play(schedule)
