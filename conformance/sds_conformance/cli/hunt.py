"""``sds-conformance hunt``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import click
from rich.console import Console
from rich.text import Text

from ..exploration.hunt import EXAMPLES, MutantHunt, VariantHunt, hunt, hunt_false_accusations, names_to_hunt, not_found
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..presentation.story import plain_table, unwrapped_column
from ..protocols import protocol_of, scheduled
from .campaign_output import print_json
from .files import refuse_nowhere
from .model_campaigns import (
    ONLY,
    catch_interrupt,
    markdown_rows,
    match_globs,
    processes,
    tabled,
    unknown_name_error,
    with_progress,
    write_tables,
)
from .name_types import Choice
from .options import CURRENT, console, which_seed

_TOLD = ("mutant", "requirement", "found_after", "found_by", "operations", "participants", "out_of_reach")
"""Fields of a mutant in the JSON output."""
_EPILOG = """
\b
Examples:
  sds-conformance hunt --only 'ties-*'
  sds-conformance hunt --markdown hunt.md
  sds-conformance hunt --schedules 200 --json > hunt.json
  sds-conformance hunt --revision forum-2024
"""


@dataclass(frozen=True)
class HuntResults:
    """The results of a hunt."""

    mutants: list[MutantHunt]
    variants: list[VariantHunt]
    examples: int
    seed: int
    revision: str = CURRENT
    unplayed: int = 0
    """Mutants and variants that were not played: the hunt was interrupted."""

    @property
    def found(self) -> list[MutantHunt]:
        return [catch for catch in self.mutants if catch.found_after]

    @property
    def missed(self) -> list[MutantHunt]:
        """Mutants that were not found although a schedule could have shown them."""
        return [catch for catch in self.mutants if not catch.found_after and not catch.out_of_reach]

    @property
    def accused(self) -> list[VariantHunt]:
        """Legal variants that were accused."""
        return [peace for peace in self.variants if peace.accused]

    @property
    def totals(self) -> str:
        """The summary, in one line."""
        reachable = len(self.found) + len(self.missed)
        parts = [
            f"{len(self.found)} of {format_count(reachable, 'mutant')} within reach found within "
            f"{format_count(self.examples, 'schedule')}"
        ]
        if self.found:
            sizes = [catch.operations for catch in self.found]
            parts.append(f"shrunk to {median(sizes):g} steps in the median and {max(sizes)} at most")
        if self.variants:
            left = len(self.variants) - len(self.accused)
            parts.append(f"{left} of {format_count(len(self.variants), 'legal variant')} not accused")
        if self.unplayed:
            parts.append(f"interrupted before {self.unplayed} more")
        return ", ".join(parts) + "."


@click.command("hunt", epilog=_EPILOG)
@ONLY
@click.option(
    "--schedules",
    "examples",
    type=click.IntRange(1),
    default=EXAMPLES,
    show_default=True,
    help="Number of schedules for each mutant.",
)
@click.option(
    "--peaceful",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Number of schedules for each legal variant.",
)
@which_seed("Seed of the schedules.")
@click.option(
    "--revision",
    type=Choice(scheduled()),
    help="Hunt mutants of the requirements of this revision. Default: all mutants of SDS, each in its own revision.",
)
@tabled
def hunt_command(
    only: tuple[str, ...],
    examples: int,
    peaceful: int,
    seed: int,
    revision: str | None,
    jobs: int,
    as_json: bool,
    write: Path | None,
) -> None:
    """Prove that generated schedules find faults.

    Each mutant of the reference model plays generated schedules until one finds its fault, which is then shrunk. Legal
    variants play generated schedules as well, and no finding is allowed.
    """
    out, err = console(), console(stderr=True)
    hunted_ones, spared_ones = names_to_hunt(revision or "")
    mutants, variants = match_globs(hunted_ones, only), match_globs(spared_ones, only) if peaceful else []
    if not mutants and not variants:
        raise unknown_name_error(only, [*hunted_ones, *spared_ones], " that schedules are about")
    refuse_nowhere(write)
    without = {name: not_found(name, revision or "") for name in mutants}
    within = [name for name, catch in without.items() if not catch.out_of_reach or name in only]
    caught: dict[str, MutantHunt] = {}
    peaces: list[VariantHunt] = []
    with catch_interrupt() as interruption, processes(jobs) as pool:
        hunting = pool.map(partial(hunt, examples=examples, seed=seed, revision=revision or ""), within)
        peacefully = partial(hunt_false_accusations, examples=peaceful, seed=seed, revision=revision or "")
        sparing = pool.map(peacefully, variants)
        for catch in with_progress(err, "mutants", hunting, len(within)):
            caught[catch.mutant] = catch
        peaces.extend(
            with_progress(err, "legal variants", sparing, len(variants))
        )  # keep the results before an interrupt
    unplayed = len(within) - len(caught) + len(variants) - len(peaces)
    if interruption.happened:
        without = {name: catch for name, catch in without.items() if name not in within}
    bag = HuntResults(list((without | caught).values()), peaces, examples, seed, revision or CURRENT, unplayed)
    if as_json:
        print_json(_as_json(bag))
    else:
        _show(out, bag)
    if interruption.happened:
        sys.exit(Exit.INTERRUPTED)
    write_tables(write, lambda: markdown(bag))
    sys.exit(1 if bag.missed or bag.accused else 0)


def _in_catalogue_order(bag: HuntResults, catches: Iterable[MutantHunt]) -> list[MutantHunt]:
    order = list(protocol_of(bag.revision).rules.catalogue.requirements)
    return sorted(catches, key=lambda catch: (order.index(catch.requirement), catch.mutant))


def _as_json(bag: HuntResults) -> dict[str, object]:
    return {
        "seed": bag.seed,
        "examples": bag.examples,
        "mutants": [{key: getattr(catch, key) for key in _TOLD} for catch in _in_catalogue_order(bag, bag.mutants)],
        "variants": [asdict(peace) for peace in bag.variants],
        "unplayed": bag.unplayed,
    }


def _show(out: Console, bag: HuntResults) -> None:
    table = plain_table(
        unwrapped_column("Mutant"), unwrapped_column("Requirement"), "Found by", right=("after", "steps")
    )
    for catch in _in_catalogue_order(bag, bag.mutants):
        by = Text("NOT FOUND", "bold red")
        if catch not in bag.missed:
            reach = f"out of reach: {catch.out_of_reach}"
            by = Text(catch.found_by, "green") if catch.found_after else Text(reach, "dim")
        table.add_row(catch.mutant, catch.requirement, by, str(catch.found_after or ""), str(catch.operations or ""))
    if bag.mutants:
        out.print(table)
        out.print()
    for peace in bag.accused:
        out.print(f"Accused though legal: {peace.variant}: {'; '.join(peace.accused)}", style="bold red")
    style = "bold red" if bag.missed or bag.accused else "yellow" if bag.unplayed else "bold green"
    out.print(bag.totals, style=style)


_INTRODUCTION = """\
# The hunt

