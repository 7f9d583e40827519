"""``sds-conformance selftest --hunt``: play generated schedules to find each mutant, and to show that no legal variant
fails."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.text import Text

from ..exploration.hunt import MutantHunt, VariantHunt, hunt, hunt_false_accusations, names_to_hunt, not_found
from ..judging.exits import Exit
from ..judging.formats import format_count
from ..presentation.story import plain_table, unwrapped_column
from ..protocols import protocol_of
from .files import require_folders, write_file
from .model_campaigns import (
    markdown_rows,
    match_globs,
    processes,
    unknown_name_error,
)
from .options import CURRENT
from .output_filter import print_json
from .progress import with_progress

_JSON_FIELDS = ("mutant", "requirement", "found_after", "found_by", "operations", "participants", "out_of_reach")


@dataclass(frozen=True)
class HuntResults:
    """The results of a hunt."""

    mutants: list[MutantHunt]
    variants: list[VariantHunt]
    examples: int
    seed: int
    revision: str = CURRENT
    unplayed: int = 0
    """Number of mutants and variants that were not played because of an interrupt."""

    @property
    def found(self) -> list[MutantHunt]:
        return [result for result in self.mutants if result.found_after]

    @property
    def missed(self) -> list[MutantHunt]:
        """Return the mutants that were not found, although generated schedules could find them."""
        return [result for result in self.mutants if not result.found_after and not result.out_of_reach]

    @property
    def accused(self) -> list[VariantHunt]:
        """Return the legal variants that have findings."""
        return [variant for variant in self.variants if variant.accused]

    @property
    def totals(self) -> str:
        """One line with the numbers of found mutants and accused legal variants."""
        reachable = len(self.found) + len(self.missed)
        parts = [
            f"{len(self.found)} of {format_count(reachable, 'mutant')} that schedules can reveal were found within "
            f"{format_count(self.examples, 'schedule')}"
        ]
        if self.found:
            sizes = [result.operations for result in self.found]
            parts.append(f"shrunk to {median(sizes):g} steps in the median and {max(sizes)} at most")
        if self.variants:
            left = len(self.variants) - len(self.accused)
            parts.append(f"{left} of {format_count(len(self.variants), 'legal variant')} not accused")
        if self.unplayed:
            parts.append(f"interrupted: {self.unplayed} other mutants and variants were not played")
        return ", ".join(parts) + "."


def hunt_faults(
    out: Console,
    err: Console,
    only: tuple[str, ...],
    examples: int,
    variant_examples: int,
    seed: int,
    revision: str,
    jobs: int,
    write: Path | None,
    *,
    as_json: bool,
) -> int:
    """Play generated schedules with each mutant until a schedule finds the fault, and with legal variants. Returns the
    exit code.

    ``examples`` and ``variant_examples`` are the maximum numbers of schedules for a mutant and for a variant. Without a
    ``revision``, each mutant of SDS is played under the revision of its requirement. Raises UsageError.
    """
    mutant_names, variant_names = names_to_hunt(revision)
    mutants = match_globs(mutant_names, only)
    variants = match_globs(variant_names, only) if variant_examples else []
    if not mutants and not variants:
        raise unknown_name_error(only, [*mutant_names, *variant_names], " that generated schedules can be played with")
    require_folders(write)
    without = {name: not_found(name, revision) for name in mutants}
    within = [name for name, result in without.items() if not result.out_of_reach or name in only]
    found: dict[str, MutantHunt] = {}
    accepted: list[VariantHunt] = []
    interrupted = True
    with suppress(KeyboardInterrupt), processes(jobs) as pool:
        hunting = pool.map(partial(hunt, examples=examples, seed=seed, revision=revision), within)
        play_variant = partial(hunt_false_accusations, examples=variant_examples, seed=seed, revision=revision)
        playing = pool.map(play_variant, variants)
        for result in with_progress(err, "mutants", hunting, len(within)):
            found[result.mutant] = result
        accepted.extend(with_progress(err, "legal variants", playing, len(variants)))
        interrupted = False
    unplayed = len(within) - len(found) + len(variants) - len(accepted)
    if interrupted:
        without = {name: result for name, result in without.items() if name not in within}
    results = HuntResults(list((without | found).values()), accepted, examples, seed, revision or CURRENT, unplayed)
    if as_json:
        print_json(_as_json(results))
    else:
        _show(out, results)
    if interrupted:
        return Exit.INTERRUPTED
    if write is not None:
        write_file(write, markdown(results))
    return Exit.NON_CONFORMANT if results.missed or results.accused else Exit.CONFORMANT


def _in_catalogue_order(results: HuntResults, found: Iterable[MutantHunt]) -> list[MutantHunt]:
    order = list(protocol_of(results.revision).rules.catalogue.requirements)
    return sorted(found, key=lambda result: (order.index(result.requirement), result.mutant))


def _as_json(results: HuntResults) -> dict[str, object]:
    return {
        "seed": results.seed,
        "examples": results.examples,
        "mutants": [
            {key: getattr(result, key) for key in _JSON_FIELDS}
            for result in _in_catalogue_order(results, results.mutants)
        ],
        "variants": [asdict(variant) for variant in results.variants],
        "unplayed": results.unplayed,
    }


def _show(out: Console, results: HuntResults) -> None:
    table = plain_table(
        unwrapped_column("Mutant"), unwrapped_column("Requirement"), "Found by", right=("after", "steps")
    )
    for result in _in_catalogue_order(results, results.mutants):
        by = Text("NOT FOUND", "bold red")
        if result not in results.missed:
            reach = f"schedules cannot reveal it: {result.out_of_reach}"
            by = Text(result.found_by, "green") if result.found_after else Text(reach, "dim")
        table.add_row(
            result.mutant, result.requirement, by, str(result.found_after or ""), str(result.operations or "")
        )
    if results.mutants:
        out.print(table)
        out.print()
    for variant in results.accused:
        out.print(f"Legal variant with findings: {variant.variant}: {'; '.join(variant.accused)}", style="bold red")
    style = "bold red" if results.missed or results.accused else "yellow" if results.unplayed else "bold green"
    out.print(results.totals, style=style)


_INTRODUCTION = """\
# The hunt

