"""Writes baselines: new files, and changes to single entries that leave the rest of the file unchanged."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from .baseline import (
    SCHEMA_ID,
    Baseline,
    BaselineEntry,
    FailureKey,
    JudgedResult,
    Match,
    covers,
    flaky_cause_reason,
    parse,
    parse_yaml,
)

TO_DO = "not explained yet"
"""Placeholder for the reason of an entry."""
_HEAD = """\
# Known failures. With --baseline, a command fails only for other failures and for errors in this list.
# Give each entry a reason and a link. Without `codes`, every code may fail; without `scenario`, every scenario.
# Add `flaky: true` to an entry whose failure does not occur in every run.
"""


def fresh(several: Sequence[JudgedResult], reason: str, link: str, *, per_scenario: bool) -> str:
    """Return a new file that lists all failures."""
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
        for text in _entries(judged.by, judged.failures, reason, link, judged.flaky, per_scenario=per_scenario)
    ]
    known_section = "known:\n" + "".join(entries) if entries else "known: []\n"
    return f"{_HEAD}{_yaml(head)}{known_section}"


def to_block_style(baseline: Baseline) -> Baseline:
    """Convert a baseline so that each entry has its own lines and the list comes last. Then the file can be edited by
    lines.

    In other files, `{...}` and `[...]` may extend over any number of lines, and other keys may follow the list.
    """
    data: Any = YAML().load(baseline.text)
    rows = data["known"]
    if not data.fa.flow_style() and not (rows and rows.fa.flow_style()) and list(data)[-1] == "known":
        lines = baseline.text.splitlines()
        if all(lines[rows.lc.item(number)[0]].lstrip().startswith("- ") for number in range(len(rows or ()))):
            return baseline
    data.move_to_end("known")
    _set_block_style(data)
    return parse(_yaml(data), baseline.path)


def _set_block_style(data: Any) -> None:
    if hasattr(data, "fa"):
        data.fa.set_block_style()
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        _set_block_style(inner)


@dataclass(frozen=True)
class BaselineUpdate:
    """The new text of a baseline, and the numbers of its changes."""

    text: str
    added: int
    """Number of requirements and vectors that were added."""
    removed: int
    """Number of requirements and vectors that were removed."""


def update_baseline(baseline: Baseline, judged: JudgedResult, found: Match, reason: str, link: str) -> BaselineUpdate:
    """Update a file: entries with errors are rewritten with their reason and link, or removed.

    ``reason`` and ``link`` are used for new entries. An entry that is marked flaky is not changed, unless its ID does
    not exist: the user must correct a wrong code or scenario in it. New failures under a flaky entry are marked flaky
    as well.
    """
    lines = {complaint.line for complaint in found.complaints}
    unknown = {complaint.line for complaint in found.complaints if complaint.unknown}
    flaky = [entry for entry in baseline.entries if entry.flaky and entry.first not in unknown]
    rest = [entry for entry in baseline.entries if entry not in flaky]
    wrong = [entry for entry in rest if entry.first in lines]
    whats = {entry.what for entry in wrong} | {failure.what for failure in found.new}
    gone = [entry for entry in rest if entry in wrong or (entry.what in whats and entry.by == judged.by)]
    known = {entry.what: (entry.reason, entry.link) for entry in reversed(gone)}
    uncovered = [failure for failure in judged.failures if not covers(flaky, failure, judged)]
    failing = {failure.what: [f for f in uncovered if f.what == failure.what] for failure in uncovered}
    marks = {
        what: flaky_cause_reason(cause) for what, cause in judged.under.items() if cause in {e.what for e in flaky}
    }
    marks |= judged.flaky
    add = {
        what: _entries(judged.by, failing[what], *known.get(what, (reason, link)), marks, per_scenario=False)
        for what in failing
        if what in whats
    }
    return BaselineUpdate(
        _change_entries(baseline, gone, add),
        len([what for what in failing if what in whats and what not in known]),
        len([what for what in known if what not in failing]),
    )


def _change_entries(baseline: Baseline, remove: Sequence[BaselineEntry], add: Mapping[str, Sequence[str]]) -> str:
    """Remove some entries and add others. ``add`` maps a requirement or vector to the lines of the new entry.

    A new entry takes the place of a removed entry with the same requirement or vector, and keeps the comment above it.
    All other new entries follow the last entry of the file. Nothing else changes.
    """
    lines = baseline.text.splitlines()
    gone = {number for entry in remove for number in range(entry.first, entry.last + 1)}
    starts = {entry.first: entry.what for entry in reversed(remove)}
    stay = [entry for entry in baseline.entries if entry not in remove]
    if not stay:
        lines[baseline.known - 1] = "known:" if add else "known: []"
    indent = " " * _indent(lines, stay)
    left, texts = list[str](), {what: [*several] for what, several in add.items()}
    # Text below the list stays below it.
    last = max((e.last for e in baseline.entries if e in stay or e.what in add), default=baseline.known)
    place = 0
    for number, line in enumerate(lines, 1):
        left += [text for several in texts.pop(starts.get(number, ""), ()) for text in _indented(several, indent)]
        left += [] if number in gone else [line]
        place = len(left) if number == last else place
    left[place:place] = [text for rest in texts.values() for several in rest for text in _indented(several, indent)]
    return "\n".join(left).rstrip("\n") + "\n"


def _indented(text: str, indent: str) -> list[str]:
    return [f"{indent}{line[2:]}".rstrip() for line in text.splitlines()]


def _indent(lines: Sequence[str], entries: Sequence[BaselineEntry]) -> int:
    """Return the indentation of the list in the file."""
    if not entries:
        return 2
    first = lines[entries[0].first - 1]
    return len(first) - len(first.lstrip())


def _entries(
    by: str, failures: Sequence[FailureKey], reason: str, link: str, flaky: Mapping[str, str], *, per_scenario: bool
) -> list[str]:
    """Return the lines of an entry for each requirement or vector (with ``per_scenario``, for each of its scenarios),
    indented by two spaces.

    ``flaky`` maps flaky requirements to the evidence. Their entries are marked flaky, with the evidence as a comment.
    """
    several: dict[tuple[str, str], list[FailureKey]] = {}
    for failure in failures:
        for scenario in failure.scenarios if per_scenario and failure.scenarios else ("",):
            several.setdefault((failure.what, scenario), []).append(failure)
    out = []
    for (what, scenario), found in several.items():
        entry = CommentedMap({"vector" if by == "vectors" else "requirement": what})
        if by == "fuzz":
            entry["by"] = by
        if scenario:
            entry["scenario"] = [scenario]
        if codes := list(dict.fromkeys(failure.code for failure in found if failure.code)):
            entry["codes"] = _inline(codes)
        if what in flaky:
            entry["flaky"] = True
            entry.yaml_add_eol_comment(flaky[what], "flaky", column=0)
        entry["reason"] = reason or TO_DO
        if link:
            entry["link"] = link
        text = _yaml([entry])
        out.append("".join(f"  {line}\n" for line in text.splitlines()))
    return out


def convert_old_baseline(text: str, path: Path, several: Sequence[JudgedResult]) -> str:
    """Convert a file of the old format. Codes replace the sentences. Entries that no longer fail get no codes. Raises
    BaselineError.
    """
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
    """Return a YAML list that is written on one line."""
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
    # ruamel indents a top-level list as well: remove that indentation.
    return "".join(line[2:] if isinstance(data, list) else line for line in text.splitlines(keepends=True))
