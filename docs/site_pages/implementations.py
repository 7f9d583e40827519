"""Known results of implementations, from the tables of ``docs/implementations.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_ESCAPE = re.compile(r"\\(.)")
_MARKS = re.compile(r"[*✅❌⚠️]")


@dataclass
class Known:
    """Verdicts and choices of implementations."""

    names: list[str] = field(default_factory=list)
    verdicts: dict[str, dict[str, str]] = field(default_factory=dict)
    """Maps each requirement to the verdicts, by implementation."""
    choices: dict[str, dict[str, str]] = field(default_factory=dict)
    """Maps each position to the options that implementations take, by implementation."""


def known_implementations(file: Path) -> Known:
    """Read the tables in ``docs/implementations.md``. Raises ValueError if verdicts or choices are missing."""
    known, heads = Known(), [""]
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("| "):
            continue
        cells = [_ESCAPE.sub(r"\1", one.strip()) for one in re.split(r"(?<!\\)\|", line.strip("|"))]
        if cells[0] in ("Requirement", "Position"):
            heads = cells
        elif heads[0] == "Requirement" and len(cells) == len(heads):
            row = {name: _MARKS.sub("", one).strip() for name, one in zip(heads[1:-1], cells[1:-1], strict=True)}
            known.verdicts[cells[0]] = row
            known.names = known.names or list(row)
        elif heads[0] == "Position" and len(cells) == len(heads):
            known.choices[cells[0]] = dict(zip(heads[2:], cells[2:], strict=True))
    if not known.verdicts or not known.choices:
        raise ValueError(f"{file} has no tables of verdicts and choices")
    return known
