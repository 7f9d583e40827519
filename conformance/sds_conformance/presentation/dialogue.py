"""Prints a transcript as a dialogue on a terminal of 80 columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.environment import PLAIN
from sds_harness.transcript.reader import (
    Conversation,
    RecordedExchange,
    TranscriptBreakdown,
    TranscriptMessage,
    TranscriptPart,
)

from ..judging.formats import format_count, hex_of, make_times_relative
from .evidence import lines_with_quotes
from .stderr_quotes import quote_stderr
from .story import print_hanging, print_labelled, show_stderr
from .traces import RebuiltPart, StepText

MAX_RUNS = 3
"""Maximum number of runs that are shown if the selected requirements have no findings."""
MAX_LINES = 20
"""Maximum number of output lines that are shown per step."""
_EXCERPT = 300
_NAME = 60
_INDENT = 10


@dataclass
class DialogueSelection:
    """Selects the parts of a transcript to show."""

    participant: str = ""
    channel: str = ""
    globs: tuple[str, ...] = ()
    """Globs for requirement IDs, in capital letters; empty for everything."""
    findings: list[Mapping[str, Any]] = field(default_factory=list)
    """The findings to mark."""
    verdicts: list[tuple[str, str]] = field(default_factory=list)
    """The verdicts on the requirements that match the globs."""
    runs: frozenset[str] = frozenset()
    """The first runs that judged the selected requirements, if these have no findings; otherwise empty."""

    @classmethod
    def from_remarks(
        cls, remarks: Iterable[tuple[str, Mapping[str, Any]]], participant: str, channel: str, globs: tuple[str, ...]
    ) -> DialogueSelection:
        """Select the findings, verdicts and runs in the ``remarks`` of a transcript that match the globs."""
        out, runs = cls(participant, channel, globs), dict[str, None]()
        for kind, row in remarks:
            names = [str(row.get(key) or "").upper() for key in ("requirement", "code")]
            of_code = kind != "finding" and not _matches(names, globs)
            if globs and not _matches(names, [glob.partition("/")[0] for glob in globs] if of_code else globs):
                continue
            if kind == "finding":
                out.findings.append(row)
            elif globs and isinstance(row.get("runs"), list):
                if not of_code:
                    runs |= dict.fromkeys(run for run in row["runs"] if isinstance(run, str))
                out.verdicts.append((printable(str(row.get("requirement"))), printable(str(row.get("verdict")))))
        out.runs = frozenset() if out.findings else frozenset([*runs][:MAX_RUNS])
        return out

    def found_in(self, part: TranscriptPart) -> list[Mapping[str, Any]]:
        """Return the findings in a part of a transcript. A finding names the line at which its part begins, or else the
        schedule or the vector of the part.
        """
        return [
            f
            for f in self.findings
            if (f.get("part") or 0) == part.line or (not f.get("part") and is_about_part(f, part))
        ]


def _matches(names: Iterable[str], globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs for name in names)


def is_about_part(finding: Mapping[str, Any], part: TranscriptPart) -> bool:
    """Return whether a finding names the schedule of a part, or its vector."""
    return finding.get("run") in {part.name, part.vector} - {""}


_EXPECTED_ANSWERS = ("effects", "opened", "state")
"""Kinds of answers that are not printed if they have no effect to describe."""


class Dialogue:
    """Prints the parts of a transcript, and counts them."""

    def __init__(self, console: Console, selection: DialogueSelection) -> None:
        self._console = console
        self._wanted = selection
        self._conversation: Conversation | None = None
        self.parts = 0
        self.shown = 0
        self.participants: dict[str, None] = {}
        self.channels: dict[str, None] = {}
        """The channels of all parts, in the order in which they occur."""

    def show(self, part: TranscriptPart) -> None:
        """Print the selected steps of a part."""
        self.parts += 1
        selection = self._wanted
        found = selection.found_in(part)
        if selection.globs and not (found or part.name in selection.runs):
            return
        enacted = RebuiltPart(part)
        lines = [(exchange, enacted.describe(exchange)) for exchange in part.exchanges]
        exchanges = [(exchange, words) for exchange, words in lines if self._is_wanted(words)]
        if not exchanges and (selection.participant or selection.channel or not part.breakdown):
            return
        self.shown += 1
        self._head(part)
        left = found if len(exchanges) == len(lines) else []
        for exchange, words in exchanges:
            number = enacted.counted.get(exchange.request.line, 0)
            rest = [
                finding for finding in found if number and finding.get("step") == number and _concerns(finding, words)
            ]
            self._exchange(number, exchange, words, rest)
            for finding in rest:
                self._print_finding(finding)
            left = [finding for finding in left if finding not in rest]
        if more := len(lines) - len(exchanges):
            self._console.print(Text(f"      … {format_count(more, 'more step')} in this part", "dim"))
        for finding in left:
            self._print_finding(finding, "in this part")
        for broke in part.breakdown:
            self._print_breakdown(broke)
        if part.ends and not any(broke.stderr for broke in part.breakdown):
            show_stderr(self._console, part.stderr[-12:])
        self._console.print()

    def _is_wanted(self, words: StepText | None) -> bool:
        selection = self._wanted
        if words is None:
            return not (selection.participant or selection.channel)
        self.participants |= dict.fromkeys(sorted(words.called))
        self.channels |= dict.fromkeys(sorted(words.channels))
        return (not selection.participant or selection.participant in words.called) and (
            not selection.channel or selection.channel in words.channels
        )

    def _head(self, part: TranscriptPart) -> None:
        conversation = part.conversation
        if conversation is not self._conversation:
            self._conversation = conversation
            about = [f"process {conversation.process}"] if conversation.process else []
            about += [printable(conversation.framing, _NAME)] if conversation.framing else []
            about += [printable(f"{name}={value}", _NAME) for name, value in conversation.variables.items()]
            title = Text.assemble((f"Conversation {conversation.number}", "bold"), f"  {', '.join(about)}")
            print_hanging(self._console, Text(), title)
            print_labelled(self._console, "With", Text(printable(conversation.command, _EXCERPT)))
            self._console.print()
        if part.name:
            environment = f" in {printable(part.environment)}" if part.environment not in ("", PLAIN.name) else ""
            revision = f", {printable(part.revision, _NAME)}" if part.revision else ""
            vector = f"{printable(part.vector)}: " if part.vector not in ("", part.name) else ""
            title = Text.assemble(
                (vector + printable(part.name), "bold"), f"{environment}{revision}, from line {part.line}"
            )
            print_hanging(self._console, Text(), title)

    def _exchange(
        self, number: int, exchange: RecordedExchange, words: StepText | None, rest: Sequence[Mapping[str, Any]]
    ) -> None:
        """Print a request with its reply. ``rest`` are the findings at this step: the request is marked, and output
        lines with messages of the findings are preferred.
        """
        before = Text.assemble(("> ", "bold red") if rest else "  ", (f"{number or '':>3} ", "dim"))
        if words is None:
            self._raw(Text.assemble(before, "> "), exchange.request)
            if exchange.reply is not None:
                self._raw(Text("      < "), exchange.reply)
            return
        print_hanging(self._console, before, Text(words.done))
        if not words.participant:  # a pure function: its raw request says more than a description
            print_hanging(self._console, Text(" " * _INDENT), Text(_excerpt(exchange.request)))
        lines = list(words.came_out)
        if not lines and exchange.reply is not None and words.answer not in _EXPECTED_ANSWERS:
            lines = [f"{words.answer or 'answered'}: {_excerpt(exchange.reply)}"]
        for line in lines_with_quotes(
            lines, (f"{finding.get('expected')} {finding.get('seen')}" for finding in rest), MAX_LINES
        ):
            print_hanging(self._console, Text(" " * _INDENT), Text(line, "cyan"))
        for raw in words.wires:
            show_hex(self._console, raw)

    def _raw(self, before: Text, message: TranscriptMessage) -> None:
        what = printable(message.what, _NAME) or "a command that does not exist"
        print_hanging(self._console, before, Text.assemble((what, "bold"), f" {_excerpt(message)}"))

    def _print_finding(self, finding: Mapping[str, Any], where: str = "at this step") -> None:
        texts = {name: printable(str(finding.get(name, "")), 600) for name in ("severity", "expected", "seen")}
        what = printable(str(finding.get("code") or finding.get("requirement", "")), 600)
        head = Text.assemble((f"{texts['severity'].upper()} {what}", "bold red"), f" {where}")
        print_hanging(self._console, Text(" " * _INDENT), head)
        for name in ("expected", "seen"):
            if texts[name]:
                print_hanging(self._console, Text(f"{' ' * _INDENT}{name}: "), Text(make_times_relative(texts[name])))
        stderr = finding.get("stderr")
        for line in (
            quote_stderr(list(map(str, stderr)), self._console.width - _INDENT) if isinstance(stderr, list) else ()
        ):
            print_hanging(self._console, Text(" " * _INDENT), Text(line, "dim"))

    def _print_breakdown(self, broke: TranscriptBreakdown) -> None:
        self._console.print(Text.assemble((printable(broke.kind).upper(), "bold red"), f"  line {broke.line}"))
        print_labelled(self._console, "What", Text(printable(broke.detail, 600)))
        if broke.raw:
            text = printable(broke.raw[:_EXCERPT].decode("utf-8", "replace"), _EXCERPT)
            print_labelled(self._console, "Came", Text(f'{format_count(len(broke.raw), "byte")}: "{text}"'))
        show_stderr(self._console, broke.stderr[-12:])


def _concerns(finding: Mapping[str, Any], words: StepText | None) -> bool:
    """Return whether a finding is about the participant of a step."""
    return words is None or finding.get("participant") in ("", None, words.participant)


def _excerpt(entry: TranscriptMessage) -> str:
    if entry.message is None and not entry.head:
        return format_count(entry.size or len(entry.raw), "byte")
    before = f"{format_count(entry.size, 'byte')}, not stored completely: " if entry.message is None else ""
    message = entry.head if entry.message is None else entry.message
    inner = [value for name, value in message.items() if name != "id"]
    try:
        text = json.dumps(inner[0] if len(inner) == 1 else message, ensure_ascii=False)
    except RecursionError:
        text = "nested too deeply"
    return printable(before + text, _EXCERPT)


def show_hex(console: Console, raw: bytes) -> None:
    """Print the first bytes of a wire message in hex."""
    console.print(Padding(Text(hex_of(raw), "dim"), (0, 0, 0, 10)))
