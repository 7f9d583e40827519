"""The report of a diff in its own folder: samples, an HTML page, and the same numbers as JSON.

Samples are files that ``replay`` can play on both implementations, with diagrams of the divergence. The page is one
self-contained HTML file without scripts. Texts of implementations are untrusted: they are shortened, made printable and
escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from markupsafe import Markup
from pyarrow import parquet as pq

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import Corpus
from sds_harness.corpus.place import TEMPORARY, Place
from sds_harness.corpus.rows import Rebuilt
from sds_harness.corpus.shards import DamagedFileError, shard_of
from sds_harness.declaration import printable
from sds_harness.json_text import dumps, escape_json
from sds_harness.schedules import Schedule, ScheduleFileError
from sds_harness.schedules import dumps as dump_schedule

from ..drawing.spacetime import spacetime_svg
from ..exploration.assessment import Scope, assess, make_time_key
from ..exploration.counterexample import Counterexample
from ..exploration.text import describe_finding, proof_of, rule_of
from ..judging.verdict import Verdict
from ..presentation.markup import template
from .classes import AND, VIOLATIONS, Class, rebuild_without_dialect
from .difference import DIVERGENCES, CorpusDifference, DivergenceCause, most_common, read_stored
from .divergences import Divergence, divergences

SUMMARY, PAGE, CAUSES = "summary.json", "index.html", "causes.parquet"
FORMAT = "sds-corpus-diff-1"
"""The value of ``format`` in the summary, by which a later diff recognises a folder that it may replace."""
_CAUSES: dict[str, pa.DataType] = {
    "class": pa.string(),
    "cause": pa.string(),
    "reason": pa.string(),
    "schedules": pa.int64(),
    "least_step": pa.int32(),
    "examples": pa.list_(pa.int64()),
}
SAMPLES = "samples"
MOST = 40
"""Maximum number of causes with samples."""
MOST_PICTURES = 12
"""Maximum number of pictures on the page."""
SAME_COLOUR = "#9aa2ad"


def prepare_folder(place: Place, *, overwrite: bool) -> None:
    """Create or empty the folder. Raises CorpusError if it has other content."""
    found = place.names()
    if found:
        if not overwrite:
            raise CorpusError(f"{place.label} is not empty: name another folder, or replace it with --overwrite.")
        known = {SUMMARY, PAGE, CAUSES, DIVERGENCES, SAMPLES}
        if strange := set(found) - known:
            raise CorpusError(f"{place.label} has other files in it ({min(strange)}): name another folder.")
        if not _is_diff_folder(place, found):
            raise CorpusError(f"{place.label} has files that no diff wrote: name another folder.")
        for name in found:
            (place / name).remove()
    place.make()


def _is_diff_folder(place: Place, found: list[str]) -> bool:
    """Was the folder written by a diff? A complete diff leaves a summary; an interrupted diff leaves divergences
    without one.
    """
    if SUMMARY in found:
        try:
            data = json.loads((place / SUMMARY).read_text())
        except (CorpusError, ValueError, RecursionError):
            return False
        return isinstance(data, dict) and data.get("format") == FORMAT
    return DIVERGENCES in found and all(
        name.startswith(TEMPORARY) or shard_of(name) is not None for name in (place / DIVERGENCES).names()
    )


@dataclass(frozen=True)
class DivergenceSample:
    """A divergent schedule that was written to a file."""

    cause: DivergenceCause
    schedule: int
    file: str
    """Path of the file, relative to the folder of the diff."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Space-time diagrams as SVG, by side, A before B; empty if there are none."""
    story: str = ""
    """Where and how the two sides differ first, in one sentence."""
    proof: tuple[str, ...] = ()
    """Why the step that causes the divergence is a violation, as lines of text; empty if there is no violation."""


def write_samples(difference: CorpusDifference, scopes: tuple[Scope, Scope], out: Place) -> list[DivergenceSample]:
    """Write samples of the reported causes. Raises CorpusError."""
    (out / SAMPLES).make()
    samples, pictures = [], 0
    causes = [cause for cause in difference.causes if cause.samples][:MOST]
    for place, cause in enumerate(causes):
        for rank, number in enumerate(cause.samples):
            plan = _plan(difference, cause, number)
            if plan is None:
                continue
            name = f"{SAMPLES}/{cause.kind.value.replace(' ', '-')}-{place + 1}-schedule-{number}"
            (out / f"{name}.json").write_text(escape_json(dump_schedule(plan)))
            sample = DivergenceSample(cause, number, f"{name}.json")
            if not rank and pictures < MOST_PICTURES and cause.kind in _JUDGED:
                sample = _draw_sample(difference, scopes, sample)
                pictures += bool(sample.pictures)
                for side, picture in sample.pictures.items():
                    (out / f"{name}-{side}.svg").write_text(picture)
            samples.append(sample)
    return samples


