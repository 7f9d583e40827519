"""Rules: what judging is handed by a protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from sds_harness.clock import Shown
from sds_harness.declaration import Declaration
from sds_harness.environment import PLAIN, Environment
from sds_harness.language import Language
from sds_harness.revision import Revision
from sds_harness.session import Session
from sds_harness.stage import Stage
from sds_harness.trace import Dialect, Party

from .catalogue import POSITIONS, Catalogue, Requirement
from .deafness import Hearing
from .registry import Register


class View(Protocol):
    """A trace, read as the facts of one participant; checks are functions of it."""

    trace: Any
    party: Party
    channel_id: str
    """The channel that it is about, "" where the protocol has none."""


class Rules(ABC):
    """What is judged, and how implementations are played with for it. Each protocol has its own."""

    register: Register
    """Checks, scenarios, and what shows the options of positions."""
    revisions: Mapping[str, Revision]
    """The revisions of the texts by name, the current one first."""
    language: Language
    """The testee protocol."""
    environments: Mapping[str, Environment] = MappingProxyType({PLAIN.name: PLAIN})
    profiles: Mapping[str, str] = MappingProxyType({"full": "all of it"})
    """The parts that can be judged by themselves, with what each is; the first is everything."""
    differs_in: Mapping[str, str] = MappingProxyType({})
    """Revisions that say the same as the current one but for a profile."""
    dialects: tuple[str, ...] = ()
    """Names of the dialects that ship."""
    positions: str = POSITIONS
    """How the ID of every position begins, before a dash."""
    shows_time: bool = False
    """Can a session show what time it is in an implementation?"""

    @property
    @abstractmethod
    def catalogue(self) -> Catalogue:
        """The requirements, the same each time. It is read when it is asked for: not every command needs it."""

    @abstractmethod
    def stage(self, session: Session, schedule: str, dialect: Any, environment: Environment) -> Stage[Any]:
        """The stage for a schedule of that name, in a dialect or in none, and in the environment that it is played
        in."""

    @abstractmethod
    def views(self, trace: Any) -> Sequence[View]:
        """A trace, read for each participant."""

    def in_profile(self, requirement: Requirement, profile: str) -> bool:
        """Is a requirement in a profile?"""
        return True

    def dialect(self, revision: str, name: str) -> Dialect | None:
        """The wire dialect that the user asks for, by its name or in a file, None where the revision has no such
        thing. Raises UnknownDialect."""
        return None

    def misfit(self, revision: str, profile: str, dialect: str) -> str:
        """What is wrong with judging a profile of a revision, in a dialect or in none (""), and what to type
        instead; "" if nothing is."""
        return ""

    def heard(self, view: Any) -> bool | None:
        """Did a participant take anything of what it was sent? None if nothing tells, or there was nothing to take."""
        return True

    def heed(self, trace: Any) -> Any:
        """What is to be remembered of a trace that is let go, for `Words.doubts` to tell from; plain data."""
        return None

    def clock(self, session: Session, dialect: Any) -> Shown:
        """What a session shows of time in an implementation. Only where it ``shows_time``."""
        raise NotImplementedError

    def excuse(self, requirement: str, declared: Declaration) -> str:
        """Why a requirement that was not exercised does not concern an implementation, "" if it does."""
        return ""

    def hearing(self, view: Any) -> Hearing:
        """Counts the messages that a participant received and had to show, and whether it showed any."""
        return Hearing()

    def dialect_in_use(self, revision: str, asked: str | None, declared: Declaration) -> Dialect | None:
        """The wire dialect that the user asks for, "" being none, else the one that is declared. Raises
        UnknownDialect."""
        name = declared.dialect(asked)
        # Only the user names files: what an implementation calls its dialect must not make us open any.
        if asked is None and name and name not in self.dialects:
            raise UnknownDialect(
                f"The implementation declares a dialect that is not known here: {name!r}. Known are "
                f"{', '.join(self.dialects) or 'none'}; describe another in a file, and give it to --dialect"
            )
        return self.dialect(revision, name) if name else None

    @property
    def current(self) -> str:
        """The revision that is judged unless another is asked for."""
        return next(iter(self.revisions))

    @property
    def full(self) -> str:
        """The profile that is everything."""
        return next(iter(self.profiles))

    def part_of(self, requirement: Requirement) -> str:
        """The narrowest profile that a requirement is in."""
        return next(profile for profile in reversed([*self.profiles]) if self.in_profile(requirement, profile))

    def judged(self, revision: str, profile: str) -> list[Requirement]:
        """The requirements of a profile that a revision states and that have checks."""
        return [
            requirement
            for requirement in self.catalogue.requirements.values()
            if requirement.id in self.register.checks
            and requirement.stated_in(revision)
            and self.in_profile(requirement, profile)
        ]


class UnknownDialect(ValueError):
    """There is no wire dialect of that name."""
