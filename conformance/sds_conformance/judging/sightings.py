"""In which runs of the reference model each requirement was exercised: played, or as it was kept of such runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.resources import files

from .certification import Certification, Progress
from .exercise import NOTHING, Model, certify_every_revision
from .rules import Rules

KEPT = "exercised.json"
"""In the folder of a protocol: what was kept. ``conformance/generate_exercised.py`` writes it."""

Sightings = Mapping[str, Mapping[str, int]]
"""By requirement: the runs in which it was exercised, and how often."""


def sightings_of(runs: Iterable[Certification]) -> Sightings:
    """Those of runs of several revisions; where two state a requirement, the earlier one counts."""
    found: dict[str, Mapping[str, int]] = {}
    for run in reversed([*runs]):
        found |= run.sightings
    return found


def played(rules: Rules, model: Model, progress: Progress = lambda name, number, total: None) -> Sightings:
    """Where each requirement is exercised, by a run of the model for each revision, which takes a while."""
    return sightings_of(certify_every_revision(rules, partial(model.reference, NOTHING), progress).values())


def kept(model: Model) -> Sightings | None:
    """Where each requirement was exercised when that was last written down; None if it never was."""
    if not model.kept_in:
        return None
    known = json.loads(files(model.kept_in).joinpath(KEPT).read_text("utf-8"))
    runs: list[str] = known["runs"]
    return {r: {runs[number]: count for number, count in seen} for r, seen in known["exercised"].items()}


def written(sightings: Sightings) -> str:
    """The text that ``kept`` reads: the names of the runs, then for each requirement their numbers, with how often."""
    ordered = sorted(sightings.items())
    numbers = {name: number for number, name in enumerate(dict.fromkeys(run for _, seen in ordered for run in seen))}
    lines = []
    for requirement, seen in ordered:
        pairs = json.dumps([[numbers[run], count] for run, count in seen.items()], separators=(",", ":"))
        lines.append(f"{json.dumps(requirement)}: {pairs}")
    names, rows = ",\n".join(map(json.dumps, numbers)), ",\n".join(lines)
    return f'{{"runs": [\n{names}\n],\n"exercised": {{\n{rows}\n}}}}\n'