def _plan(difference: CorpusDifference, cause: DivergenceCause, number: int) -> Schedule | None:
    """Return the schedule, with notes for a replay and for readers; None if neither corpus has the complete
    schedule.
    """
    for corpus in (difference.a, difference.b):
        if number >= corpus.manifest.schedules:
            continue
        try:
            schedule = corpus.kind.loads(next(read_stored(corpus, [number])).side["json"])
        except (DamagedFileError, ScheduleFileError):
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


def _draw_sample(
    difference: CorpusDifference, scopes: tuple[Scope, Scope], sample: DivergenceSample
) -> DivergenceSample:
    """Add a picture of each side that has the complete schedule, with the violation or the first divergence marked."""
    number, kind = sample.schedule, sample.cause.kind
    found = [d for d in divergences(difference.a, difference.b, range(number, number + 1)) if d.schedule == number]
    blamed = "A" if kind is Class.A_VIOLATES else "B"
    pictures: dict[str, str] = {}
    for side, corpus, scope in (("A", difference.a, scopes[0]), ("B", difference.b, scopes[1])):
        try:
            rebuilt = rebuild_without_dialect(next(read_stored(corpus, [number])))
        except DamagedFileError:
            continue
        story = sentence(found[0], corpus.kind.columns.opaque) if found else ""
        title = f"{side} ({corpus.manifest.name}), schedule {number}"
        violated = sample.cause.cause.split(AND)[-1]
        example = _example(rebuilt, scope, violated) if side == blamed and kind in VIOLATIONS else None
        if example is not None:
            pictures[side] = spacetime_svg(rebuilt.group_trace, example.act, title, describe_finding(example))
            sample = replace(sample, proof=tuple(proof_of(example)))
        else:
            row = (found[0].a if side == "A" else found[0].b) if found else None
            step = row["step"] if row is not None else sample.cause.least_step
            act = next(iter(rebuilt.compared[:step][-1:]), None)  # the last step, if this side has fewer steps
            pictures[side] = spacetime_svg(rebuilt.group_trace, act, title, story)
        if side == blamed:
            sample = replace(sample, story=story)
    return replace(sample, pictures=pictures)


def _example(rebuilt: Rebuilt, scope: Scope, what: str) -> Counterexample | None:
    """The first violation of the requirement or property ``what``; None if there is no finding with verdict fail."""
    group_trace = rebuilt.group_trace
    findings = assess(group_trace, scope, rebuilt.judged).findings
    fails = [f for f in findings if f.requirement == what and f.severity is Verdict.FAIL]
    if not fails:
        return None
    first = min(fails, key=make_time_key(group_trace))
    return Counterexample(what, first, group_trace.schedule, group_trace, group_trace.schedule, 0)


def sentence(divergence: Divergence, opaque: frozenset[str]) -> str:
    """Where and how a schedule first differs; values of ``opaque`` columns are not shown."""
    row = divergence.row
    if not row:
        return f"A and B differ first at step {divergence.step}."
    parts = [
        f"{name} differs" if name in opaque else f"{name} is {_short(a)} in A and {_short(b)} in B"
        for name, (a, b) in divergence.values.items()
    ]
    missing = "A" if divergence.a is None else "B"
    what = "; ".join(parts[:4]) or f"{missing} has no such step"
    who, does = (printable(str(row[name]), 40) for name in ("participant", "command"))
    return f"A and B differ first at step {divergence.step}, {who}: {does}: {what}."


def _short(value: object) -> str:
    if isinstance(value, list):
        return printable(", ".join(map(str, value))) or "nothing"
    return printable(str(value)) if value not in ("", None) else "nothing"


def samples_of_cause(samples: list[DivergenceSample], cause: DivergenceCause) -> list[DivergenceSample]:
    return [sample for sample in samples if sample.cause is cause]


@dataclass(frozen=True)
class Bar:
    label: str
    count: int
    colour: str
    share: float
    """Length, as a share of the longest bar, from 0 to 1."""
    start: float = 0.0
    """Start of the bar in a stack of bars, as a share of the longest bar."""


def page(difference: CorpusDifference, samples: list[DivergenceSample]) -> str:
    return template(__package__ or "", "diff.html.j2").render(
        difference=difference,
        corpora={"A": difference.a, "B": difference.b},
        total=difference.identical + difference.divergent,
        bars=_bars(difference),
        histogram=_histogram(difference),
        causes=[(cause, rules_of(cause), samples_of_cause(samples, cause)) for cause in difference.causes],
        requirements=_requirements(difference),
        fields=list(most_common(difference.found.fields).items()),
        svg=Markup,
    )


