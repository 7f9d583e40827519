"""Entries of a baseline as text: new files, and changes of whole entries that leave the rest of a file as it is."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from .baseline import SCHEMA_ID, Baseline, Entry, Failure, Judged, Match, parse, parse_yaml

TO_DO = "not explained yet"
"""The reason of entries that nobody has given one."""
_HEAD = """\
# Known failures: a run with --baseline goes red for others, and where this list is wrong.
# Give each a reason and a link. Without `codes` it may fail in any way, without `scenario` anywhere.
"""


def fresh(several: Sequence[Judged], reason: str, link: str, *, per_scenario: bool) -> str:
    """A file that lists all that failed."""
    head: dict[str, object] = {"schema": SCHEMA_ID, "implementation": several[0].implementation}
    head["revision"] = several[0].revision
    for judged in several:
        if judged.by == "run":
            head["environments"] = sorted(judged.environments)
        elif judged.by == "fuzz":
            head["fuzz"] = {"seed": judged.seed, "examples": judged.examples}
    entries = [
        text
        for judged in several
        for text in _entries(judged.by, judged.failures, reason, link, per_scenario=per_scenario)
    ]
    known = "known:\n" + "".join(entries) if entries else "known: []\n"
    return f"{_HEAD}{_yaml(head)}{known}"


def in_block_style(baseline: Baseline) -> Baseline:
    """The same with an entry on lines of its own and the list at the end, where lines can be changed one by one: YAML
    allows `{...}` and `[...]` over any number of lines, and other keys below the list."""
    data: Any = YAML().load(baseline.text)
    rows = data["known"]
    if not data.fa.flow_style() and not (rows and rows.fa.flow_style()) and list(data)[-1] == "known":
        lines = baseline.text.splitlines()
        if all(lines[rows.lc.item(number)[0]].lstrip().startswith("- ") for number in range(len(rows or ()))):
            return baseline
    data.move_to_end("known")
    _unfold(data)
    return parse(_yaml(data), baseline.path)


def _unfold(data: Any) -> None:
    if hasattr(data, "fa"):
        data.fa.set_block_style()
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        _unfold(inner)


@dataclass(frozen=True)
class Update:
    """A file brought up to date."""

    text: str
    added: int
    """Requirements and vectors that were not listed before."""
    removed: int
    """Those that are listed no more."""


def updated(baseline: Baseline, judged: Judged, found: Match, reason: str, link: str) -> Update:
    """The file with what failed: entries that something is wrong with are written anew, with their reason and link, or
    go; ``reason`` and ``link`` are for what is new."""
    lines = {complaint.line for complaint in found.complaints}
    wrong = [entry for entry in baseline.entries if entry.first in lines]
    whats = {entry.what for entry in wrong} | {failure.what for failure in found.new}
    gone = [entry for entry in baseline.entries if entry in wrong or (entry.what in whats and entry.by == judged.by)]
    known = {entry.what: (entry.reason, entry.link) for entry in reversed(gone)}
    failing = {failure.what: [f for f in judged.failures if f.what == failure.what] for failure in judged.failures}
    add = [
        text
        for what in failing
        if what in whats
        for text in _entries(judged.by, failing[what], *known.get(what, (reason, link)), per_scenario=False)
    ]
    return Update(
        _changed(baseline, gone, add),
        len([what for what in failing if what in whats and what not in known]),
        len([what for what in known if what not in failing]),
    )


def _changed(baseline: Baseline, remove: Sequence[Entry], add: Sequence[str]) -> str:
    """The file without some entries and with others; nothing else of it changes."""
    lines = baseline.text.splitlines()
    gone = {number for entry in remove for number in range(entry.first, entry.last + 1)}
    left = [line for number, line in enumerate(lines, 1) if number not in gone]
    stay = [entry for entry in baseline.entries if entry not in remove]
    if not stay:
        left[baseline.known - 1] = "known:" if add else "known: []"
    # New ones stand after the last that stays, so that what stands below the list stays below it.
    last = max((entry.last for entry in stay), default=baseline.known)
    place = last - sum(number <= last for number in gone)
    indent = " " * _indent(lines, stay)
    left[place:place] = [f"{indent}{line[2:]}".rstrip() for text in add for line in text.splitlines()]
    return "\n".join(left).rstrip("\n") + "\n"


def _indent(lines: Sequence[str], entries: Sequence[Entry]) -> int:
    """How far the list is indented in the file."""
    if not entries:
        return 2
    first = lines[entries[0].first - 1]
    return len(first) - len(first.lstrip())


def _entries(by: str, failures: Sequence[Failure], reason: str, link: str, *, per_scenario: bool) -> list[str]:
    """An entry for each requirement or vector, or for each scenario of it; indented by two."""
    several: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        for scenario in failure.scenarios if per_scenario and failure.scenarios else ("",):
            several.setdefault((failure.what, scenario), []).append(failure)
    out = []
    for (what, scenario), found in several.items():
        entry: dict[str, object] = {"vector" if by == "vectors" else "requirement": what}
        if by == "fuzz":
            entry["by"] = by
        if scenario:
            entry["scenario"] = [scenario]
        if codes := list(dict.fromkeys(failure.code for failure in found if failure.code)):
            entry["codes"] = _inline(codes)
        entry["reason"] = reason or TO_DO
        if link:
            entry["link"] = link
        text = _yaml([entry])
        out.append("".join(f"  {line}\n" for line in text.splitlines()))
    return out


def renewed(text: str, path: Path, several: Sequence[Judged]) -> str:
    """A file of the format of before in today's: in place of sentences it lists the codes by which the requirement or
    vector fails, and nothing where it does not fail. Raises BaselineError."""
    data = parse_yaml(text, path)
    data["schema"] = SCHEMA_ID
    rows = data.get("known")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, CommentedMap) and row.pop("fails", None) is not None:
            what = row.get("vector", row.get("requirement"))
            found = [failure.code for one in several for failure in one.failures if failure.what == what]
            if codes := list(dict.fromkeys(filter(None, found))):
                row.insert(list(row).index("reason") if "reason" in row else len(row), "codes", _inline(codes))
    return _yaml(data)


def _inline(codes: Sequence[str]) -> CommentedSeq:
    """A list on one line."""
    out = CommentedSeq(codes)
    out.fa.set_flow_style()
    return out


def _yaml(data: object) -> str:
    writer = YAML()
    writer.default_flow_style = False
    writer.allow_unicode = True
    writer.width = 4096
    writer.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    writer.dump(data, out)
    text = out.getvalue()
    # A list at the top is indented as well: it stands in a list of its own here.
    return "".join(line[2:] if isinstance(data, list) else line for line in text.splitlines(keepends=True))
