"""Rules: the interface between judging and a protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from sds_harness.clock import ClockProbe
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
    """A trace as one participant sees it; checks are functions of it."""

    trace: Any
    party: Party
    channel_id: str
    """The channel of the view; "" if the protocol has none."""


class Rules(ABC):
    """Defines the requirements to judge, and how implementations are driven. Each protocol has its own subclass."""

    register: Register
    """Checks, scenarios, and functions that show options of positions."""
    revisions: Mapping[str, Revision]
    """The revisions of the specifications by name, the current one first."""
    language: Language
    """The testee protocol."""
    environments: Mapping[str, Environment] = MappingProxyType({PLAIN.name: PLAIN})
    profiles: Mapping[str, str] = MappingProxyType({"full": "all of it"})
    """The profiles that can be judged separately, each with a description. The first profile includes everything."""
    differs_in: Mapping[str, str] = MappingProxyType({})
    """For each revision that differs from the current revision in a single profile: that profile."""
    dialects: tuple[str, ...] = ()
    """Names of the dialects that ship with the suite."""
    positions: str = POSITIONS
    """Prefix of position IDs, before the dash."""
    shows_time: bool = False
    """Can a session find out whether an implementation uses virtual time? See `clock`."""

    @property
    @abstractmethod
    def catalogue(self) -> Catalogue:
        """The requirements, positions and consequences. Cached, and loaded on first use, because not every command
        needs it.
        """

    @abstractmethod
    def stage(self, session: Session, schedule: str, dialect: Any, environment: Environment) -> Stage[Any]:
        """Return a stage that plays the schedule of that name, in a dialect (None: without one) and an environment."""

    @abstractmethod
    def views(self, trace: Any) -> Sequence[View]:
        """Return one view of a trace for each participant."""

    def is_in_profile(self, requirement: Requirement, profile: str) -> bool:
        return True

    def dialect(self, revision: str, name: str) -> Dialect | None:
        """Return the wire dialect with that name or in that file; None if the revision has no dialects. Raises
        UnknownDialectError.
        """
        return None

    def find_misfit(self, revision: str, profile: str, dialect: str) -> str:
        """Return why a profile of a revision cannot be judged in a dialect, and what to type instead; "" if the profile
        can be judged. ``dialect`` is "" for none.
        """
        return ""

    def accepted_any(self, view: Any) -> bool | None:
        """Did a participant show any of the messages that it received? None if unknown, or if no message was valid."""
        return True

    def extract_doubt_data(self, trace: Any) -> Any:
        """Extract plain data for `Words.doubts` from a trace, before the trace is dropped."""
        return None

    def clock(self, session: Session, dialect: Any) -> ClockProbe:
        """Find out in a session whether an implementation uses virtual time. Only called if ``shows_time`` is set."""
        raise NotImplementedError

    def excuse(self, requirement: str, declared: Declaration) -> str:
        """Return why a requirement that was not exercised does not apply to an implementation; "" if it applies."""
        return ""

    def count_shown_messages(self, view: Any) -> Hearing:
        """Return how many messages a participant received, how many of them it had to show, and whether it showed
        any.
        """
        return Hearing()

    def dialect_in_use(self, revision: str, asked: str | None, declared: Declaration) -> Dialect | None:
        """Return the wire dialect that the user asked for ("" for none), or else the declared one. Raises
        UnknownDialectError.
        """
        name = declared.dialect(asked)
        # Only the user may name files: the declaration of an implementation must not make the suite open one.
        if asked is None and name and name not in self.dialects:
            raise UnknownDialectError(
                f"The implementation declares a dialect that is not known here: {name!r}. Known are "
                f"{', '.join(self.dialects) or 'none'}; describe this dialect in a file, and give the file to --dialect"
            )
        return self.dialect(revision, name) if name else None

    @property
    def current(self) -> str:
        """The default revision."""
        return next(iter(self.revisions))

    @property
    def full(self) -> str:
        """The profile that includes everything."""
        return next(iter(self.profiles))

    def part_of(self, requirement: Requirement) -> str:
        """The narrowest profile that includes a requirement."""
        return next(profile for profile in reversed([*self.profiles]) if self.is_in_profile(requirement, profile))

    def judged_requirements(self, revision: str, profile: str) -> list[Requirement]:
        """The requirements of a profile that a revision states and that have checks."""
        return [
            requirement
            for requirement in self.catalogue.requirements.values()
            if requirement.id in self.register.checks
            and requirement.is_stated_in(revision)
            and self.is_in_profile(requirement, profile)
        ]


class UnknownDialectError(ValueError):
    """No wire dialect has that name."""
