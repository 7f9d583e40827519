"""Counterexamples of mixed groups: shrunk schedules in which every participant keeps its implementation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from sds_harness.schedules import GroupTrace, Schedule
from sds_testee.version import suite_version

from ..exploration.assessment import BREAKDOWN, STORM, Scope
from ..exploration.counterexample import (
    BROKEN_ATTEMPTS,
    Counterexample,
    find_reproduction,
    make_notes,
    save,
    shrink_to_smallest,
)
from ..exploration.text import plain_story, svg_of
from ..judging.verdict import Finding
from ..protocols import property_of
from .mixed import GROUP, Discovery, MixedCast, Roles, describe_roles, judge, roles_to_note

ATTEMPTS = 1_000
"""Maximum number of schedules that are played to shrink one discovery."""
FEW_ATTEMPTS = 250
"""Maximum number of schedules per discovery if many discoveries must be shrunk."""
STORM_ATTEMPTS = 30
"""Maximum number of schedules to shrink a discovery of endless messages: each schedule has thousands of messages."""


@dataclass(frozen=True)
class MixedExample(Counterexample):
    """A finding against one implementation or the group, in the smallest schedule that shows it."""

    name: str = GROUP
    """Name of the accused implementation; `GROUP` if the finding is against the group."""
    roles: Roles = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """Name of the example, used in the names of its files."""
        return f"{super().slug}-{_safe(self.name) or 'group'}"

    @property
    def fails_alone(self) -> bool:
        """Does the accused implementation play all participants of the shrunk schedule?"""
        return set(self.roles.values()) == {self.name}

    @property
    def parts(self) -> str:
        """The implementations and their participants, as text."""
        return describe_roles(self.roles)


def _safe(name: str) -> str:
    """A name for files: letters, digits and dashes; other characters by their code points."""
    return re.sub(r"[^A-Za-z0-9-]", lambda found: f"u{ord(found.group()):x}", name)


def shrunk(
    mixed_cast: MixedCast, discovery: Discovery, scope: Scope, max_attempts: int = ATTEMPTS
) -> MixedExample | None:
    """Return the smallest schedule that shows the finding; None if it is not reproduced.

    Raises NotPlayedError if an implementation cannot be started again.
    """
    # A finding against the group must count against no implementation, so all findings are judged again.
    narrowed = scope if discovery.name == GROUP else scope.restricted_to(discovery.what)
    held = property_of(discovery.what)
    twins = held is not None and held.twin is not None
    limit = {BREAKDOWN: BROKEN_ATTEMPTS, STORM: STORM_ATTEMPTS}.get(discovery.what, max_attempts)
    cast, best, played_by = mixed_cast.cast, discovery.schedule, discovery.roles

    def roles_in(candidate: Schedule) -> dict[str, str]:
        """Return the implementation of each participant: that of the original participant with the same name, or at the
        same position if participants were renamed.
        """
        if len(candidate.names) == len(best.names):
            return {new: played_by[old] for new, old in zip(candidate.names, best.names, strict=True)}
        return {name: played_by[name] for name in candidate.names}

    def reproduce(candidate: Schedule) -> tuple[GroupTrace, Finding] | None:
        nonlocal best, played_by
        roles = roles_in(candidate)
        if discovery.name not in (GROUP, *roles.values()):
            return None
        group_trace = cast.play_after_breakdowns(candidate, roles)
        judged = judge(mixed_cast, group_trace, roles, narrowed, twins=twins)[discovery.name]
        finding = find_reproduction(discovery.finding, judged.findings)
        if finding is None:
            return None
        best, played_by = candidate, roles
        return group_trace, finding

    def notes(schedule: Schedule) -> tuple[tuple[str, str], ...]:
        roles = roles_in(schedule)
        declared = {name: cast.declarations[name] for name in roles.values()}
        more = {
            **roles_to_note(roles),
            **{f"{name} is": f"{one.name} {one.version}".strip() for name, one in declared.items()},
            "against": discovery.name,
            "suite": suite_version(),
        }
        return make_notes(discovery.finding, discovery.schedule, cast.revision, **more)

    small = shrink_to_smallest(discovery.schedule, reproduce, notes, narrowed.repertoire, min(max_attempts, limit))
    if small is None:
        return None
    parts = {field.name: getattr(small, field.name) for field in fields(Counterexample)}
    return MixedExample(**parts, name=discovery.name, roles=roles_in(small.schedule))


def keep(example: MixedExample, folder: Path) -> Mapping[str, Path]:
    """Write the schedule, its trace, its picture and its story to ``folder``. Raises OSError."""
    text = f"{plain_story(example)}\nPlayed by {example.parts}\n"
    return save(example, folder, svg_of(example), text)
