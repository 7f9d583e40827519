"""A cast that plays in mixed groups: who plays whom, and who stands in for the others when blame is in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sds_harness.schedules import Member, Performance, Schedule

from ..exploration.casts import Cast, Implementation, NotPlayed
from ..protocols import exchanges_of, repertoire_of
from ..protocols.exchanges import SENDER
from ..protocols.schedules import Repertoire

MIXED = "mixed"
"""The note "cast" of a schedule that was found in a mixed group."""
STAND_IN = "reference"
_PLAYS = "plays "

Roles = Mapping[str, str]
"""The implementation of each participant."""


def roles_for(schedule: Schedule, names: tuple[str, ...], turn: int) -> dict[str, str]:
    """The implementations in turn; ``turn`` says which is the first."""
    return {member: names[(turn + place) % len(names)] for place, member in enumerate(schedule.names)}


def grammar_for(repertoire: Repertoire, names: tuple[str, ...]) -> Any:
    """Schedules in which there is a place for everybody, as far as there are places."""
    return repertoire.grammar(fewest=max(repertoire.grammar().fewest, min(len(names), len(repertoire.names))))


def configured(schedule: Schedule, in_common: Mapping[str, int]) -> Schedule:
    """The schedule with what all have to have in common."""
    return replace(schedule, configuration=tuple(sorted((dict(schedule.configuration) | {**in_common}).items())))


def roles_to_note(roles: Roles) -> dict[str, str]:
    """Roles as notes of a schedule."""
    return {"cast": MIXED, **{f"{_PLAYS}{member}": name for member, name in roles.items()}}


def roles_noted(schedule: Schedule) -> dict[str, str]:
    """The roles that are noted in a schedule; participants of whom nothing is noted are not among them."""
    notes = dict(schedule.notes)
    return {member: notes[f"{_PLAYS}{member}"] for member in schedule.names if f"{_PLAYS}{member}" in notes}


def members_of(name: str, schedule: Schedule, roles: Roles) -> list[str]:
    """The participants that an implementation plays."""
    return [member for member in schedule.names if roles[member] == name]


class Troupe:
    """A cast, and for each of its implementations another one in which it is among references."""

    def __init__(self, cast: Cast) -> None:
        """``cast`` has been started, and whoever started it ends it."""
        self.cast = cast
        self._among: dict[str, Cast] = {}

    def __enter__(self) -> Troupe:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def play_among_references(self, name: str, schedule: Schedule, roles: Roles) -> Performance:
        """With a reference in place of everybody else, one with the filters and times of ``name``. Raises NotPlayed."""
        other = f"{STAND_IN} of {name}"
        if name not in self._among:
            declared = self.cast.declarations[name]
            others = Implementation(other, lambda _: repertoire_of(self.cast.revision).stand_in(declared))
            self._among[name] = Cast([self.cast.implementations[name], others], self.cast.revision)
            self._among[name].start()
        return self._among[name].play(schedule, {m: name if r == name else other for m, r in roles.items()})

    def fixed(self) -> dict[str, int]:
        """What all have to have in common, as it is with those who do not let it be configured."""
        out: dict[str, int] = {}
        wanted = exchanges_of(self.cast.revision).in_common
        schedule = Schedule((Member(SENDER),), configuration=tuple(sorted(wanted.items())), name="what is in common")
        for name in self.cast.driven:
            try:
                party = self.cast.play(schedule, {SENDER: name}).parties.get(SENDER)
            except NotPlayed:
                continue
            for key, value in wanted.items():
                found = getattr(party.in_force, key) if party is not None else 0
                if found not in (0, value):
                    out.setdefault(key, found)
        return out

    def kill(self) -> None:
        """End what was started here."""
        for cast in self._among.values():
            cast.kill()
