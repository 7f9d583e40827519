"""Valid corpora, and mutations of their rows."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing import Attempt, Files, Input, damaged, laid_out
from mutations import BYTES, Mutation, Tree, mutated_bytes, mutated_json


@cache
def corpora() -> Sequence[Input]:
    from clearskies_corpora import order_of as order_of_clearskies
    from recorded_corpora import order_of, record_here

    out = []
    for name, order in (("sds", order_of(schedules=3)), ("clearskies", order_of_clearskies(schedules=3))):
        with tempfile.TemporaryDirectory() as folder:
            root = record_here(Path(folder), order, twins=True, per_shard=2)
            files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        commands = [
            ("corpus", "show", "{folder}", "0", "--out", "{out}"),
            ("corpus", "show", "{folder}", "1", "--json"),
            ("corpus", "check", "{folder}"),
            ("corpus", "check", "{folder}", "--everything", "--json"),
            ("corpus", "diff", "{folder}", "{valid}", "--out", "{out}/d"),
            ("corpus", "diff", "{valid}", "{folder}", "--out", "{out}/d", "--json"),
        ]
        out.append(Input(name, files, commands))
    return out


def edited_corpus(files: Files, name: str, attempt: Attempt) -> Files:
    """Mutate the rows of one schedule of a corpus."""
    import pyarrow as pa

    from recorded_corpora import edited

    if not name.endswith(".parquet"):
        return {**files, name: damaged(name, files[name], attempt)}

    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        for change in attempt.structure:
            row = side if not rows or change.place % 3 == 0 else rows[change.place // 3 % len(rows)]
            column = [*row][change.place // 97 % len(row)]
            if change.kind == "delete" and rows:
                del rows[change.place % len(rows)]
            elif change.kind == "twice":
                rows.append(dict(row) if row is not side else dict(rows[0]))
            else:
                row[column] = _typed(column, row[column], change)
        if attempt.honest:
            _digest_schedule(side, rows)

    with laid_out(files) as folder, tempfile.TemporaryDirectory() as out:
        root = Path(out) / "corpus"
        try:
            edited(folder, root, {attempt.file % 3: edit}, honest=False)
        except (pa.ArrowException, ValueError, TypeError, KeyError, OverflowError, AttributeError):
            return {**files, name: damaged(name, files[name], attempt)}  # a column has its type
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _typed(column: str, value: Any, change: Mutation) -> Any:
    """Another value of the type of a column."""
    match value:
        case bytes():
            kind = BYTES[change.other % len(BYTES)]
            return mutated_bytes(value, [Mutation(kind, change.place, change.other)])
        case str() if column == "json":
            return mutated_json(value.encode(), [change]).decode()
        case bool():
            return not value
        case int():
            return (0, -1, 1, value + 1, value - 1, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, -(1 << 63))[change.other % 9]
        case list() if value and change.other % 2:
            number = change.place % len(value)
            return [*value[:number], _typed(column, value[number], change), *value[number + 1 :]]
        case dict() if value:
            name = [*value][change.place % len(value)]
            return {**value, name: _typed(name, value[name], change)}
    tree = Tree(value)
    tree.tweak((), change.other)
    return tree.value


def _digest_schedule(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    from sds_harness.corpus.digests import exact_digest, plan_digest

    side["rows"] = len(rows)
    for number, row in enumerate(rows, 1):
        row["position"] = number
    side["exact"] = exact_digest(message for row in rows for message in (row["request"], row["reply"]))
    side["plan"] = plan_digest(side["json"])
