"""Generates schedules: a few peers, links between them, and one to four passages, each about one kind of trouble.

Most schedules end in the same way: all peers are open and connected, all bytes in transit arrive, and a new scripted
peer requests all records of each peer. This shows whether all peers have the same records.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..schedules.choices import (
    NAMES,
    ODD_NAMES,
    Choices,
    SeededChoices,
    chance,
    choose_weighted,
    hold_to_bounds,
    pick,
    schedule_name,
)
from .operations import Calm, Look, Member, Read, Schedule, Wait
from .passages import PASSAGES, Passage
from .writer import Writer

PARTICIPANTS = ((3, 50), (4, 25), (5, 11), (6, 7), (7, 4), (8, 3))
"""Numbers of participants, with weights. Larger groups are rare, because every change is a step for each
participant."""
CLOCKS_MS = (1_000, -1_000, 40, 3_600_000, -3_600_000, 600_000)


@dataclass(frozen=True)
class Grammar:
    """The possible content of generated schedules."""

    fewest: int = 3
    most: int = 8
    """Maximum number of participants."""
    scripted: bool = True
    """Whether scripted peers take part."""
    passages: tuple[str, ...] = ()
    """The names of the passages to choose from; empty means all."""
    longest: int = 4
    """The maximal number of passages in one schedule."""

    def __post_init__(self) -> None:
        hold_to_bounds(self.fewest, self.most, self.longest, self.passages, PASSAGES)


ANYTHING = Grammar()

_IN_ORDER = sorted(PASSAGES, key=lambda name: (name != "chatter", name))
"""The simplest passage first: Hypothesis shrinks towards it."""


def generate_schedule(seed: int, index: int, grammar: Grammar = ANYTHING) -> Schedule:
    """The schedule with this seed and index; the same on every machine."""
    return draw_schedule(SeededChoices(seed, index), grammar, schedule_name(seed, index))


def draw_schedule(choices: Choices, grammar: Grammar = ANYTHING, name: str = "") -> Schedule:
    """Draw a schedule from ``choices``, with content that ``grammar`` allows."""
    sizes = [(n, weight) for n, weight in PARTICIPANTS if grammar.fewest <= n <= grammar.most]
    count = choose_weighted(choices, sizes) if sizes else choices.integer(grammar.fewest, grammar.most)
    members = _members(choices, count)
    configuration = (("resolution", choices.integer(1, 2)),) if chance(choices, 10) else ()
    writer = Writer(choices, members)
    writer.arrange(writer.here)
    for _ in range(choices.integer(1, grammar.longest)):
        choose_weighted(choices, _possible_passages(grammar, writer)).write(writer)
        if chance(choices, 40):
            writer.add(Wait(pick(choices, (1, 1_000, 31_000, 3_600_000))))
    _finish(writer, choices)
    return Schedule(members, tuple(writer.operations), (), configuration, choices.integer(0, 0xFFFF), name)


def _members(choices: Choices, count: int) -> tuple[Member, ...]:
    names = ODD_NAMES if chance(choices, 10) else NAMES
    skewed = chance(choices, 20)
    return tuple(
        Member(
            name,
            clock_ms=pick(choices, CLOCKS_MS) if skewed and chance(choices, 50) else 0,
            # At least one of the first two peers may write. The first peer may write in nearly all schedules, because
            # it is under test if the others are references.
            read_only=chance(choices, 45 if place > 1 else 8 if place == 0 and count > 2 else 0),
            store=chance(choices, 25),
        )
        for place, name in enumerate(names[:count])
    )


def _possible_passages(grammar: Grammar, writer: Writer) -> list[tuple[Passage, int]]:
    passages = map(PASSAGES.__getitem__, grammar.passages or _IN_ORDER)
    fitting = [each for each in passages if each.fits(writer) and (grammar.scripted or not each.scripted)]
    # If none of the requested passages fits, use a simple one.
    return [(each, each.weight) for each in fitting or [PASSAGES["chatter"]]]


def _finish(writer: Writer, choices: Choices) -> None:
    """Usually add a calm phase, in which all messages arrive, and operations that show the states."""
    if chance(choices, 85):
        for name in list(writer.closed):
            writer.reopen(name)
        writer.connect_all()
        writer.add(Calm())
    writer.with_probability(60, Look())
    writer.add(Read(read_only=chance(choices, 25)))
