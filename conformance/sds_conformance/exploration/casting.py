"""Who plays the participants of a schedule when one implementation is under test."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from sds_harness.declaration import Declaration
from sds_harness.faults import TesteeFault
from sds_harness.link import Limits, LocalLink
from sds_harness.schedules import Performance, Schedule
from sds_reference import HASH_PROFILES, PROFILES, Config
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.version import suite_version

from ..judging.runner import Connect
from ..protocols.sds.catalogue import CURRENT
from .casts import Cast, Implementation

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


def stand_in(declared: Declaration) -> LocalLink:
    """A reference model that understands the filters and times of an implementation."""
    config = Config()
    if declared.bloom_profile in PROFILES:
        config = replace(config, bloom_profile=PROFILES[declared.bloom_profile])
    if declared.hash_profile in HASH_PROFILES:
        config = replace(config, repair=replace(config.repair, hash_profile=HASH_PROFILES[declared.hash_profile]))
    return LocalLink(Testee(TesteeOptions(suite_version(), config)).handle)


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
        revision: str = CURRENT,
        dialect: str = "",
    ) -> None:
        self.casting = casting
        number = 8 if casting is Casting.APART else 1
        names = [UNDER_TEST if number == 1 else f"{UNDER_TEST} {place + 1}" for place in range(number)]
        self._under_test = tuple(names)
        crew = [Implementation(name, connect, limits, dialect) for name in names]
        if casting is Casting.AMONG:
            crew.append(Implementation(REFERENCE, lambda _: stand_in(self.declaration), limits))
        self.cast = Cast(crew, revision)

    def start(self) -> Declaration:
        """Shake hands. Raises TesteeFault if the implementation cannot be driven."""
        self.cast.start()
        for breakdown in self.cast.undriven.values():
            raise TesteeFault(breakdown.kind, breakdown.detail, breakdown.stderr)
        return self.declaration

    @property
    def declaration(self) -> Declaration:
        return self.cast.declarations[self._under_test[0]]

    def play(self, schedule: Schedule) -> Performance:
        """Raises NotPlayed when the implementation was given up."""
        return self.cast.play(schedule, self._roles(schedule))

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
