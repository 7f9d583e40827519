"""The page under docs/ is about known implementations, requirements and positions. The catalogue may be newer."""

from __future__ import annotations

import re
import runpy

from run_helpers import REPOSITORY, plan
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.register import REGISTER

SCRIPT = runpy.run_path(str(REPOSITORY / "docs" / "make_implementations.py"))
PAGE: str = SCRIPT["PAGE"].read_text("utf-8")
NAMES = ["sds\\_reference", *(f"@waku/sds {release}" for release in SCRIPT["releases"]())]
VERDICTS = {"✅ pass", "❌ **fail**", "⚠️ warn", "inconclusive", "skipped", "·"}


def tables(text: str) -> dict[str, list[list[str]]]:
    """The tables by what their first column is called: their rows, those of tables of the same name one after the
    other, and before them the head."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] | None = None
    for line in text.splitlines():
        cells = line[2:-2].split(" | ") if line.startswith("| ") else None
        if cells is None:
            rows = None
        elif rows is None:
            rows = found.setdefault(cells[0], [cells])
        elif set(cells) != {"---"}:
            rows.append(cells)
    return found


def test_it_has_a_column_for_everyone_and_a_row_for_each_requirement_of_its_time() -> None:
    head, *rows = tables(PAGE)["Requirement"]
    first, *names, last = head
    assert (first, last) == ("Requirement", "Statement")
    assert len(names) == len(NAMES) + 1
    assert all(name.startswith(known) for name, known in zip(names, [*NAMES, "toy-sds"], strict=True))
    output = [row for row in rows if row != head]
    known = list(plan(revision=CURRENT).requirements)
    assert len({row[0] for row in output}) == len(output) > len(known) / 2
    assert {row[0] for row in output} <= set(known)
    assert {cell.removesuffix(r" \*") for row in output for cell in row[1:-1]} <= VERDICTS


def test_it_has_a_row_for_every_position_that_a_run_can_tell() -> None:
    head, *rows = tables(PAGE)["Position"]
    assert head[2:] == tables(PAGE)["Requirement"][0][1:-1]
    unseen = re.search(r"^No run showed the way of any implementation at: (.*)\.$", PAGE, re.MULTILINE)
    known = [row[0] for row in rows] + (unseen[1].split(", ") if unseen else [])
    assert sorted(known) == sorted(REGISTER.shown)
    assert set(re.findall(r"^### (.*)$", PAGE, re.MULTILINE)) == {row[0] for row in rows}
