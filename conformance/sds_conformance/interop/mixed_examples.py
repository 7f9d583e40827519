"""Counterexamples of mixed groups: shrunk, with everybody kept in the role that it had."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sds_harness.schedules import Performance, Schedule
from sds_testee.version import suite_version

from ..exploration.casts import NotPlayed
from ..exploration.counterexample import BROKEN_ATTEMPTS, Counterexample, save
from ..exploration.judging import BREAKDOWN, STORM, Scope
from ..exploration.shrinking import shrink
from ..exploration.telling import plain_story, svg_of
from ..judging.quoting import short
from ..judging.verdict import RANK, Finding
from ..protocols.sds.catalogue import CURRENT
from ..protocols.sds.properties import PROPERTIES
from .mixed import GROUP, Discovery, judge
from .troupe import Roles, Troupe, noted

ATTEMPTS = 1_000
"""Schedules that are played to shrink one: each is played by processes, and often twice."""
FEW_ATTEMPTS = 250
"""The same where there are many to be shrunk."""
STORM_ATTEMPTS = 30
"""Where there is no end of messages: each attempt has thousands."""


@dataclass(frozen=True)
class MixedExample(Counterexample):
    """What was found against one implementation, in the smallest schedule that shows it."""

    name: str = GROUP
    """The implementation, or the group."""
    roles: Roles = field(default_factory=dict)
    """The implementation of each participant."""

    @property
    def slug(self) -> str:
        """Name for files."""
        return f"{super().slug}-{_safe(self.name) or 'group'}"

    @property
    def alone(self) -> bool:
        """Does it need nobody else?"""
        return set(self.roles.values()) == {self.name}

    @property
    def parts(self) -> str:
        """Who plays whom, in words."""
        return self.told(self.roles)

    @staticmethod
    def told(roles: Roles) -> str:
        """Roles in words."""
        by_name: dict[str, list[str]] = {}
        for member, name in roles.items():
            by_name.setdefault(name, []).append(short(member))
        return "; ".join(f"{', '.join(members)}: {name}" for name, members in by_name.items())


def _safe(name: str) -> str:
    """A name in a file name: letters of the alphabet, digits and dashes; all others by their numbers."""
    return re.sub(r"[^A-Za-z0-9-]", lambda found: f"u{ord(found.group()):x}", name)


def shrunk(troupe: Troupe, discovery: Discovery, scope: Scope, max_attempts: int = ATTEMPTS) -> MixedExample | None:
    """The smallest schedule that shows it; None if it does not show again when it is played again.

    Raises NotPlayed when an implementation cannot be started again.
    """
    return _Shrinking(troupe, discovery, scope).run(max_attempts)


class _Shrinking:
    def __init__(self, troupe: Troupe, discovery: Discovery, scope: Scope) -> None:
        self._troupe = troupe
        self._discovery = discovery
        what = discovery.what
        # Nobody may be to blame for what is held against the group.
        self._scope = scope if discovery.name == GROUP else scope.only(what)
        self._twins = what in PROPERTIES and PROPERTIES[what].twin is not None
        self._best = discovery.schedule
        self._roles: Roles = discovery.roles

    def run(self, max_attempts: int) -> MixedExample | None:
        found, first = self._discovery, self._discovery.schedule
        if self._fails(first) is None:
            return None
        limit = {BREAKDOWN: BROKEN_ATTEMPTS, STORM: STORM_ATTEMPTS}.get(found.what, max_attempts)
        small = shrink(first, self._fails, self._scope.repertoire, min(max_attempts, limit))
        roles = self._roles_in(small.schedule)
        schedule = replace(small.schedule, notes=self._notes(roles))
        performance, finding = self._played(schedule, roles)
        if finding is None:
            return None
        return MixedExample(found.what, finding, schedule, performance, first, small.attempts, found.name, roles)

    def _fails(self, candidate: Schedule) -> Performance | None:
        roles = self._roles_in(candidate)
        if self._discovery.name not in (GROUP, *roles.values()):
            return None
        performance, finding = self._played(candidate, roles)
        if finding is None:
            return None
        self._best, self._roles = candidate, roles
        return performance

    def _roles_in(self, candidate: Schedule) -> dict[str, str]:
        """Everybody keeps its role: by name where participants are dropped, by place where all are renamed."""
        if len(candidate.names) == len(self._best.names):
            return {new: self._roles[old] for new, old in zip(candidate.names, self._best.names, strict=True)}
        return {name: self._roles[name] for name in candidate.names}

    def _played(self, schedule: Schedule, roles: Roles) -> tuple[Performance, Finding | None]:
        known = self._discovery
        performance = self._troupe.play_afresh(schedule, roles)
        judged = judge(self._troupe, performance, roles, self._scope, twins=self._twins)[known.name]
        for finding in judged.findings:
            same = finding.requirement == known.what and finding.check == known.finding.check
            if same and RANK[finding.severity] >= RANK[known.finding.severity]:
                return performance, finding
        return performance, None

    def _notes(self, roles: Roles) -> tuple[tuple[str, str], ...]:
        """What a replay has to know, and whoever finds the file."""
        found = self._discovery
        declarations = self._troupe.cast.declarations
        notes = {
            **noted(roles),
            "shows": found.what,
            "check": found.finding.check,
            "severity": found.finding.severity.value,
            "revision": CURRENT,
            "against": found.name,
            "shrunk from": found.schedule.name,
            "suite": suite_version(),
        }
        for name in dict.fromkeys(roles.values()):
            notes[f"{name} is"] = f"{declarations[name].name} {declarations[name].version}".strip()
        return tuple(sorted((key, value) for key, value in notes.items() if value))


def keep(example: MixedExample, folder: Path) -> Mapping[str, Path]:
    """Write the schedule, its trace, its picture and its story to ``folder``. Raises OSError."""
    told = f"{plain_story(example)}\nPlayed by {example.parts}\n"
    return save(example, folder, svg_of(example), told)


__all__ = ["ATTEMPTS", "FEW_ATTEMPTS", "MixedExample", "NotPlayed", "keep", "shrunk"]
