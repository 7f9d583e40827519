"""A cast with a cache: the answers to a sequence of requests that was played before are taken from the cache."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakSet

from sds_harness.caching_link import CachingLink, ChangedAnswerError
from sds_harness.link import Limits, Link
from sds_harness.schedules import GroupTrace, Schedule

from ..judging.runner import Connect
from .cast_under_test import CastKind, CastUnderTest


class Suspects:
    """Finds the kinds of events at which an implementation breaks down, from the words that were played."""

    def __init__(self) -> None:
        self.guilty: frozenset[int] = frozenset()
        """Kinds of events at which the implementation is assumed to break down."""
        self._sound: frozenset[int] = frozenset()
        """Kinds of events in words that did not end in a breakdown."""
        self._broken: list[frozenset[int]] = []
        """The kinds of events of each word that was played after the last word without a breakdown."""

    def note(self, kinds: frozenset[int], *, broke: bool) -> None:
        """Record that a word with these kinds of events was played, and whether it ended in a breakdown (``broke``)."""
        if broke:
            self._broken.append(kinds)
        else:
            self._broken.clear()
            self._sound |= kinds

    def find(self, odd: frozenset[int]) -> bool:
        """Suspect the kinds of events in the last words, which all ended in a breakdown, that occur in no word without
        a breakdown. If there are none, suspect the kinds in ``odd`` that occur in each of the last words. ``odd`` are
        the kinds of unusual events.

        Returns False if no kind is suspected, or if every word so far ended in a breakdown.
        """
        if not (self._sound and self._broken):
            return False
        found = frozenset[int]().union(*self._broken) - self._sound or frozenset.intersection(*self._broken) & odd
        self.guilty |= found
        self._broken.clear()
        return bool(found)


class CachingCast(CastUnderTest):
    """A cast that sends requests to the implementation only if the cache has no answer."""

    def __init__(
        self,
        connect: Connect,
        limits: Limits,
        casting: CastKind = CastKind.TOGETHER,
        revision: str = "",
        dialect: str | None = None,
        *,
        forgetful: bool = False,
    ) -> None:
        """With ``forgetful``, nothing is cached."""
        self.forgetful = forgetful
        self.otherwise = ""
        """The first answer that differed from the cached answer; "" if none did. After it, nothing is cached."""
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
        """Are all requests sent to the implementation, and its answers compared with the cached answers?"""
        return self._whole

    @whole.setter
    def whole(self, whole: bool) -> None:
        self._whole = whole
        for link in self._links:
            link.whole = whole

    def play(self, schedule: Schedule) -> GroupTrace:
        """Play a schedule. If an answer differs from the cached answer (IDs may be random), stop caching. Raises
        NotPlayedError.
        """
        try:
            return super().play(schedule)
        except ChangedAnswerError as other:
            self.otherwise, self.forgetful = str(other), True
            self.kill()
            return super().play(schedule)