def _bars(difference: CorpusDifference) -> list[Bar]:
    counts = [("identical", difference.identical, SAME_COLOUR)]
    counts += [(kind.value, count, kind.colour) for kind, count in difference.classes.items()]
    most = max(1, *(count for _, count, _ in counts))
    return [Bar(label, count, colour, count / most) for label, count, colour in counts]


def _histogram(difference: CorpusDifference) -> list[tuple[str, int, list[Bar]]]:
    """Return the columns of the histogram of first differing steps: label, number of schedules, and stacked bars."""
    counted = difference.found.depths
    depths = sorted({depth for _, depth in counted})
    if not depths:
        return []
    every = range(depths[0], depths[-1] + 1)
    totals = {depth: sum(counted[kind, depth] for kind in Class) for depth in every}
    most = max(1, *totals.values())
    out = []
    for depth in every:
        label = "1" if depth == 0 else f"{1 << depth} to {(2 << depth) - 1}"
        bars, start = [], 0.0
        for kind in Class:
            count = counted[kind, depth]
            if count:
                bars.append(Bar(kind.value, count, kind.colour, count / most, start))
                start += count / most
        out.append((label, totals[depth], bars))
    return out


def rules_of(cause: DivergenceCause) -> list[str]:
    """Return the statements of the requirements that a cause violates; empty if it is no violation."""
    if cause.kind not in VIOLATIONS:
        return []
    return [f"{where}: {rule}" for where, rule in map(rule_of, cause.cause.split(AND))]


def _requirements(difference: CorpusDifference) -> list[tuple[str, str, int, int]]:
    """Return the requirements that are violated in divergent schedules: ID, statement, and the numbers of schedules in
    which A and B violate it.
    """
    by_a, by_b = difference.found.violated_a, difference.found.violated_b
    out = [(what, rule_of(what)[1], by_a[what], by_b[what]) for what in {*most_common(by_a), *most_common(by_b)}]
    return sorted(out, key=lambda row: (-max(row[2], row[3]), row[0]))


def as_json(difference: CorpusDifference, samples: list[DivergenceSample]) -> dict[str, Any]:
    """The result of a diff as JSON values."""
    return {
        "format": FORMAT,
        "a": _side(difference.a),
        "b": _side(difference.b),
        "same": difference.is_legal,
        "schedules": difference.identical + difference.divergent,
        "identical": difference.identical,
        "divergent": difference.divergent,
        "classes": {kind.value: count for kind, count in difference.classes.items()},
        "causes": [
            {
                "class": cause.kind.value,
                "cause": cause.cause,
                "reason": cause.reason,
                "schedules": cause.schedules,
                "least_step": cause.least_step,
                "examples": list(cause.samples),
                "samples": [sample.file for sample in samples_of_cause(samples, cause)],
            }
            for cause in difference.causes
        ],
        "other_causes": difference.other_causes,
        "violated_a": most_common(difference.found.violated_a),
        "violated_b": most_common(difference.found.violated_b),
        "fields": most_common(difference.found.fields),
        "depths": {
            kind.value: {str(1 << depth): count for depth, count in sorted(known.items())}
            for kind, known in difference.depths.items()
        },
        "seconds": round(difference.seconds, 3),
    }


def finish(difference: CorpusDifference, samples: list[DivergenceSample], data: dict[str, Any], place: Place) -> None:
    """Write all files except the divergences and the samples, which have been written earlier. Raises CorpusError."""
    causes = [{key: value for key, value in cause.items() if key != "samples"} for cause in data["causes"]]
    with (place / CAUSES).write_atomically() as half:
        pq.write_table(
            pa.Table.from_pylist(causes, pa.schema(_CAUSES)), half.root, filesystem=half.system, compression="zstd"
        )
    (place / PAGE).write_text(page(difference, samples))
    (place / SUMMARY).write_text(dumps(data, indent=2) + "\n")


def _side(corpus: Corpus) -> dict[str, Any]:
    manifest = corpus.manifest
    return {
        "corpus": corpus.place.label,
        "name": printable(str(manifest.implementation.get("name", ""))),
        "version": printable(str(manifest.implementation.get("version", ""))),
        "schedules": manifest.schedules,
        "steps": manifest.steps,
        "revision": printable(manifest.revision),
        "cast": printable(manifest.casting),
        "dialect": printable(manifest.dialect),
        "suite": printable(manifest.suite_version),
    }