Faults that generated schedules find. Each mutant is the reference model with exactly one fault; it plays the schedules
of one seed, alternately in a group of such mutants and among correct participants, until a finding accuses it. That
schedule is then shrunk: "after" counts the schedules, "steps" the operations of the shrunk one.
"""


def markdown(bag: HuntResults) -> str:
    """The tables of --markdown. Two runs of one version of the suite write the same bytes."""
    lines = [_INTRODUCTION, f"**{bag.totals}**", ""]
    lines += markdown_rows(
        "Mutants",
        ("Mutant", "What is wrong with it", "Requirement", "Found by", "After", "Steps"),
        [
            (f"`{c.mutant}`", c.summary, c.requirement, c.found_by, f"{c.found_after:,}", str(c.operations))
            for c in _in_catalogue_order(bag, bag.found)
        ],
    )
    away = [c for c in _in_catalogue_order(bag, bag.mutants) if not c.found_after]
    if away:
        lines += markdown_rows(
            "Mutants that schedules did not find",
            ("Mutant", "What is wrong with it", "Requirement", "Why"),
            [(f"`{c.mutant}`", c.summary, c.requirement, c.out_of_reach or "not found") for c in away],
        )
    if bag.variants:
        lines += markdown_rows(
            "Legal variants",
            ("Variant", "Schedules", "Found against it"),
            [(f"`{p.variant}`", f"{p.schedules:,}", "; ".join(p.accused) or "nothing") for p in bag.variants],
        )
    return "\n".join(lines).rstrip() + "\n"
