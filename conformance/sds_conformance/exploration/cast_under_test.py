"""Plays schedules with one implementation under test. A cast contains the implementation and, if needed, references.

A cast can have a cache: the answers to a sequence of requests that was played before are taken from the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Self
from weakref import WeakSet

from sds_harness.caching_link import CachingLink, ChangedAnswerError
from sds_harness.declaration import Declaration
from sds_harness.faults import TesteeError
from sds_harness.link import Limits, Link
from sds_harness.schedules import GroupTrace, Schedule

from ..judging.runner import Connect
from ..protocols import default, repertoire_of
from .casts import Cast, CastImplementation, NotPlayedError, RevisionMismatchError, not_played_error

UNDER_TEST = "under test"
REFERENCE = "reference"


class CastKind(Enum):
    """Who plays the participants of a schedule: the implementation under test, or references as well."""

    TOGETHER = "together"
    """One process of the implementation under test plays all participants."""
    APART = "apart"
    """The implementation plays all participants, each in its own process."""
    AMONG = "among"
    """The implementation plays the first participant; reference models with the same bloom and hash profile play the
    others.
    """


def under_test(casting: CastKind, schedule: Schedule) -> tuple[str, ...]:
    """The participants of a schedule that are under test."""
    return schedule.names[:1] if casting is CastKind.AMONG else schedule.names


class CastUnderTest:
    """Plays schedules with the implementation under test and, in the cast ``among``, with references."""

    def __init__(
        self,
        connect: Connect,
        limits: Limits,
        casting: CastKind = CastKind.TOGETHER,
        revision: str = "",
        dialect: str | None = None,
    ) -> None:
        self.casting = casting
        revision = revision or default().rules.current
        repertoire = repertoire_of(revision)
        number = len(repertoire.names) if casting is CastKind.APART else 1
        names = [UNDER_TEST if number == 1 else f"{UNDER_TEST} {place + 1}" for place in range(number)]
        self._under_test = tuple(names)
        implementations = [CastImplementation(name, connect, limits, dialect) for name in names]
        if casting is CastKind.AMONG:
            implementations.append(
                CastImplementation(REFERENCE, lambda _: repertoire.make_substitute(self.declaration), limits)
            )
        self.cast = Cast(implementations, revision)

    def start(self) -> Declaration:
        """Perform the handshake. Raises TesteeError if the implementation cannot be tested, and RevisionMismatchError
        if it declares another specification than the references in the cast.
        """
        self.cast.start()
        for breakdown in self.cast.undriven.values():
            raise TesteeError(breakdown.kind, breakdown.detail, breakdown.stderr, breakdown.hint)
        if self.casting is CastKind.AMONG:
            self.cast.check_text()
        return self.declaration

    @contextmanager
    def started(self) -> Iterator[Self]:
        """Perform the handshake, and end all processes at the end of the context. Raises the exceptions of `start`."""
        try:
            self.start()
            yield self
        finally:
            self.kill()

    def restart(self) -> None:
        """Repeat the handshake of an implementation that was driven before. Raises NotPlayedError if that fails."""
        name = self._under_test[0]
        try:
            self.start()
        except TesteeError as fault:
            why = f"could not be started again: {fault.breakdown.detail}"
            raise not_played_error(name, fault.breakdown, why) from None
        except RevisionMismatchError as error:
            raise NotPlayedError(name, f"declared other revisions when it was started again: {error}") from None

    @property
    def declaration(self) -> Declaration:
        return self.cast.declarations[self._under_test[0]]

    def play(self, schedule: Schedule) -> GroupTrace:
        """Play a schedule. Raises NotPlayedError if the implementation was abandoned."""
        return self.cast.play(schedule, self._roles(schedule))

    def play_after_breakdowns(self, schedule: Schedule) -> GroupTrace:
        """Play a schedule even if the implementation was abandoned, which shrinking a breakdown needs. Raises
        NotPlayedError.
        """
        return self.cast.play_after_breakdowns(schedule, self._roles(schedule))

    def participants_under_test(self, schedule: Schedule) -> tuple[str, ...]:
        """The participants that are under test."""
        return under_test(self.casting, schedule)

    def kill(self) -> None:
        self.cast.kill()

    def _roles(self, schedule: Schedule) -> dict[str, str]:
        first = self._under_test[0]
        match self.casting:
            case CastKind.TOGETHER:
                return dict.fromkeys(schedule.names, first)
            case CastKind.APART:
                number = len(self._under_test)
                return {name: self._under_test[place % number] for place, name in enumerate(schedule.names)}
            case CastKind.AMONG:
                return {name: REFERENCE if place else first for place, name in enumerate(schedule.names)}


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