This page lists the faults that generated schedules find. Each mutant is the reference model with exactly one fault. It
plays the schedules of one seed, alternately in a group of such mutants and among correct participants, until a finding
accuses the mutant. Then the schedule of the finding is shrunk. "After" is the number of schedules that were played,
"Steps" the number of operations in the shrunk schedule.
"""


def markdown(results: HuntResults) -> str:
    """Render the tables of --markdown. Two runs of the same version of the suite write the same bytes."""
    lines = [_INTRODUCTION, f"**{results.totals}**", ""]
    lines += markdown_rows(
        "Mutants",
        ("Mutant", "Fault", "Requirement", "Found by", "After", "Steps"),
        [
            (f"`{c.mutant}`", c.summary, c.requirement, c.found_by, f"{c.found_after:,}", str(c.operations))
            for c in _in_catalogue_order(results, results.found)
        ],
    )
    away = [c for c in _in_catalogue_order(results, results.mutants) if not c.found_after]
    if away:
        lines += markdown_rows(
            "Mutants that schedules did not find",
            ("Mutant", "Fault", "Requirement", "Why"),
            [(f"`{c.mutant}`", c.summary, c.requirement, c.out_of_reach or "not found") for c in away],
        )
    if results.variants:
        lines += markdown_rows(
            "Legal variants",
            ("Variant", "Schedules", "Found against it"),
            [(f"`{p.variant}`", f"{p.schedules:,}", "; ".join(p.accused) or "nothing") for p in results.variants],
        )
    return "\n".join(lines).rstrip() + "\n"
