"""The violations of a requirement, all of them and in little room: of what kind they are, and where they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

MAX_KINDS = 16
"""Kinds that are told apart of one requirement; what comes after them is one kind of its own."""
MAX_STEPS = 64
"""Violated steps that are known of one run."""
LONGEST_KIND = 160

_VARIABLE = re.compile(
    r"'(?:[^'\\]|\\.)*'"  # names and IDs
    r"|\bT[+-]\d[\d,.]*\b"  # times
    r"|(?<![A-Za-z-])[+-]?\b(?=\d)[0-9a-fA-FxX][0-9a-fA-F,._]*\b"  # numbers and bytes
    r"|\b(?=[a-f]*\d)[0-9a-f]{8,}\b"
)
_SEVERAL = re.compile(r"…(?:[\s,;:()\[\]]*(?:and |or )?…)+")


def wording(text: str) -> str:
    """What was expected or seen without its names, IDs, numbers and times: the same for the same fault elsewhere."""
    return _SEVERAL.sub("…", _VARIABLE.sub("…", text))[:LONGEST_KIND]


@dataclass(frozen=True)
class Kind:
    """How a requirement is violated."""

    check: str
    severity: str
    """``fail`` or ``warn``."""
    expected: str
    """By the wording, as ``seen`` is."""
    seen: str


@dataclass
class Tally:
    """All violations of one requirement."""

    kinds: dict[Kind, Counter[str]] = field(default_factory=dict)
    """By kind: in which scenarios, and how often."""
    places: dict[str, set[int]] = field(default_factory=dict)
    """By run: the steps that are violations."""

    def add(self, run: str, scenario: str, step: int, kind: Kind) -> None:
        """One violation more."""
        if kind not in self.kinds and len(self.kinds) >= MAX_KINDS:
            kind = Kind(kind.check, kind.severity, "other", "other")
        self.kinds.setdefault(kind, Counter())[scenario] += 1
        steps = self.places.setdefault(run, set())
        if len(steps) < MAX_STEPS:
            steps.add(step)

    @property
    def total(self) -> int:
        return sum(sum(scenarios.values()) for scenarios in self.kinds.values())

    @property
    def scenarios(self) -> list[str]:
        """The names of the scenarios that show it, those first that show it most."""
        counted: Counter[str] = sum(self.kinds.values(), Counter())
        return [name for name, _ in counted.most_common()]
