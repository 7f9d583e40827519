"""Companies with a cache: an answer to the same sequence of requests is taken from the cache."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakSet

from sds_harness.caching_link import CachingLink, ChangedAnswerError
from sds_harness.link import Limits, Link
from sds_harness.schedules import GroupTrace, Schedule

from ..judging.runner import Connect
from .company import Casting, Company


class Suspects:
    """Finds the kinds of events at which an implementation breaks down, from the words that were played."""

    def __init__(self) -> None:
        self.guilty: frozenset[int] = frozenset()
        """Kinds of events at which it breaks down."""
        self._sound: frozenset[int] = frozenset()
        """Kinds of schedules in which it did not break down."""
        self._broken: list[frozenset[int]] = []
        """The kinds of events in each of the last words; all of these words ended in a breakdown."""

    def note(self, kinds: frozenset[int], *, broke: bool) -> None:
        """Record that a word with these kinds of events was played."""
        if broke:
            self._broken.append(kinds)
        else:
            self._broken.clear()
            self._sound |= kinds

    def find(self, odd: frozenset[int]) -> bool:
        """After consecutive breakdowns, suspect the kinds that occur in no other word, else their common ``odd`` kinds.

        Returns False if there are no such kinds, or if every word so far broke down.
        """
        if not (self._sound and self._broken):
            return False
        found = frozenset[int]().union(*self._broken) - self._sound or frozenset.intersection(*self._broken) & odd
        self.guilty |= found
        self._broken.clear()
        return bool(found)


class CachingCompany(Company):
    """A company that sends requests to the implementation only if the cache has no answer."""

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
        """With ``forgetful``, nothing is cached."""
        self.forgetful = forgetful
        self.otherwise = ""
        """The answer that differed from the cached one, after which nothing is cached; "" if none did."""
        self.suspects = Suspects()
        self._links: WeakSet[CachingLink] = WeakSet()
        self._whole = False

        def connect_cached(environment: Mapping[str, str]) -> Link:
            if self.forgetful:
                return connect(environment)
            link = CachingLink(connect(environment))
            link.whole = self._whole
            self._links.add(link)
            return link

        super().__init__(connect_cached, limits, casting, revision, dialect)

    @property
    def whole(self) -> bool:
        """The implementation plays everything, and its answers are compared with the cache."""
        return self._whole

    @whole.setter
    def whole(self, whole: bool) -> None:
        self._whole = whole
        for link in self._links:
            link.whole = whole

    def play(self, schedule: Schedule) -> GroupTrace:
        """Play a schedule. If an answer differs from the cached one (IDs may be random), stop caching. Raises
        NotPlayedError.
        """
        try:
            return super().play(schedule)
        except ChangedAnswerError as other:
            self.otherwise, self.forgetful = str(other), True
            self.kill()
            return super().play(schedule)
