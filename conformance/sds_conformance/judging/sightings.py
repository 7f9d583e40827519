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
    found: dict[str, dict[str, int]] = {}
    for run, counts in json.loads(files(model.kept_in).joinpath(KEPT).read_text("utf-8")).items():
        for requirement, count in counts.items():
            found.setdefault(requirement, {})[run] = count
    return found


def written(sightings: Sightings) -> str:
    """The text that ``kept`` reads: a line for each run, so that a new scenario is a new line."""
    runs: dict[str, dict[str, int]] = {}
    for requirement, seen in sorted(sightings.items()):
        for run, count in seen.items():
            runs.setdefault(run, {})[requirement] = count
    rows = (f"{json.dumps(run)}: {json.dumps(counts, separators=(',', ':'))}" for run, counts in sorted(runs.items()))
    return "{\n" + ",\n".join(rows) + "\n}\n"
