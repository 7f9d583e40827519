"""Runs commands of the suite on mutated inputs, for the fuzzer of its decoders.

An `Attempt` mutates one file of a valid input, or the replies of an implementation, and runs one command on the result.
`attempted` returns the failure, or "". A command fails if its exit code is not documented, if it takes too much time or
memory, or if its output is broken.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch
from xml.etree import ElementTree

from click.testing import CliRunner, Result
from hypothesis import strategies as st

from message_mutations import FIELDS, mutate_message
from mutations import BYTES, STRUCTURE, Mutation, mutated_bytes, mutated_json, mutations
from scripted_process import Damage, protocol_in, scripted
from sds_conformance.cli import main
from sds_conformance.exploration.shrinking import Shrunk, shrink
from sds_testee.framing import Framing
from suite_terminal import controls

SECONDS = 180.0
"""Time limit of a command. With the valid input it takes a second or two."""
ATTEMPTS = 20
"""Schedules that are played to shrink one: fewer than usual, which can take minutes."""
MEMORY = 1 << 30
"""Bytes by which a command may raise the peak memory of this process."""
LONGEST_MESSAGE = 3_000
"""Characters of an error message."""
CODES = frozenset(range(5))
"""The documented exit codes, without those of interrupts and of a fault of the suite."""
_FOLDER, _OUT, _VALID = "{folder}", "{out}", "{valid}"
"""In command lines: the mutated input, a folder for output, the valid input."""

Files = dict[str, bytes]
Command = tuple[str, ...]


class HangError(BaseException):
    """A command ran out of time. The suite handles Exceptions, so this is none."""


@dataclass(frozen=True)
class Input:
    """A valid input."""

    name: str
    files: Files
    commands: Sequence[Command]
    """Those that read it."""


@dataclass(frozen=True)
class Attempt:
    """Mutations of one input, and the command to run on it. Numbers are taken modulo the number of choices."""

    input: int
    file: int
    command: int
    structure: tuple[Mutation, ...]
    bytewise: tuple[Mutation, ...]
    honest: bool
    """Correct the digests after the mutation."""
    frames: tuple[int, ...] = ()
    """The replies to mutate, counted from 1."""


@dataclass(frozen=True)
class Format:
    """A format of files."""

    inputs: Callable[[], Sequence[Input]]
    targets: str
    """A regular expression for the names of the files to mutate."""
    honest: Callable[[Files], None] = lambda files: None
    """Corrects the digests."""

    def attempts(self) -> st.SearchStrategy[Attempt]:
        """All attempts."""
        return _attempts(mutations(STRUCTURE))

    def attempted(self, attempt: Attempt, save: Path | None = None) -> str:
        """The failure of an attempt, "" if there is none; ``save`` is a folder for the input of a failure."""
        inputs = self.inputs()
        one = inputs[attempt.input % len(inputs)]
        names = sorted(name for name in one.files if re.fullmatch(self.targets, name))
        name, files = names[attempt.file % len(names)], dict(one.files)
        files[name] = damaged(name, files[name], attempt)
        if attempt.honest:
            self.honest(files)
        with laid_out(files) as folder, laid_out(one.files) as valid, tempfile.TemporaryDirectory() as out:
            readers = [command for command in one.commands if f"{_FOLDER}/{name}" in command] or one.commands
            words = filled(readers[attempt.command % len(readers)], folder, out, valid)
            wrong = typed_safely(words, Path(out))
            if wrong and save is not None:
                shutil.copytree(folder, save, dirs_exist_ok=True)
                (save / "COMMAND").write_text(f"{words}\n{attempt}\n{wrong}\n", errors="backslashreplace")
        return wrong


@dataclass(frozen=True)
class Replies:
    """The replies of an implementation, in one framing."""

    framing: str
    commands: Callable[[], Sequence[Sequence[Command]]]
    """Commands that drive an implementation, each followed by those that read its output."""

    def attempts(self) -> st.SearchStrategy[Attempt]:
        """All attempts."""
        frames = st.lists(st.integers(1, 60), min_size=1, max_size=8).map(tuple)
        fields = _attempts(mutations(FIELDS), frames)
        if self.framing != "json":
            return fields
        return st.one_of(fields, fields, _attempts(mutations(STRUCTURE), frames))

    def attempted(self, attempt: Attempt, save: Path | None = None) -> str:
        """The failure of an attempt, as for files. The later commands read what the first one wrote."""
        commands = self.commands()
        chosen = commands[attempt.command % len(commands)]
        with tempfile.TemporaryDirectory() as out:
            wrong = ""
            for number, command in enumerate(chosen):
                words = filled(command, Path(out), out, Path(out))
                if "interop" in words or "--" in words:
                    at = words.index("--") if "--" in words else 1
                    words[at:at] = ["--framing", self.framing]
                    with scripted(_damage(attempt, protocol_in(words).rules.language.reply)):
                        wrong = typed_safely(words, Path(out), damaged=True)
                elif all(Path(word).exists() for word in words[1:2]):
                    wrong = typed_safely(words, Path(out), damaged=True)
                if wrong:
                    wrong = f"{' '.join(words[:4])} (#{number}): {wrong}"
                    break
            if wrong and save is not None:
                shutil.copytree(out, save, dirs_exist_ok=True)
                (save / "COMMAND").write_text(f"{words}\n{attempt}\n{wrong}\n", errors="backslashreplace")
        return wrong


def _attempts(
    structure: st.SearchStrategy[Mutation], frames: st.SearchStrategy[tuple[int, ...]] | None = None
) -> st.SearchStrategy[Attempt]:
    some = st.lists(structure, min_size=1, max_size=3).map(tuple)
    bytewise = st.lists(mutations(BYTES), min_size=1, max_size=2).map(tuple)
    none: st.SearchStrategy[Any] = st.just(())
    replies = none if frames is None else frames
    number = st.integers(0, 1 << 16)

    def attempts(first: Any, second: Any) -> st.SearchStrategy[Attempt]:
        return st.builds(Attempt, number, number, number, first, second, st.booleans(), replies)

    # Wrong bytes are rejected before anything looks at the structure: most attempts have none.
    return st.one_of(attempts(some, none), attempts(some, none), attempts(none, bytewise), attempts(some, bytewise))


def damaged(name: str, data: bytes, attempt: Attempt) -> bytes:
    if attempt.structure:
        data = _structured(name, data, attempt.structure)
    return mutated_bytes(data, attempt.bytewise)


def _structured(name: str, data: bytes, changes: Sequence[Mutation]) -> bytes:
    if name.endswith(".jsonl"):
        return mutated_json(data, changes, lines=True)
    if name.endswith(".json"):
        return mutated_json(data, changes)
    if name.endswith(".yaml"):
        from ruamel.yaml import YAML

        return mutated_json(json.dumps(YAML(typ="safe").load(data.decode())).encode(), changes)
    kinds = dict(zip(STRUCTURE, BYTES * 3, strict=False))
    return mutated_bytes(data, [Mutation(kinds[change.kind], change.place, change.other) for change in changes])


def _damage(attempt: Attempt, kind: type[Any]) -> Damage:
    """A function that mutates some of the replies."""
    count = 0

    def damage(framing: Framing, frame: bytes) -> bytes:
        nonlocal count
        count += 1
        # Some replies, or also every seventh of the first thousand, which reaches long conversations.
        seventh = attempt.honest and count < 1_000 and count % 7 == attempt.frames[0] % 7
        if count not in attempt.frames and not seventh:
            return frame
        body = frame[4:] if framing is Framing.BINARY else frame[:-1]
        if attempt.structure and attempt.structure[0].kind in FIELDS:
            reply = framing.parse(body, kind)
            for change in attempt.structure:
                mutate_message(reply, change)
            packed = framing.pack(reply)
            body = packed[4:] if framing is Framing.BINARY else packed[:-1]
        elif attempt.structure:
            body = mutated_json(body, attempt.structure).replace(b"\n", b"")
        if framing is Framing.BINARY:
            body = mutated_bytes(body, attempt.bytewise)
            return len(body).to_bytes(4, "big") + body
        return mutated_bytes(body + b"\n", attempt.bytewise)

    return damage


@contextmanager
def laid_out(files: Mapping[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield Path(folder)


def filled(command: Command, folder: Path, out: str, valid: Path) -> list[str]:
    places = {_FOLDER: str(folder), _OUT: out, _VALID: str(valid)}
    return [re.sub(r"\{(folder|out|valid)\}", lambda found: places[found[0]], word) for word in command]


# ---- Running a command -------------------------------------------------------------------------------------------


def typed_safely(words: Sequence[str], out: Path, *, damaged: bool = False) -> str:
    """Run a command. Returns its failure, "" if there is none."""
    before = _peak()
    driven = nullcontext() if damaged else scripted()
    shrinking = patch("sds_conformance.exploration.counterexample.shrink", _shrink_little)
    with driven, shrinking, _alarm(SECONDS):
        try:
            result = CliRunner().invoke(main, list(words))
        except HangError as hung:
            return f"hangs: {_place(''.join(traceback.format_exception(hung)))}"
        if isinstance(result.exception, HangError):
            return f"hangs: {_place(''.join(traceback.format_exception(result.exception)))}"
    grown = _peak() - before
    if grown > MEMORY:
        return f"takes {grown >> 20} MiB: {words[0]}"
    return _ended_wrong(result, words) or _written_wrong(out)


def _peak() -> int:
    """The peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def _shrink_little(schedule: Any, fails: Any, repertoire: Any, max_attempts: int, budget_s: float) -> Shrunk:
    return shrink(schedule, fails, repertoire, min(max_attempts, ATTEMPTS), budget_s)


