"""Samples of a diff: schedules that ``replay`` plays on both implementations, and pictures of where they part."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sds_harness.corpus.place import Place
from sds_harness.corpus.rebuilding import Rebuilt
from sds_harness.corpus.rows import NOT_COMPARED
from sds_harness.corpus.shards import DamagedFile
from sds_harness.schedules import Act, Schedule, ScheduleFileError, dumps, loads

from ..exploration.spacetime import spacetime_svg
from .classifying import Class
from .comparing import divergences
from .diffing import Difference, stored
from .ranges import Divergence
from .summing import Cause

SAMPLES = "samples"
"""The folder they are written to."""
MOST = 40
"""Causes of which samples are written, the most frequent of each class."""
MOST_PICTURES = 12
"""Pictures in the page."""


@dataclass(frozen=True)
class Sample:
    """A schedule that differs, as it was written to a file."""

    cause: Cause
    schedule: int
    file: str
    """Relative to the folder of the diff."""
    picture: str = ""
    """A space-time diagram, if it is drawn: SVG."""
    story: str = ""
    """Where the two part, in a sentence."""


def write_samples(difference: Difference, out: Place) -> list[Sample]:
    """Write the samples of the causes that are told. Raises CorpusError."""
    (out / SAMPLES).make()
    samples, pictures = [], 0
    told = [cause for cause in difference.causes if cause.samples][:MOST]
    for place, cause in enumerate(told):
        for rank, number in enumerate(cause.samples):
            plan = _plan(difference, cause, number)
            if plan is None:
                continue
            name = f"{SAMPLES}/{cause.kind.value.replace(' ', '-')}-{place + 1}-schedule-{number}"
            (out / f"{name}.json").write_text(dumps(plan))
            drawn = _drawn(difference, cause, number) if not rank and pictures < MOST_PICTURES else None
            if drawn is None:
                samples.append(Sample(cause, number, f"{name}.json"))
                continue
            pictures += 1
            svg, story = drawn
            (out / f"{name}.svg").write_text(svg)
            samples.append(Sample(cause, number, f"{name}.json", svg, story))
    return samples


def _plan(difference: Difference, cause: Cause, number: int) -> Schedule | None:
    """The schedule, with what a replay and whoever finds the file have to know; None if neither corpus has it whole."""
    for corpus in (difference.a, difference.b):
        if number >= corpus.manifest.schedules:
            continue
        try:
            schedule = loads(next(stored(corpus, [number])).side["json"])
        except (DamagedFile, ScheduleFileError):
            continue
        notes = {
            "shows": cause.cause if cause.kind in _VIOLATIONS else "",
            "cast": corpus.manifest.casting,
            "revision": corpus.manifest.revision,
            "class": cause.kind.value,
            "a": difference.a.manifest.name,
            "b": difference.b.manifest.name,
        }
        return replace(schedule, notes=tuple(sorted((key, value) for key, value in notes.items() if value)))
    return None


_VIOLATIONS = (Class.A_VIOLATES, Class.B_VIOLATES)
_JUDGED = (*_VIOLATIONS, Class.BOTH_VIOLATE, Class.LEGAL, Class.UNEXPLAINED)


def _drawn(difference: Difference, cause: Cause, number: int) -> tuple[str, str] | None:
    """The side that is to blame, or else B, with the step marked at which the two part; and that in a sentence."""
    if cause.kind not in _JUDGED:
        return None
    found = [d for d in divergences(difference.a, difference.b, range(number, number + 1)) if d.schedule == number]
    if not found:
        return None
    corpus, name = (difference.a, "A") if cause.kind is Class.A_VIOLATES else (difference.b, "B")
    try:
        rebuilt = next(stored(corpus, [number])).performance(corpus.manifest.revision)
    except DamagedFile:
        return None
    story = sentence(found[0])
    row = found[0].a if corpus is difference.a else found[0].b
    act = act_at(rebuilt, row["step"] if row is not None else found[0].step)
    return spacetime_svg(rebuilt.performance, act, f"{name} ({corpus.manifest.name}), schedule {number}", story), story


def act_at(rebuilt: Rebuilt, step: int) -> Act | None:
    """The act that is a step, by its number among those that are compared; the last if there are fewer."""
    acts = [act for act in rebuilt.performance.acts if act.step.command not in NOT_COMPARED]
    return acts[min(step, len(acts)) - 1] if acts else None


def sentence(divergence: Divergence) -> str:
    """Where a schedule first differs, and how."""
    row = divergence.row
    if not row:
        return f"They part at step {divergence.step}."
    told = [
        f"{name} differs" if name in _DIGESTS else f"{name} is {_short(a)} in A and {_short(b)} in B"
        for name, (a, b) in divergence.values.items()
    ]
    missing = "A" if divergence.a is None else "B"
    what = "; ".join(told[:4]) or f"{missing} has no such step"
    return f"They part at step {divergence.step}, {row['participant']}: {row['command']}: {what}."


_DIGESTS = frozenset({"contents", "wire", "log", "outgoing", "incoming", "repairs"})
"""Columns whose values say nothing to anybody."""


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return str(value) if value not in ("", None) else "nothing"


def of_cause(samples: list[Sample], cause: Cause) -> list[Sample]:
    """The samples of one cause."""
    return [sample for sample in samples if sample.cause is cause]
