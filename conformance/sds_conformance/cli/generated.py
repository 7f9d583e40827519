"""``sds-conformance selftest --generated``: faults that are derived from the source of the model."""

from __future__ import annotations

import random
import resource
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from sds_harness.suggestions import did_you_mean

from ..exploration import other_methods
from ..judging.alterations.coverage import RunCoverage, StatementCoverage, measure_coverage
from ..judging.alterations.examination import AlterationExaminer
from ..judging.alterations.places import AlterationPlace, find_module_file, find_places
from ..judging.alterations.results import GOAL, GOAL_BY_RUN, AlterationResult, AlterationSummary, End, read_excuses
from ..judging.alterations.source import Configuration, ModelSource
from ..judging.exits import Exit
from ..presentation.story import plain_table
from ..protocols import Protocol, protocols
from .model_campaigns import match_globs, processes
from .output_filter import print_json
from .progress import progress_bar, with_progress

MEMORY_BYTES = 4 << 30
"""Memory limit of a worker in bytes, because a faulty model may allocate without end. `run` sets the same limit for an
implementation.
"""
MEANS = (("fuzz", other_methods.schedules), ("vectors", other_methods.vectors))

_examiners: list[AlterationExaminer] = []  # the examiner of this worker process; empty in the main process


def protocol_with_source() -> tuple[Protocol, ModelSource]:
    """Return the protocol whose reference model has source code from which faults can be derived."""
    return next((p, p.model.source) for p in protocols() if p.model.source is not None)


def generated_faults(
    out: Console, err: Console, only: tuple[str, ...], sample: int | None, seed: int, jobs: int, *, as_json: bool
) -> int:
    """Play the selected faults, or a sample, and print the results. Returns the exit code."""
    protocol, source = protocol_with_source()
    try:
        excuses = read_excuses(source.excuses())
    except ValueError as error:
        raise click.UsageError(f"the excuses cannot be read: {error}") from None
    every = find_places(source)
    wanted_names = set(match_globs([place.name for place in every], only))
    chosen = [place for place in every if place.name in wanted_names]
    if not chosen:
        functions_of = [place.name.partition(":")[0] for place in every]
        meant = did_you_mean(only[0].partition(":")[0], functions_of) if only else ""
        raise click.UsageError(
            f"no place has such a name: `--json` lists the names of the changed places in the source, for example "
            f"`channel.Channel.tick: *`.{meant}"
        )
    if sample is not None and sample < len(chosen):
        drawn = set(random.Random(seed).sample(chosen, sample))
        chosen = [place for place in chosen if place in drawn]
    fates: dict[str, AlterationResult] = {}
    try:
        reached = _measure_coverage(err, protocol, source, jobs)
        for fate in _examine_places(err, reached, chosen, excuses, jobs):
            fates[fate.name] = fate
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    except BrokenProcessPool:
        interrupted = True
        err.print(
            "A process of the suite was killed: the remaining faults were not played. Try fewer --jobs.",
            style="bold red",
        )
    results = [fates[place.name] for place in chosen if place.name in fates]
    reckoning = AlterationSummary(every, results, excuses, len(chosen), interrupted)
    if as_json:
        print_json(_as_json(reckoning, seed, sample))
    else:
        _show(out, reckoning, source, seed if sample else None)
    if interrupted:
        return Exit.INTERRUPTED
    return Exit.CONFORMANT if reckoning.met else Exit.NON_CONFORMANT


# ---- In workers ----------------------------------------------------------------------------------------------------


def _measure_coverage(err: Console, protocol: Protocol, source: ModelSource, jobs: int) -> StatementCoverage:
    """Play all configurations of the model, and return which statements of its source each run executes."""
    configurations = source.configurations
    with processes(jobs, _begin) as pool:
        found = with_progress(err, "configurations", pool.map(_reach, configurations), len(configurations))
        return StatementCoverage.of_runs(source, dict(zip(configurations, found, strict=True)))


def _examine_places(
    err: Console, reached: StatementCoverage, chosen: Sequence[AlterationPlace], excused: Container[str], jobs: int
) -> Iterator[AlterationResult]:
    """Test the faults at the ``chosen`` places. Yield each result as soon as it is known."""
    alive = 0
    with processes(jobs, _begin, (reached,)) as pool, progress_bar(err, "faults", len(chosen)) as bar:
        examinations = [pool.submit(_examine, place, place.name in excused) for place in chosen]
        for number, done in enumerate(as_completed(examinations), start=1):
            fate = done.result()
            alive += not (fate.is_killed or fate.name in excused)
            bar(f"faults, {alive} alive", number, len(chosen))
            yield fate


