"""Generates schedules: a few participants, a configuration, and one to three passages, each about one kind of trouble.

Purely random operations rarely interact: most schedules would reach no state that a perfect network does not reach. So
a passage is a short sequence of related operations: a burst within one millisecond, a chain of dependencies that
arrives in reverse, a missing message that only a repair can bring. Participants, times and other events are drawn at
random. Several passages share one log, so that their effects mix.
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
from .operations import Calm, Look, Member, Schedule, Wait
from .passages import PASSAGES, Passage
from .writer import SDS, Text, Writer

PARTICIPANTS = ((3, 58), (4, 22), (5, 9), (6, 5), (7, 3), (8, 3))
"""Numbers of participants with weights. Larger groups are rare: every broadcast is a step for each participant."""


@dataclass(frozen=True)
class Grammar:
    """The limits within which schedules are generated: participants, SDS-R, scripted peers and passages."""

    fewest: int = 3
    most: int = 8
    """Maximum number of participants."""
    sds_r: bool | None = None
    """Whether SDS-R is on in all schedules (True), in none (False), or in some (None)."""
    scripted: bool = True
    """Whether scripted peers send odd messages, and bytes arrive that are not messages."""
    passages: tuple[str, ...] = ()
    """The names of the passages to choose from; empty means all passages."""
    longest: int = 3
    """The maximal number of passages in one schedule."""

    def __post_init__(self) -> None:
        hold_to_bounds(self.fewest, self.most, self.longest, self.passages, PASSAGES)


ANYTHING = Grammar()

_IN_ORDER = sorted(PASSAGES, key=lambda name: (name != "chatter", name))
"""The names of all passages. The simplest passage is the first one, because Hypothesis shrinks towards it."""


def generate_schedule(seed: int, index: int, grammar: Grammar = ANYTHING, text: Text = SDS) -> Schedule:
    """The schedule with this seed and index; the same on every machine. Raises ValueError, see ``draw_schedule``."""
    return draw_schedule(SeededChoices(seed, index), grammar, schedule_name(seed, index), text)


def passages_of(text: Text) -> tuple[str, ...]:
    """The names of the passages that apply to the revision ``text``; some need SDS-R, for example."""
    return tuple(name for name, passage in PASSAGES.items() if passage.is_of(text))


def hold_to_text(grammar: Grammar, text: Text) -> None:
    """Raise ValueError if a grammar asks for SDS-R or for a passage that does not apply to the revision ``text``."""
    if not text.repairs and grammar.sds_r:
        raise ValueError(f"{text.name} has no SDS-R")
    if unknown := set(grammar.passages) - set(passages_of(text)):
        raise ValueError(f"the passage {min(unknown)!r} does not apply to {text.name}")


def draw_schedule(choices: Choices, grammar: Grammar = ANYTHING, name: str = "", text: Text = SDS) -> Schedule:
    """Draw a schedule that uses only what the revision has. Raises ValueError, see ``hold_to_text``."""
    hold_to_text(grammar, text)
    sizes = [(n, weight) for n, weight in PARTICIPANTS if grammar.fewest <= n <= grammar.most]
    number = choose_weighted(choices, sizes) if sizes else choices.integer(grammar.fewest, grammar.most)
    sds_r = grammar.sds_r if grammar.sds_r is not None else text.repairs and chance(choices, 58)
    configuration = _configuration(choices, sds_r=sds_r, text=text)
    names = (ODD_NAMES if chance(choices, 12) else NAMES)[:number]
    clocks = pick(choices, ((0,), (0,), (0, 250, -250), (0, 600_000, -600_000), (0, -3_600_000, 3_600_000)))
    late = number > 2 and chance(choices, 12)
    members = tuple(
        Member(
            who,
            late=late and place == number - 1,
            clock_ms=clocks[place % len(clocks)],
            sds_r=False if sds_r and place and chance(choices, 4) else None,
        )
        for place, who in enumerate(names)
    )
    pair = pick(choices, (("Grüße", "GRÜSSE"), ("c1", "C1"))) if chance(choices, 12) else ("c1", "c2")
    channels = pair[: 2 if chance(choices, 20) else 0 if chance(choices, 3) else 1]
    writer = Writer(choices, members, len(channels) or 1, dict(configuration), text)
    # With SDS-R, these weights make about half of the passages deal with repairs.
    possible = [
        (passage, passage.weight * (4 if passage.repairs else 1))
        for passage in map(PASSAGES.__getitem__, _IN_ORDER)
        if _fits(passage, grammar, writer)
    ]
    for _ in range(choices.integer(1, grammar.longest)):
        writer.home = writer.channel()
        choose_weighted(choices, possible).write(writer)
        if chance(choices, 40):
            writer.add(Wait(pick(choices, (1, 1_000, 6_000, 31_000, 61_000))))
    _finish(writer, choices)
    return Schedule(members, tuple(writer.operations), channels, configuration, choices.integer(0, 0xFFFF), name)


def _fits(passage: Passage, grammar: Grammar, writer: Writer) -> bool:
    if grammar.passages:
        return passage.name in grammar.passages
    possible = (
        passage.is_of(writer.text)
        and (writer.sds_r or not passage.repairs)
        and (grammar.scripted or not passage.scripted)
    )
    return possible and passage.fits(writer)


def _finish(writer: Writer, choices: Choices) -> None:
    """Usually end the schedule with a `look` at all states, and sometimes with a `calm` before it, in which repairs
    finish."""
    if chance(choices, 20):
        writer.join_all()
        writer.add(Calm(store=chance(choices, 50)))
    if chance(choices, 80):
        writer.add(Look())


def _configuration(choices: Choices, *, sds_r: bool, text: Text) -> tuple[tuple[str, int | float | bool], ...]:
    # A small filter: with a capacity of 10,000, every message would have 18 kB.
    chosen: dict[str, int | float | bool] = {"bloom_capacity": pick(choices, (100, 100, 24, 10))}
    if text.repairs:
        chosen["sds_r"] = sds_r
    if chance(choices, 30):
        chosen["causal_history_size"] = pick(choices, (1, 3, 5, 10))
    if chance(choices, 25):
        periods = pick(choices, ((5_000, 20_000), (60_000, 180_000)))
        chosen["resend_unacknowledged_ms"], chosen["resend_possibly_acknowledged_ms"] = periods
    # Periodic sync messages are rare in a schedule without SDS-R, unless the revision has no SDS-R: then there are no
    # passages about repairs, and more schedules test periodic work.
    if chance(choices, 12 if text.repairs and not sds_r else 40):
        chosen["sync_interval_ms"] = pick(choices, (10_000, 10_000, 30_000, 60_000))
    if chance(choices, 12):
        chosen["lost_timeout_ms"] = pick(choices, (30_000, 60_000))
    if chance(choices, 10):
        chosen["possible_ack_threshold"] = pick(choices, (2, 3))
    if chance(choices, 8):
        chosen["incoming_sweep_ms"] = 5_000
    if sds_r:
        chosen.update(_repair_configuration(choices))
    return tuple(sorted(chosen.items()))


def _repair_configuration(choices: Choices) -> dict[str, int]:
    """The configuration of SDS-R.

    Some choices make T_req and T_resp a few milliseconds long, so that short waits can end before, at or after them.
    """
    chosen: dict[str, int] = {}
    if not chance(choices, 8):
        times = ((30_000, 120_000), (30_000, 120_000), (2, 6), (2_000, 9_000), (5_000, 5_001), (1_000, 300_000))
        chosen["t_min_ms"], chosen["t_max_ms"] = pick(choices, times)
    if chance(choices, 6):
        chosen["num_participants"] = pick(choices, (128, 300, 110, 3))
    elif not chance(choices, 10):
        chosen["num_response_groups"] = pick(choices, (1, 1, 1, 2, 3))
    if chance(choices, 20):
        chosen["max_repair_requests"] = pick(choices, (1, 2, 5))
    return chosen
