"""Two corpora compared in this process, and small changes to make them differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recorded_corpora import Edit
from sds_conformance.corpus.classes import Classified, classify_by_checks
from sds_conformance.corpus.difference import read_stored, require_comparable
from sds_conformance.corpus.divergences import Divergence, divergences
from sds_conformance.corpus.kinds import kind_of
from sds_conformance.exploration.assessment import Scope
from sds_harness.corpus.manifest import Corpus, read_complete
from sds_harness.corpus.place import Place

SCHEDULES = 24
SCOPE = Scope.select()


def corpus(folder: Path) -> Corpus:
    return read_complete(Place.from_name(str(folder)), kind_of)


def compared(a: Path, b: Path, **options: Any) -> dict[int, Divergence]:
    one, other = corpus(a), corpus(b)
    require_comparable(one, other)
    most = max(one.manifest.schedules, other.manifest.schedules)
    return {found.schedule: found for found in divergences(one, other, range(most), **options)}


def classified(a: Path, b: Path, scope: Scope = SCOPE) -> list[Classified]:
    one, other = corpus(a), corpus(b)
    out = []
    for number, found in sorted(compared(a, b).items()):
        mine, theirs = (next(read_stored(c, [number])) for c in (one, other))
        out.append(classify_by_checks(found, mine, theirs, (scope, scope)))
    return out


def change(step: int, **values: Any) -> Edit:
    """Other values in one step."""

    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["step"] == step:
                row |= {name: value(row[name]) if callable(value) else value for name, value in values.items()}

    return edit


def flip(value: int) -> int:
    """The last of 64 bits: beyond 2^53 a floating-point number does not have it."""
    return value ^ 1


def gone(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    side.clear()