def _begin(reached: StatementCoverage | None = None) -> None:
    with suppress(OSError, ValueError):  # not every system supports memory limits
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    if reached is not None:
        protocol, source = protocol_with_source()
        _examiners[:] = [AlterationExaminer(protocol.rules, source, reached, MEANS)]


def _reach(configuration: Configuration) -> list[RunCoverage]:
    protocol, source = protocol_with_source()
    return measure_coverage(protocol.rules, source, configuration)


def _examine(place: AlterationPlace, excused: bool) -> AlterationResult:
    return _examiners[0].examine(place, briefly=excused)


# ---- Output --------------------------------------------------------------------------------------------------------

_RESULT_WORDS = {
    End.FAILS.value: "run (a requirement fails)",
    End.WARNS.value: "run (a requirement warns)",
    End.BREAKS.value: "run (a breakdown)",
    **{name: f"{name} alone" for name, _ in MEANS},
    End.LIVES.value: "nothing",
    End.SUITE_ERROR.value: "nothing: the fault makes the suite itself fail",
}


def _show(out: Console, reckoning: AlterationSummary, source: ModelSource, seed: int | None) -> None:
    played = f"{len(reckoning.fates)} of {len(reckoning.places)} places"
    drawn = f", drawn with seed {seed}" if seed is not None else ""
    cut = f", interrupted with {reckoning.planned - len(reckoning.fates)} places left" if reckoning.interrupted else ""
    out.print(f"Places changed: {played}{drawn}{cut}.\n")
    table = plain_table("Found by", right=("Faults",))
    for end, description in _RESULT_WORDS.items():
        if reckoning.end_counts[end]:
            table.add_row(description, str(reckoning.end_counts[end]))
    for kind, number in sorted(reckoning.excuse_counts.items()):
        table.add_row(f"excused: {kind}", str(number), style="dim")
    out.print(table)
    out.print()
    by_others = [fate for fate in reckoning.counted_results if fate.end is End.FOUND]
    _list(out, source, "Found by tests other than a run:", by_others)
    _list(out, source, "Alive:", reckoning.survivors)
    for name, why in reckoning.stale.items():
        out.print(f"Outdated excuse ({why}): {name}", style="bold red", soft_wrap=True)
    if reckoning.too_many_excuses:
        out.print(f"{len(reckoning.excuses)} places are excused, more than a fifth of all places.", style="bold red")
    style = "bold green" if reckoning.met else "bold red"
    out.print(
        f"{reckoning.share_killed_by_run:.1%} of {len(reckoning.counted_results)} faults found by `run` "
        f"(goal {GOAL_BY_RUN:.0%}), "
        f"{reckoning.share_killed:.1%} by `run` or another test (goal {GOAL:.0%}).",
        style=style,
        soft_wrap=True,
    )


def _list(out: Console, source: ModelSource, title: str, fates: Sequence[AlterationResult]) -> None:
    """Print each result with its line and the change, like a one-line diff."""
    if not fates:
        return
    out.print(title, style="bold")
    for fate in fates:
        place = fate.place
        text = f"  ({fate.by}: {fate.seen})" if fate.end is End.FOUND else f"  ({fate.seen})" if fate.seen else ""
        out.print(f"{_file(source, place)}:{place.line}  {place.name}{text}", soft_wrap=True)
        out.print(f"  -{place.old}  +{place.new}", style="dim", soft_wrap=True)
    out.print()


def _file(source: ModelSource, place: AlterationPlace) -> str:
    path, here = find_module_file(source.package, place.module), Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _as_json(reckoning: AlterationSummary, seed: int, sample: int | None) -> dict[str, Any]:
    return {
        "places": len(reckoning.places),
        "sample": sample,
        "seed": seed if sample is not None else None,
        "interrupted": reckoning.interrupted,
        "foundByRun": round(reckoning.share_killed_by_run, 4),
        "found": round(reckoning.share_killed, 4),
        "counts": {**reckoning.end_counts, **{f"excused: {kind}": n for kind, n in reckoning.excuse_counts.items()}},
        "staleExcuses": reckoning.stale,
        "faults": [
            {
                **asdict(fate),
                "name": fate.name,
                "end": fate.end.value,
                "excused": fate.name in reckoning.excuses,
            }
            for fate in reckoning.fates
        ],
    }
