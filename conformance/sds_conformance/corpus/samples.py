"""Samples of a diff: schedules that ``replay`` plays on both implementations, and pictures of where they part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sds_harness.corpus.place import Place
from sds_harness.corpus.rows import Rebuilt
from sds_harness.corpus.shards import DamagedFile
from sds_harness.declaration import printable
from sds_harness.json_text import escaped
from sds_harness.schedules import Schedule, ScheduleFileError

from ..drawing.spacetime import spacetime_svg
from ..exploration.counterexample import Counterexample
from ..exploration.judging import Scope, assess, in_time
from ..exploration.telling import in_words, proof_of
from ..judging.verdict import Verdict
from .classifying import AND, VIOLATIONS, Class, without_dialect
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
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Space-time diagrams, if it is drawn: SVG, by side, A before B."""
    story: str = ""
    """Where the two part, in a sentence."""
    proof: tuple[str, ...] = ()
    """What the violation that is the cause rests on, a line each."""


def write_samples(difference: Difference, scopes: tuple[Scope, Scope], out: Place) -> list[Sample]:
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
            (out / f"{name}.json").write_text(escaped(difference.a.kind.dumps(plan)))
            sample = Sample(cause, number, f"{name}.json")
            if not rank and pictures < MOST_PICTURES and cause.kind in _JUDGED:
                sample = _drawn(difference, scopes, sample)
                pictures += bool(sample.pictures)
                for side, picture in sample.pictures.items():
                    (out / f"{name}-{side}.svg").write_text(picture)
            samples.append(sample)
    return samples


def _plan(difference: Difference, cause: Cause, number: int) -> Schedule | None:
    """The schedule, with what a replay and whoever finds the file have to know; None if neither corpus has it whole."""
    for corpus in (difference.a, difference.b):
        if number >= corpus.manifest.schedules:
            continue
        try:
            schedule = corpus.kind.loads(next(stored(corpus, [number])).side["json"])
        except (DamagedFile, ScheduleFileError):
            continue
        notes = {
            "shows": cause.cause if cause.kind in VIOLATIONS and AND not in cause.cause else "",
            "cast": corpus.manifest.casting,
            "revision": corpus.manifest.revision,
            "class": cause.kind.value,
            "a": difference.a.manifest.name,
            "b": difference.b.manifest.name,
        }
        return replace(schedule, notes=tuple(sorted((key, value) for key, value in notes.items() if value)))
    return None


_JUDGED = (*VIOLATIONS, Class.LEGAL, Class.UNEXPLAINED, Class.ERROR)


def _drawn(difference: Difference, scopes: tuple[Scope, Scope], sample: Sample) -> Sample:
    """With a picture of either side, as far as it has the schedule whole. Marked is the step that violates something,
    and on a side that does not, the one at which the two part."""
    number, kind = sample.schedule, sample.cause.kind
    found = [d for d in divergences(difference.a, difference.b, range(number, number + 1)) if d.schedule == number]
    blamed = "A" if kind is Class.A_VIOLATES else "B"
    pictures: dict[str, str] = {}
    for side, corpus, scope in (("A", difference.a, scopes[0]), ("B", difference.b, scopes[1])):
        try:
            rebuilt = without_dialect(next(stored(corpus, [number])))
        except DamagedFile:
            continue
        story = sentence(found[0], corpus.kind.columns.opaque) if found else ""
        title = f"{side} ({corpus.manifest.name}), schedule {number}"
        violated = sample.cause.cause.split(AND)[-1]
        example = _example(rebuilt, scope, violated) if side == blamed and kind in VIOLATIONS else None
        if example is not None:
            pictures[side] = spacetime_svg(rebuilt.performance, example.act, title, in_words(example))
            sample = replace(sample, proof=tuple(proof_of(example)))
        else:
            row = (found[0].a if side == "A" else found[0].b) if found else None
            step = row["step"] if row is not None else sample.cause.least_step
            act = next(iter(rebuilt.compared[:step][-1:]), None)  # or its last, where it has no such step
            pictures[side] = spacetime_svg(rebuilt.performance, act, title, story)
        if side == blamed:
            sample = replace(sample, story=story)
    return replace(sample, pictures=pictures)


def _example(rebuilt: Rebuilt, scope: Scope, what: str) -> Counterexample | None:
    """The first violation of a requirement, or of a property."""
    performance = rebuilt.performance
    findings = assess(performance, scope, rebuilt.judged).findings
    fails = [f for f in findings if f.requirement == what and f.severity is Verdict.FAIL]
    if not fails:
        return None
    first = min(fails, key=in_time(performance))
    return Counterexample(what, first, performance.schedule, performance, performance.schedule, 0)


def sentence(divergence: Divergence, opaque: frozenset[str]) -> str:
    """Where a schedule first differs, and how; values of columns that are ``opaque`` say nothing to anybody."""
    row = divergence.row
    if not row:
        return f"They part at step {divergence.step}."
    told = [
        f"{name} differs" if name in opaque else f"{name} is {_short(a)} in A and {_short(b)} in B"
        for name, (a, b) in divergence.values.items()
    ]
    missing = "A" if divergence.a is None else "B"
    what = "; ".join(told[:4]) or f"{missing} has no such step"
    who, does = (printable(str(row[name]), 40) for name in ("participant", "command"))
    return f"They part at step {divergence.step}, {who}: {does}: {what}."


def _short(value: object) -> str:
    if isinstance(value, list):
        return printable(", ".join(map(str, value))) or "nothing"
    return printable(str(value)) if value not in ("", None) else "nothing"


def of_cause(samples: list[Sample], cause: Cause) -> list[Sample]:
    """The samples of one cause."""
    return [sample for sample in samples if sample.cause is cause]