def _ended_wrong(result: Result, words: Sequence[str]) -> str:
    printed = result.output + result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return _place("".join(traceback.format_exception(result.exception)))
    if result.exit_code not in CODES or "Traceback (most recent call last)" in printed:
        return f"exit code {result.exit_code}: {_place(printed)}"
    if (found := controls(printed)) and not found <= {"\ufeff"}:
        return f"prints control characters {found!a}: {words[0]}"
    if result.exit_code == 2:
        if not printed.strip():
            return f"exit code 2 without a message: {words[0]}"
        if len(result.stderr) > LONGEST_MESSAGE:
            return f"a message of {len(result.stderr)} characters: {words[0]} {result.stderr[-300:-200]!a}"
    if "--json" in words and result.exit_code in (0, 1):
        try:
            json.loads(result.stdout, parse_constant=_no_json)
        except ValueError as error:
            return f"--json prints no JSON ({str(error)[:60]}): {words[0]}"
    return ""


def _written_wrong(out: Path) -> str:
    """A file that the command wrote and that is not what its suffix says."""
    for file in out.rglob("*"):
        try:
            if file.suffix in (".xml", ".svg"):
                ElementTree.fromstring(file.read_bytes())
            elif file.suffix in (".sarif", ".json"):
                json.loads(file.read_text("utf-8"), parse_constant=_no_json)
            elif file.suffix in (".html", ".md", ".txt", ".yaml"):
                file.read_text("utf-8")
        except (ValueError, ElementTree.ParseError) as error:
            return f"writes a {file.suffix} that is none: {re.sub('[0-9]+', 'N', str(error))[:100]}"
    return ""


def _no_json(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _place(printed: str) -> str:
    """The exception at the end of a traceback, and the innermost two frames of the suite."""
    places = re.findall(r'File "[^"]*/(?:conformance|harness|reference)/([^"]+)", line (\d+), in (\S+)', printed)
    last = [line for line in printed.splitlines() if re.match(r"[\w.]+(Error|Exception|Hung|Fault|\b)(:|$)", line)]
    where = " < ".join(f"{file}:{line} {name}" for file, line, name in places[:-3:-1])
    return f"{last[-1][:200] if last else printed[-200:]!r} at {where}"


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
