"""Who plays the participants of a schedule when one implementation is under test."""

from __future__ import annotations

from enum import Enum

from sds_harness.declaration import Declaration
from sds_harness.faults import TesteeFault
from sds_harness.link import Limits
from sds_harness.schedules import Performance, Schedule

from ..judging.runner import Connect
from ..protocols import default, repertoire_of
from .casts import Cast, Implementation, NotPlayed, OtherText, not_played

UNDER_TEST = "under test"
REFERENCE = "reference"


class Casting(Enum):
    """Three ways to cast a schedule."""

    TOGETHER = "together"
    """All participants are the implementation under test, in one process."""
    APART = "apart"
    """All are, each in a process of its own."""
    AMONG = "among"
    """The first is, the others are the reference model, with the same bloom and hash profile."""


def under_test(casting: Casting, schedule: Schedule) -> tuple[str, ...]:
    """The participants of a schedule that are under test."""
    return schedule.names[:1] if casting is Casting.AMONG else schedule.names


class Company:
    """The implementation under test and whom it plays with; plays any number of schedules."""

    def __init__(
        self,
        connect: Connect,
        limits: Limits,
        casting: Casting = Casting.TOGETHER,
        revision: str = "",
        dialect: str | None = None,
    ) -> None:
        self.casting = casting
        revision = revision or default().rules.current
        repertoire = repertoire_of(revision)
        number = len(repertoire.names) if casting is Casting.APART else 1
        names = [UNDER_TEST if number == 1 else f"{UNDER_TEST} {place + 1}" for place in range(number)]
        self._under_test = tuple(names)
        crew = [Implementation(name, connect, limits, dialect) for name in names]
        if casting is Casting.AMONG:
            crew.append(Implementation(REFERENCE, lambda _: repertoire.stand_in(self.declaration), limits))
        self.cast = Cast(crew, revision)

    def start(self) -> Declaration:
        """Shake hands. Raises TesteeFault if the implementation cannot be driven, and OtherText if it speaks another
        text than the references that it is to be among."""
        self.cast.start()
        for breakdown in self.cast.undriven.values():
            raise TesteeFault(breakdown.kind, breakdown.detail, breakdown.stderr, breakdown.hint)
        if self.casting is Casting.AMONG:
            self.cast.hold_to_text()
        return self.declaration

    def start_again(self) -> None:
        """Shake hands with an implementation that was driven before. Raises NotPlayed where that fails this time."""
        name = self._under_test[0]
        try:
            self.start()
        except TesteeFault as fault:
            why = f"could not be started again: {fault.breakdown.detail}"
            raise not_played(name, fault.breakdown, why) from None
        except OtherText as error:
            raise NotPlayed(name, f"declared other revisions when it was started again: {error}") from None

    @property
    def declaration(self) -> Declaration:
        return self.cast.declarations[self._under_test[0]]

    def play(self, schedule: Schedule) -> Performance:
        """Raises NotPlayed when the implementation was given up."""
        return self.cast.play(schedule, self._roles(schedule))

    def play_afresh(self, schedule: Schedule) -> Performance:
        """Even if it was given up: a breakdown that is shrunk breaks it too often. Raises NotPlayed."""
        return self.cast.play_afresh(schedule, self._roles(schedule))

    def judged(self, schedule: Schedule) -> tuple[str, ...]:
        """The participants that are under test."""
        return under_test(self.casting, schedule)

    def kill(self) -> None:
        self.cast.kill()

    def _roles(self, schedule: Schedule) -> dict[str, str]:
        first = self._under_test[0]
        match self.casting:
            case Casting.TOGETHER:
                return dict.fromkeys(schedule.names, first)
            case Casting.APART:
                number = len(self._under_test)
                return {name: self._under_test[place % number] for place, name in enumerate(schedule.names)}
            case Casting.AMONG:
                return {name: REFERENCE if place else first for place, name in enumerate(schedule.names)}
