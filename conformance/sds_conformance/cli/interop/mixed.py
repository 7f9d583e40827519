"""The part of ``sds-conformance interop`` that plays generated schedules in mixed groups."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from sds_harness.faults import Breakdown

from ...exploration.assessment import Scope
from ...exploration.casts import Cast, NotPlayedError
from ...exploration.text import (
    details_of,
    failure_of,
    proof_of,
    rule_of,
    severity_number,
    show_dropped_expectations,
    show_replay_command,
    show_unstable,
    story_of,
)
from ...interop.mixed import (
    ATTEMPTS,
    FEW_ATTEMPTS,
    GROUP,
    Discovery,
    Mixed,
    MixedCast,
    MixedExample,
    explore_mixed,
    keep,
    shrunk,
)
from ...judging.causes import roots
from ...judging.formats import format_count
from ...judging.runner import BrokenRun
from ...judging.verdict import Finding
from ...presentation.last_screen import STYLES, CauseLine, sort_causes
from ...presentation.story import headline, lines_labelled, print_labelled, show_breakdown, show_errors, show_under
from ...reports.report import Row, unmet
from ...reports.scenario_files import cause_lines as expectation_lines
from ...reports.scenario_files import show_scenario_files
from ...scenario_files.reader import LoadedScenario
from ..files import print_unwritable_folder
from ..options import CURRENT, program
from ..progress import Plays, progress_bar

BAR_WIDTH = 20
IN_FULL = 3
"""Number of counterexamples that are printed in full. For further counterexamples, only the file is printed."""
STORY_LINES = 16
Group = tuple[Discovery, list[tuple[Discovery, str]]]
"""A root cause, and the failures that it explains, each with the reason."""


class MixedGroups:
    """Plays mixed groups and prints the results."""

    def __init__(
        self,
        out: Console,
        err: Console,
        cast: Cast,
        commands: Mapping[str, tuple[str, ...]],
        options: list[str],
        stories: int = IN_FULL,
    ) -> None:
        """``options`` are the options that printed commands need in addition to the implementations."""
        self._stories = stories
        self._out, self._err, self._cast = out, err, cast
        self._commands, self._options = commands, options
        self._scope = Scope.select(revision=cast.revision)
        self.mixed: Mixed | None = None
        self._groups: list[Group] = []
        self.found: list[Discovery] = []
        """The discoveries that were shrunk, or could not be reproduced."""
        self.unwritable = False
        """True if a counterexample could not be saved."""
        self._files: Sequence[LoadedScenario] = ()

    def play(
        self, seed: int, examples: int, folder: Path, *, quiet: bool, files: Sequence[LoadedScenario] = ()
    ) -> None:
        """Play the scenario files of users (``files``), then ``examples`` generated schedules. Print the results, also
        after an interrupt.
        """
        if len(self._cast.driven) < 2:
            return
        self._files = files
        total = examples + len(files) * len(self._cast.driven)
        self._err.print(f"Seed {seed}: {format_count(total, 'schedule')} in mixed groups", soft_wrap=True)
        plays = Plays(self._out)
        if not quiet:
            own = f"{format_count(len(files), 'scenario file')} in every cast, " if files else ""
            plays.begin(f"{own}{format_count(examples, 'schedule')} of seed {seed} in mixed groups")
        with MixedCast(self._cast) as mixed_cast:
            with progress_bar(self._err, "mixed groups", total, width=BAR_WIDTH, plays=plays) as bar:

                def progress(mixed: Mixed) -> None:
                    found = f", {len(mixed.discoveries)} found" if mixed.discoveries else ""
                    bar(f"mixed groups{found}", mixed.schedules, total)

                schedules = [loaded.schedule for loaded in files]
                self.mixed = explore_mixed(mixed_cast, seed, examples, self._scope, progress, schedules)
            plays.end()
            self._groups = self._group_by_root_cause(self.mixed)
            if not quiet:
                self._show_counts(self.mixed)
                show_scenario_files(self._out, self._rows())
            try:
                self._shrink(mixed_cast, self.mixed, folder, quiet=quiet)
            except KeyboardInterrupt:
                self.mixed.interrupted = True
        if self.mixed.interrupted and not quiet:
            self._out.print("Interrupted: these are the results so far.", style="yellow")

    def to_json(self) -> dict[str, Any] | None:
        """Return the results as JSON; None if nothing was played."""
        mixed = self.mixed
        if mixed is None:
            return None
        under = {id(one): (root.what, why) for root, members in self._groups for one, why in members}
        return {
            "seed": mixed.seed,
            "examples": mixed.examples,
            "schedules": mixed.schedules,
            "steps": mixed.steps,
            "seconds": round(mixed.seconds, 3),
            "interrupted": mixed.interrupted,
            "errors": mixed.errors,
            "implementations": [
                {
                    "name": name,
                    "schedules": mixed.played[name],
                    "given_up": mixed.given_up.get(name, ""),
                    "exercised": sorted(mixed.exercised.get(name, ())),
                    "findings": [_as_json(d, under.get(id(d))) for d in mixed.discoveries_of(name)],
                }
                for name in mixed.names
            ],
            "scenario_files": self._rows(),
            "group": [_as_json(d, under.get(id(d))) for d in mixed.discoveries_of(GROUP)],
        }

    def cause_lines(self) -> list[CauseLine]:
        """Return a line of the last screen for each root cause, with the implementation at fault, and for each unmet
        expectation.
        """
        lines = expectation_lines(self._rows())
        for discovery, _ in self._groups:
            _, rule = rule_of(discovery.what)
            severity = severity_number(discovery.what)
            text = f"{discovery.name or 'the group'}: {rule}"
            lines.append(CauseLine(discovery.finding.severity, severity, discovery.what, text))
        return sort_causes(lines)

    def _group_by_root_cause(self, mixed: Mixed) -> list[Group]:
        """Return the root causes, the most severe first, each with the discoveries that it explains."""
        out: list[Group] = []
        place = {id(discovery): number for number, discovery in enumerate(mixed.sorted_discoveries)}
        for name in (*mixed.names, GROUP):
            found = {discovery.what: discovery for discovery in mixed.discoveries_of(name)}
            reached = mixed.exercised.get(name, Counter[str]())
            failures = [failure_of(one.finding, one.schedules, reached[what]) for what, one in found.items()]
            out += [
                (found[root.id], [(found[what], why) for what, why in root.under.items()])
                for root in roots(self._scope.rules, failures, self._dialect(name))
            ]
        return sorted(out, key=lambda group: place[id(group[0])])

    def _dialect(self, name: str) -> str:
        dialect = self._cast.dialect(name) if name != GROUP else None
        return dialect.name if dialect is not None else ""

    def facts(self) -> list[tuple[str, Text]]:
        """Return lines for the last screen with the counts of mixed groups."""
        if self.mixed is None:
            return []
        number, unmet_count = len(self.mixed.discoveries), self.mixed.unmet_count
        found = format_count(number, "finding") if number else "nothing found"
        found += f", {format_count(unmet_count, 'expectation')} not met" if unmet_count else ""
        facts = [("Groups", Text(f"{format_count(self.mixed.schedules, 'schedule')} in mixed groups, {found}"))]
        folder = next((one.files["schedule"].parent for one in self.found if "schedule" in one.files), None)
        return [*facts, *([("Kept in", Text(str(folder), no_wrap=True))] if folder is not None else [])]

    def first_again(self) -> str:
        """Return the command that replays the first counterexample, or else the first file with an unmet expectation;
        "" if there is neither.
        """
        again = (self._replay_command(one.example, one.files) for one in self.found if one.example and one.files)
        return next(again, next((one.file["again"] for one in unmet(self._rows())), ""))

    def _rows(self) -> list[Row]:
        if self.mixed is None:
            return []
        spoken = ["--revision", self._cast.revision] if self._cast.revision != CURRENT else []
        pairs = [f"{name}={shlex.join(words)}" for name, words in self._commands.items()]
        again = [program(), "interop", *self._options, *spoken, "--schedules", "0"]
        return [
            loaded.row(self.mixed.by_cast(number), shlex.join([*again, "--scenario-file", str(loaded.path), *pairs]))
            for number, loaded in enumerate(self._files)
        ]

    # ---- playing ---------------------------------------------------------------------------------------------------

    def _shrink(self, mixed_cast: MixedCast, mixed: Mixed, folder: Path, *, quiet: bool) -> None:
        """Shrink, save and print the findings, the most severe first."""
        if mixed.interrupted:
            return
        number, total = 0, sum(1 + len(members) for _, members in self._groups)
        for place, (root, members) in enumerate(self._groups):
            for discovery in (root, *(member for member, _ in members)):
                attempts = ATTEMPTS if discovery is root and place < max(IN_FULL, self._stories) else FEW_ATTEMPTS
                with progress_bar(self._err, width=BAR_WIDTH) as bar:
                    bar(f"shrinking {discovery.what}", number, total)
                    with suppress(NotPlayedError):
                        discovery.example = shrunk(mixed_cast, discovery, self._scope, attempts)
                number += 1
                self._keep_files(discovery, folder)
                self.found.append(discovery)
                if discovery is root and not quiet:
                    self._show(place, discovery)
            if not quiet and place < self._stories:
                self._show_under(root, members)
            if not quiet and (place < self._stories or place + 1 == len(self._groups)):
                self._out.print()

    def _keep_files(self, discovery: Discovery, folder: Path) -> None:
        if discovery.example is None or self.unwritable:
            return
        try:
            discovery.files = keep(discovery.example, folder)
        except OSError as error:
            self.unwritable = True
            print_unwritable_folder(self._err, folder, error)

    # ---- output ----------------------------------------------------------------------------------------------------

    def _show_counts(self, mixed: Mixed) -> None:
        """Print the number of schedules of each implementation, and its findings, each with the number of schedules
        that showed it. The findings of the group follow.
        """
        out = self._out
        played = f"seed {mixed.seed}, {format_count(mixed.steps, 'step')}, {mixed.seconds:.1f} s"
        out.print()
        out.print(Text.assemble(("Mixed groups", "bold"), f" of all implementations ({played})"), soft_wrap=True)
        width = max(cell_len(name) for name in (*mixed.names, *(["group"] if mixed.discoveries_of(GROUP) else [])))
        for name in (*mixed.names, GROUP):
            found = mixed.discoveries_of(name)
            if name == GROUP and not found:
                continue
            before = Text(f"  {name or 'group'}{' ' * (width - cell_len(name or 'group'))}  ", "bold")
            number = mixed.played[name] if name else mixed.schedules
            start = f"{number:,} schedule{'' if number == 1 else 's'} in mixed groups: "
            parts = [Text(start + ("" if found else "nothing found"), "" if found else "green")]
            if found:
                parts += [
                    Text.assemble(
                        (discovery.finding.severity.value.upper(), STYLES[discovery.finding.severity]),
                        f" {discovery.what} ({discovery.schedules}){'' if discovery is found[-1] else ', '}",
                    )
                    for discovery in found
                ]
            if name == GROUP:
                parts += [Text("; "), Text("the participant at fault is unknown")]
            if name in mixed.given_up:
                parts += [Text("; "), Text(f"then it {mixed.given_up[name]}", "yellow")]
            lines_of(out, before, parts)
        show_errors(out, mixed.errors)
        out.print()

    def _show(self, number: int, discovery: Discovery) -> None:
        if number >= self._stories:
            _show_line(self._out, discovery)
            return
        out, whole, example = self._out, len(discovery.schedule.operations), discovery.example
        show_violation(out, discovery.finding, discovery.name)
        if example is None:
            show_unstable(out, discovery.finding, discovery.schedule.name, "somebody")
            return
        steps = format_count(len(example.schedule.operations), "step")
        schedules = format_count(discovery.schedules, "schedule")
        found = (
            f"by {discovery.schedule.name} of {format_count(whole, 'step')}, "
            f"shrunk to {steps}; {schedules} showed the finding"
        )
        print_labelled(out, "Found", found)
        show_dropped_expectations(out, example)
        print_labelled(
            out,
            "Played by",
            example.parts + (", and the violation needs no other participant" if example.fails_alone else ""),
        )
        _show_story(out, example, discovery.files.get("story"))

    def _show_under(self, root: Discovery, members: Sequence[tuple[Discovery, str]]) -> None:
        """Print the failures that a root cause explains, and the command that replays its counterexample."""
        details = {one.what: details_of(one.finding, one.files) for one in (root, *(member for member, _ in members))}
        show_under(self._out, {member.what: why for member, why in members}, details.__getitem__)
        if root.example is not None and root.files:
            show_replay_command(self._out, root.files, self._replay_command(root.example, root.files))

    def _replay_command(self, example: MixedExample, files: Mapping[str, Path]) -> str:
        needed = dict.fromkeys(example.roles.values())
        pairs = [f"{name}={shlex.join(self._commands[name])}" for name in needed]
        return shlex.join([program(), "interop", *self._options, "--replay", str(files["schedule"]), *pairs])


def _show_line(out: Console, discovery: Discovery) -> None:
    what = "not shown again" if discovery.example is None else str(discovery.files.get("story", "not kept"))
    whose = f"{discovery.name or 'the group'}: {discovery.finding.full_code}"
    line = headline(discovery.finding.severity, whose, Text(what, "blue" if discovery.files else "dim"))
    out.print(line, soft_wrap=True)


def _show_story(out: Console, example: MixedExample, file: Path | None) -> None:
    """Print the steps that lead to the finding (the story) and the values that prove it. The end of a long story is
    omitted, except for the lines of the violating step.
    """
    lines = story_of(example)
    if len(lines) > STORY_LINES:
        left = lines[STORY_LINES:]
        blamed = [line for line in left if line.startswith(">")]
        more = f"  ... {format_count(len(left) - len(blamed), 'more line')}{f', in {file}' if file is not None else ''}"
        lines = [*lines[:STORY_LINES], *([] if left == blamed else [more]), *blamed]
    lines_labelled(out, "Story", lines)
    lines_labelled(out, "Proof", proof_of(example))


def _as_json(discovery: Discovery, under: tuple[str, str] | None) -> dict[str, Any]:
    """Return a discovery as JSON. ``under`` is the root cause that explains it, with the reason; None for a root
    cause.
    """
    example = discovery.example
    finding = example.finding if example is not None else discovery.finding
    out: dict[str, Any] = {
        "id": discovery.what,
        "severity": finding.severity.value,
        "code": finding.full_code,
        "position": finding.position,
        "schedules": discovery.schedules,
        "first": discovery.index,
        "expected": example.expected if example is not None else finding.expected,
        "seen": example.seen if example is not None else finding.seen,
        "reproduced": example is not None,
        "files": {key: str(path) for key, path in discovery.files.items()},
        **({"under": {"id": under[0], "why": under[1]}} if under is not None else {}),
    }
    if example is not None:
        out |= {
            "operations": len(example.schedule.operations),
            "shrunk_from": len(example.original.operations),
            "plays": dict(example.roles),
            "proof": proof_of(example),
        }
    return out


def show_violation(out: Console, finding: Finding, name: str) -> None:
    """Print the implementation and the requirement that it violated."""
    where, rule = rule_of(finding.requirement)
    severity = finding.severity
    before = Text.assemble((f"{severity.value.upper():5}", STYLES[severity]), " ")
    parts = [Text(f"{name or 'the group'}: {finding.full_code}  ", "bold"), *map(Text, re.findall(r"\S+ ?", where))]
    lines_of(out, before, parts)
    print_labelled(out, "Rule", rule)


def lines_of(out: Console, before: Text, parts: list[Text]) -> None:
    """Join parts into lines of limited width, without breaking a part."""
    line, indent = before.copy(), before.cell_len
    for part in parts:
        if line.cell_len > indent and line.cell_len + len(part.plain.rstrip()) > out.width:
            line.rstrip()
            out.print(line, soft_wrap=True)
            line = Text(" " * indent)
        line.append_text(part)
    out.print(line, soft_wrap=True)


def show_undriven(err: Console, undriven: Mapping[str, Breakdown]) -> None:
    """Print the implementations that did not complete the handshake, with the reasons."""
    for name, breakdown in undriven.items():
        err.print(name, style="bold")
        show_breakdown(err, BrokenRun.at_last_step("handshake", breakdown))
