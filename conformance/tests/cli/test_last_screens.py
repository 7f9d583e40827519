"""First lines, tables and last screens of commands. Snapshots were read by eye once."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from syrupy.assertion import SnapshotAssertion

from certificates import whole_report
from run_helpers import BROKEN_ADAPTERS, broken_adapter, reference_command
from sds_conformance.judging.verdict import Verdict
from sds_conformance.presentation.last_screen import CauseLine, LastScreen, labelled_command, show_last_screen
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.reports.files import write_report
from suite_terminal import typed, words
from waku_adapter import FOLDER, waku_command

HEIGHT = 20
PLAIN = ("--environment", "plain", "--jobs", "1")
FEW = (*PLAIN, *(part for name in ("ties", "a-d*", "first-use", "deliver*") for part in ("--scenario", name)))


def steady(text: str, **paths: Path) -> str:
    """The printed text with the same times, counts and paths on every machine."""
    text = re.sub(r"\d+\.\d s\b", "1.0 s", text.replace(sys.executable, "python"))
    text = text.replace(Path(sys.executable).name, "python")
    # A new requirement or scenario changes these counts, and no snapshot.
    text = re.sub(
        r"^  (Exercised|Played) .*$", lambda line: re.sub(r"\d[\d,]*", "N", line[0]), text, flags=re.MULTILINE
    )
    for name, path in paths.items():
        text = text.replace(str(path), name)
    return text


def screen(command: str, *arguments: str | Path, columns: int = 80, code: int = 0) -> str:
    """The last screen of a command."""
    result = typed(*command.split(), "--quiet", *arguments, COLUMNS=str(columns))
    assert result.exit_code == code, result.output
    return result.stdout or result.stderr.rpartition("\n\n")[2]


def check(text: str, columns: int = 80) -> None:
    """It fits a screen, and says what to do next. A command that can be copied may be longer than a line."""
    lines = text.strip("\n").split("\n")
    assert len(lines) <= HEIGHT
    copied = re.compile(r"sds-conformance|^  (Report|Page|Baseline) ")
    assert [line for line in lines if cell_len(line) > columns and not copied.search(line)] == []
    assert sum("Next  " in line for line in lines) == 1


@pytest.fixture
def conforming(tmp_path: Path) -> Path:
    """A report on the reference, as a whole run would leave it."""
    write_report(tmp_path, whole_report())
    return tmp_path


def test_a_conforming_implementation(conforming: Path, snapshot: SnapshotAssertion) -> None:
    text = screen("report", conforming)
    check(text)
    assert steady(text, OUT=conforming) == snapshot


def test_counts_of_exercised_requirements_agree() -> None:
    """Without SDS-R, neither line counts its requirements: those not exercised are the rest of the applicable ones."""
    text = screen("run", *FEW, "--", *reference_command("--without", "sds-r"))
    found = re.search(r"Exercised (\d+) of (\d+) requirements, without SDS-R", text)
    assert found is not None
    judged, applicable = map(int, found.groups())
    others = [int(count) for count in re.findall(r"not SDS-\S+ and (\d+) more:", text)]
    assert "other reason" not in text
    assert judged + sum(others) + len(others) == applicable


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.exhaustive)])
def test_waku_sds(tmp_path: Path, columns: int, snapshot: SnapshotAssertion) -> None:
    text = screen("run", *FEW, "--report", tmp_path, "--", *waku_command(), columns=columns, code=1)
    check(text, columns)
    node = waku_command()[0]
    assert steady(text, OUT=tmp_path, ADAPTERS=FOLDER).replace(node, "node") == snapshot


def test_an_implementation_that_crashes(snapshot: SnapshotAssertion) -> None:
    text = screen("run", *FEW, "--", *broken_adapter("crashes"), code=1)
    check(text)
    assert steady(text, HARNESS=BROKEN_ADAPTERS.parent) == snapshot


def test_an_implementation_that_cannot_be_started(snapshot: SnapshotAssertion) -> None:
    text = screen("run", *FEW, "--", sys.executable, "-c", "raise SystemExit(7)", code=3)
    check(text)
    assert steady(text) == snapshot


def test_an_implementation_with_a_baseline(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    command = reference_command("--mutant", "ties-by-arrival")
    report, baseline = tmp_path / "out", tmp_path / "known.yaml"
    assert typed("run", *FEW, "--report", report, "--quiet", "--", *command).exit_code == 1
    typed("baseline", "write", baseline, report)
    text = screen("run", *FEW, "--baseline", baseline, "--", *command)
    check(text)
    assert steady(text, FOLDER=tmp_path) == snapshot


def test_report_prints_what_run_printed_and_as_many_stories_as_are_asked_for(tmp_path: Path) -> None:
    command = reference_command("--mutant", "ties-by-arrival")
    run = typed("run", *FEW, "--report", tmp_path / "out", "--", *command).stdout
    _, _, stories = run.partition("Section ")
    assert "Expected" in stories
    assert steady(stories) == steady(typed("report", tmp_path / "out").stdout.partition("Section ")[2])
    assert "Expected" not in typed("report", tmp_path / "out", "--stories", "0").stdout
    assert "Expected" in typed("report", tmp_path / "out", "--stories", "1").stdout


INTEROP = [f"{name}={shlex.join(reference_command())}" for name in "ab"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fuzz", "--schedules", "4", "--jobs", "1"),
        ("exhaust", "--events", "2", "--alphabet", "send,arrive", "--jobs", "1"),
        ("limits", "--only", "waiting", "--at", "4"),
        ("vectors run", "--group", "bloom-*"),
        ("interop", "--schedules", "2", *INTEROP),
    ],
    ids=lambda arguments: arguments[0],
)
def test_other_commands_end_with_one_too(arguments: tuple[str, ...], tmp_path: Path) -> None:
    saved = ("--out", tmp_path) if arguments[0] in ("fuzz", "exhaust", "interop") else ()
    check(screen(*arguments, *saved))
    result = typed(*arguments[0].split(), *arguments[1:], *saved)
    check(result.stdout[result.stdout.rindex("\n\n") :])


@pytest.mark.parametrize(
    ("fails", "warns", "last"), [(8, 0, ""), (9, 0, "and 1 more"), (9, 2, "and 1 more and 2 warnings")]
)
def test_of_many_root_causes_eight_have_a_line(fails: int, warns: int, last: str) -> None:
    console = Console(width=80, record=True, file=StringIO())
    causes = [CauseLine(Verdict.FAIL, 1, f"SDS-X-{number:02}", "a rule") for number in range(fails)]
    causes += [CauseLine(Verdict.WARN, 4, f"SDS-Y-{number:02}", "a rule") for number in range(warns)]
    show_last_screen(console, LastScreen(Text("It does not conform."), causes, next="sds-conformance run"))
    text = console.export_text()
    check(text)
    assert text.count("a rule") == 8
    assert [line.strip() for line in text.splitlines() if " and " in line] == [last] * bool(last)


ADAPTER = ["node", "harness/adapters/waku-sds/adapter.mjs"]
COMMANDS = [
    ["sds-conformance", "run"],
    ["sds-conformance", "run", "--select", "SDS-MSG-14", "--scenario", "equal-contents-are-resent", "--", *ADAPTER],
    ["sds-conformance", "replay", "counterexamples/SDS-MSG-14.json", "--", "./it's here", "~", "$HOME", "a\\b", ""],
    ["sds-conformance", "interop", f"a=python -m a{' --mutant a-name-of-a-mutant' * 7}", "b=./b", f"c={'./c' * 40}"],
]


@pytest.mark.parametrize("width", [40, 80, 81])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command[1]}-{len(command)}")
def test_a_command_is_broken_between_words_and_a_shell_reads_it_as_one(command: list[str], width: int) -> None:
    console = Console(width=width, force_terminal=True, file=StringIO())
    lines = [line.plain for line in labelled_command(console, "Again", shlex.join(command))]
    typed_in = "\n".join([lines[0].removeprefix("  Again"), *lines[1:]])
    read = subprocess.run(["sh", "-c", f"printf '%s\\n' {typed_in}"], capture_output=True, text=True, check=True)
    assert read.stdout.splitlines() == command
    assert [line for line in lines if cell_len(line) > width and " " in line.strip(" \\")] == []

    (whole,) = labelled_command(
        Console(width=width, force_terminal=False, file=StringIO()), "Again", shlex.join(command)
    )
    assert whole.plain == f"  Again     {shlex.join(command)}"


# ---- First lines -----------------------------------------------------------------------------------------------------


TESTED = "  Testing   sds_reference 0.1.0 (Python), JSON lines over stdin and stdout"
AGAINST = "  Against   sds-2026-01: SDS with the SDS-R extension"


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("run --scenario ties --environment plain", (AGAINST, "  Plays     1 scenario, in 1 run")),
        ("fuzz --schedules 2 --jobs 1", (AGAINST, "  Plays     2 schedules of seed 0")),
        ("exhaust --events 1 --alphabet send --jobs 1", (AGAINST,)),
        ("limits --only waiting --at 4 --budget 90", (AGAINST, "  Measures  1 dimension, for at most 90 s")),
        ("vectors run --group lamport", ("  Against   N vectors of sds-2026-01",)),
        ("smoke", (AGAINST,)),
    ],
)
def test_a_command_says_first_what_it_does(command: str, lines: tuple[str, ...]) -> None:
    printed = typed(*command.split(), "--", *reference_command()).stdout
    head, _, _ = re.sub(r"\d+(?= vectors)", "N", printed).partition("\n\n")
    assert printed.startswith(f"{TESTED}\n")
    assert [line for line in lines if line not in head.splitlines()] == []


# ---- Narrow terminals ------------------------------------------------------------------------------------------------


COUNTS = ("pass", "fail", "warn", "inconcl.", "skipped", "error")


@pytest.mark.parametrize("columns", ["60", "80"])
def test_sections_are_reported_whole_and_counts_stand_under_their_names(columns: str) -> None:
    result = typed("run", "--scenario", "a-diamond", "--environment", "plain", COLUMNS=columns)
    lines = result.stdout.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith("Section "))
    (end,) = (number for number, line in enumerate(lines) if line.startswith("All "))
    table = lines[start : end + 1]
    assert tuple(table[0].split()) == ("Section", *COUNTS)
    assert "…" not in "".join(table)
    edge = table[0].index("pass")
    titles = words(" ".join(line[:edge] for line in table))
    judged = {requirement.section for requirement in RULES.judged_requirements(RULES.current, RULES.full)}
    output = [section.title for section in RULES.catalogue.sections if section.id in judged]
    assert len(output) > 20
    assert [title for title in output if title not in titles] == []
    assert all(re.fullmatch(r"[\d· ]*", line[edge:]) for line in table[1:])
