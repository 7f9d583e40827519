"""Generated schedules: a few peers, links between them, and one to four passages, each about one kind of trouble.

In the end mostly everybody is there and reaches everybody, what is under way arrives, and a stranger asks each peer for
all that it has: then it shows whether they have the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..schedules.choices import Choices, SeededChoices, chance, pick, weighted
from ..schedules.grammar import NAMES as NAMES
from ..schedules.grammar import ODD_NAMES as ODD_NAMES
from ..schedules.grammar import hold_to_bounds
from .operations import Calm, Look, Member, Read, Schedule, Wait
from .passages import PASSAGES, Passage
from .writer import Writer

PARTICIPANTS = ((3, 50), (4, 25), (5, 11), (6, 7), (7, 4), (8, 3))
"""How many there are, with weights: a change is a step at least for each of them."""
CLOCKS_MS = (1_000, -1_000, 40, 3_600_000, -3_600_000, 600_000)


@dataclass(frozen=True)
class Grammar:
    """What generated schedules may contain."""

    fewest: int = 3
    most: int = 8
    """Participants."""
    scripted: bool = True
    """Scripted peers take part."""
    passages: tuple[str, ...] = ()
    """Only these; all if empty."""
    longest: int = 4
    """Passages of one schedule."""

    def __post_init__(self) -> None:
        hold_to_bounds(self.fewest, self.most, self.longest, self.passages, PASSAGES)


ANYTHING = Grammar()

_IN_ORDER = sorted(PASSAGES, key=lambda name: (name != "chatter", name))
"""The simplest first, to which Hypothesis shrinks."""


def generated(seed: int, index: int, grammar: Grammar = ANYTHING) -> Schedule:
    """The schedule of that number: the same on every machine."""
    return draw_schedule(SeededChoices(seed, index), grammar, name_of(seed, index))


def name_of(seed: int, index: int) -> str:
    """What that schedule is called."""
    return f"seed {seed}, schedule {index}"


def draw_schedule(choices: Choices, grammar: Grammar = ANYTHING, name: str = "") -> Schedule:
    """A schedule by ``choices``."""
    sizes = [(n, weight) for n, weight in PARTICIPANTS if grammar.fewest <= n <= grammar.most]
    count = weighted(choices, sizes) if sizes else choices.integer(grammar.fewest, grammar.most)
    members = _members(choices, count)
    configuration = (("resolution", choices.integer(1, 2)),) if chance(choices, 10) else ()
    writer = Writer(choices, members)
    writer.arrange(writer.here)
    for _ in range(choices.integer(1, grammar.longest)):
        weighted(choices, _possible(grammar, writer)).write(writer)
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
            # Of three two may write, and one of them is the first, who is under test where the others are references.
            read_only=chance(choices, 45 if place > 1 else 8 if place == 0 and count > 2 else 0),
            store=chance(choices, 25),
        )
        for place, name in enumerate(names[:count])
    )


def _possible(grammar: Grammar, writer: Writer) -> list[tuple[Passage, int]]:
    passages = map(PASSAGES.__getitem__, grammar.passages or _IN_ORDER)
    fitting = [each for each in passages if each.fits(writer) and (grammar.scripted or not each.scripted)]
    # Where none of those fits that were asked for, something simple happens.
    return [(each, each.weight) for each in fitting or [PASSAGES["chatter"]]]


def _finish(writer: Writer, choices: Choices) -> None:
    """Mostly time for everything to come right, and a look at what it is like."""
    if chance(choices, 85):
        for name in list(writer.closed):
            writer.reopen(name)
        writer.connect_all()
        writer.add(Calm())
    writer.perhaps(60, Look())
    writer.add(Read(read_only=chance(choices, 25)))
