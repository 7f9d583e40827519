"""A cast for mixed groups: assigns participants, and replays among references to find the implementation at fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sds_harness.schedules import GroupTrace, Member, Schedule

from ..exploration.casts import Cast, CastImplementation, NotPlayedError
from ..judging.formats import short
from ..protocols import exchanges_of, repertoire_of
from ..protocols.exchanges import SENDER
from ..protocols.schedules import Repertoire

MIXED = "mixed"
"""Value of the note "cast" in a schedule of a mixed group."""
SUBSTITUTE = "reference"
_PLAYS = "plays "

Roles = Mapping[str, str]
"""Maps each participant to the name of its implementation."""


def roles_for(schedule: Schedule, names: tuple[str, ...], first: int) -> dict[str, str]:
    """Assign implementations to participants in turn; ``first`` is the index of the first implementation."""
    return {member: names[(first + place) % len(names)] for place, member in enumerate(schedule.names)}


def grammar_for(repertoire: Repertoire, names: tuple[str, ...]) -> Any:
    """Return a grammar with at least one participant per implementation, up to the maximum of the protocol."""
    return repertoire.grammar(fewest=max(repertoire.grammar().fewest, min(len(names), len(repertoire.names))))


def add_common_settings(schedule: Schedule, in_common: Mapping[str, int]) -> Schedule:
    """Return the schedule with the settings that all implementations must share."""
    return replace(schedule, configuration=tuple(sorted((dict(schedule.configuration) | {**in_common}).items())))


def roles_to_note(roles: Roles) -> dict[str, str]:
    """Format roles as notes of a schedule."""
    return {"cast": MIXED, **{f"{_PLAYS}{member}": name for member, name in roles.items()}}


def roles_noted(schedule: Schedule) -> dict[str, str]:
    """Read the roles from the notes of a schedule; participants without a note are missing."""
    notes = dict(schedule.notes)
    return {member: notes[f"{_PLAYS}{member}"] for member in schedule.names if f"{_PLAYS}{member}" in notes}


def describe_roles(roles: Roles) -> str:
    by_name: dict[str, list[str]] = {}
    for member, name in roles.items():
        by_name.setdefault(name, []).append(short(member))
    return "; ".join(f"{', '.join(members)}: {name}" for name, members in by_name.items())


def members_of(name: str, schedule: Schedule, roles: Roles) -> list[str]:
    """The participants that an implementation plays."""
    return [member for member in schedule.names if roles[member] == name]


class MixedCast:
    """A cast of several implementations and, for each implementation, a second cast in which references play all other
    participants.
    """

    def __init__(self, cast: Cast) -> None:
        """``cast`` must be started; the caller ends it."""
        self.cast = cast
        self._among: dict[str, Cast] = {}

    def __enter__(self) -> MixedCast:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def play_among_references(self, name: str, schedule: Schedule, roles: Roles) -> GroupTrace:
        """Play with references in place of all implementations but ``name``. The references use the bloom filters and
        the times of implementation ``name``. Raises NotPlayedError.
        """
        other = f"{SUBSTITUTE} of {name}"
        if name not in self._among:
            declared = self.cast.declarations[name]
            others = CastImplementation(other, lambda _: repertoire_of(self.cast.revision).make_substitute(declared))
            self._among[name] = Cast([self.cast.implementations[name], others], self.cast.revision)
            self._among[name].start()
        return self._among[name].play(schedule, {m: name if r == name else other for m, r in roles.items()})

    def find_fixed_settings(self) -> dict[str, int]:
        """Return the settings that all implementations must share, because an implementation that is not configurable
        fixes them.
        """
        out: dict[str, int] = {}
        wanted = exchanges_of(self.cast.revision).in_common
        schedule = Schedule((Member(SENDER),), configuration=tuple(sorted(wanted.items())), name="the common settings")
        for name in self.cast.driven:
            try:
                party = self.cast.play(schedule, {SENDER: name}).parties.get(SENDER)
            except NotPlayedError:
                continue
            for key, value in wanted.items():
                found = getattr(party.in_force, key) if party is not None else 0
                if found not in (0, value):
                    out.setdefault(key, found)
        return out

    def kill(self) -> None:
        """Kill the processes of the casts among references."""
        for cast in self._among.values():
            cast.kill()
