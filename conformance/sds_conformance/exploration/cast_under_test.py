"""Plays schedules with one implementation under test. A cast contains the implementation and, if needed, references."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Self

from sds_harness.declaration import Declaration
from sds_harness.faults import TesteeError
from sds_harness.link import Limits
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
