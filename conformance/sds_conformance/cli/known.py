"""All that has an ID or a name and can be explained: requirements, positions, properties of the group, scenarios."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import click

from ..judging.catalogue import Position, Requirement
from ..judging.registry import Scenario
from ..protocols import Protocol, protocols, withdrawn
from ..protocols.properties import GROUP, GlobalProperty
from .near import did_you_mean
from .options import POSITIONS, full_id

REQUIREMENT, POSITION, PROPERTY, SCENARIO = KINDS = ("requirement", "position", "property", "scenario")
_GLOB = frozenset("*?[")


@dataclass(frozen=True)
class Entry:
    """One of them."""

    kind: str
    id: str
    protocol: Protocol
    about: Requirement | Position | GlobalProperty | Scenario
    said: str
    """All that it says, to be searched."""

    def has(self, word: str) -> bool:
        """Does it say a word, or one that begins so? A plural stands for its singular."""
        stem = word[:-1] if len(word) > 3 and word.lower().endswith("s") else word
        return re.search(rf"(?<!\w){re.escape(stem)}", self.said, re.IGNORECASE) is not None


def entries() -> list[Entry]:
    """Everything, in the order of the texts."""
    return [
        Entry(kind, name, protocol, about, " ".join([name, *said]))
        for kind in KINDS
        for protocol in protocols()
        for name, about, said in _of(protocol, kind)
    ]


def _of(
    protocol: Protocol, kind: str
) -> Iterator[tuple[str, Requirement | Position | GlobalProperty | Scenario, Sequence[str]]]:
    rules = protocol.rules
    if kind == REQUIREMENT:
        titles = {section.id: section.title for section in rules.catalogue.sections}
        for r in rules.catalogue.requirements.values():
            yield r.id, r, (titles[r.section], r.anchor, r.level, r.statement)
    elif kind == POSITION:
        for position in rules.catalogue.positions.values():
            yield position.id, position, (position.question, position.position)
    elif kind == PROPERTY:
        first = protocol.repertoire
        known = [found for each in (first, *first.others) for found in each.properties.values()] if first else []
        for found in sorted(known, key=lambda found: found.id):
            yield found.id, found, (found.title, found.summary, *found.requirements)
    else:
        for scenario in rules.register.scenarios.values():
            yield scenario.name, scenario, (scenario.summary, *scenario.exercises)


def chosen(asked: Sequence[str], kinds: Sequence[str] = ()) -> tuple[list[Entry], bool]:
    """What is meant by IDs, names and globs of them, and says all the words beside these, of the ``kinds`` if any are
    given; and whether there were words.

    Without any of that, everything but the positions, which are asked for by the beginning of their IDs. Raises
    UsageError for whatever says nothing to us.
    """
    everything = entries()
    known = [entry for entry in everything if not kinds or entry.kind in kinds]
    if not asked:
        return [entry for entry in known if kinds or entry.kind != POSITION], False
    names = {entry.id for entry in everything}
    globs = [word for word in asked if _is_id(word, names)]
    words = [word for word in asked if word not in globs]
    found = known
    if globs:
        meant = {entry.id for glob in globs for entry in _meant(glob, known, names)}
        found = [entry for entry in known if entry.id in meant]
    for word in words:
        if not any(entry.has(word) for entry in found):
            among = " or ".join(kinds or KINDS) + (f" among {' '.join(globs)}" if globs else "")
            others = ", and the other words" if len(words) > 1 else ""
            raise click.UsageError(f"no {among} has the word {word!r}{others}.{did_you_mean(word.lower(), names)}")
        found = [entry for entry in found if entry.has(word)]
    return found, bool(words)


def _is_id(word: str, names: set[str]) -> bool:
    """Is it meant for an ID or a name, or for a glob of some? Everything else is a word to search for."""
    shaped = bool(_GLOB.intersection(word)) or re.search(r"-\d+$", word) is not None
    return shaped or withdrawn(full_id(word)) != "" or full_id(word) in names or word.lower() in names


def _meant(glob: str, known: Sequence[Entry], names: set[str]) -> list[Entry]:
    """What a glob matches. Raises UsageError if that is nothing."""
    full = full_id(glob)
    # Who types '*' wants requirements, as ever: others have to be asked for by the beginning of their IDs.
    beginnings = {REQUIREMENT: ("",), POSITION: POSITIONS, PROPERTY: (GROUP,)}
    found = [
        e for e in known if e.kind in beginnings and full.startswith(beginnings[e.kind]) and fnmatchcase(e.id, full)
    ]
    found = found or [entry for entry in known if entry.kind == SCENARIO and fnmatchcase(entry.id, glob.lower())]
    if not found:
        if gone := withdrawn(full):
            raise click.UsageError(f"{gone}.")
        meant = did_you_mean(full, names) or did_you_mean(glob.lower(), names)
        positions = " and ".join(f"'{beginning}-*'" for beginning in POSITIONS)
        raise click.UsageError(
            f"no requirement matches {glob}, and nothing else does: without GLOB all are listed, {positions} list "
            f"the positions, '{GROUP}*' the properties of the group, and a word searches.{meant}"
        )
    return found
