"""If nothing breaks, the process behind a link starts, gets the framing, and ends."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile

import psutil
import pytest

from sds_harness import faults, process
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.link import Limits, StdioLink
from sds_testee.framing import Framing

pytestmark = pytest.mark.every_python

LIMITS = Limits(start_s=20, command_s=10, exit_s=5)
REFERENCE = (sys.executable, "-m", "sds_reference")


def python(program: str) -> process.TesteeProcess:
    """A process that runs ``program``."""
    return process.TesteeProcess([sys.executable, "-c", program], {"SDS_TESTEE_FRAMING": "binary"}, 1 << 30)


def children() -> set[int]:
    """The child processes of this process."""
    return {child.pid for child in psutil.Process().children() if "sds_reference" in child.cmdline()}


def refusal_to_start(command: Sequence[str]) -> Breakdown:
    with pytest.raises(faults.TesteeError) as caught:
        StdioLink(command, Framing.JSON, LIMITS)
    assert caught.value.breakdown.kind is FaultKind.NO_START
    return caught.value.breakdown


def test_a_command_that_does_not_exist_cannot_be_started() -> None:
    breakdown = refusal_to_start(["no-such-adapter-anywhere", "--fast"])
    assert breakdown.detail.startswith("cannot start 'no-such-adapter-anywhere': ")
    assert "No such file" in breakdown.detail


def test_a_file_that_is_not_executable_cannot_be_started(tmp_path: Path) -> None:
    script = tmp_path / "adapter.py"
    script.write_text("print('hello')\n")
    assert "Permission denied" in refusal_to_start([str(script)]).detail


def test_a_file_that_is_no_program_cannot_be_started(tmp_path: Path) -> None:
    script = tmp_path / "adapter"
    script.write_bytes(b"\x00\x01\x02")
    script.chmod(0o755)
    assert "Exec format error" in refusal_to_start([str(script)]).detail


@pytest.mark.parametrize("first", [True, False])
def test_a_process_that_no_thread_can_watch_is_not_started(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, left, before = threading.Thread.start, iter([] if first else [1]), children()

    def start(thread: threading.Thread) -> None:
        if next(left, None) is None:
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    breakdown = refusal_to_start(REFERENCE)
    assert breakdown.detail == f"cannot start {sys.executable!r}: can't start new thread"
    assert children() == before


def test_what_a_process_still_writes_at_its_end_does_not_keep_it_waiting() -> None:
    child = python("import sys; sys.stdin.read(); print('bye' * 1_000_000)")
    started = time.monotonic()
    assert child.close(5)
    assert time.monotonic() - started < 4


def test_nothing_can_be_written_to_a_process_that_was_ended() -> None:
    child = python("import sys; sys.stdin.read()")
    child.close(5)
    with ExitStack() as others:
        for _ in range(8):  # new files may get the descriptors of its pipes
            others.enter_context(TemporaryFile())
        assert not child.write(b"anybody there?")


def test_the_last_lines_of_stderr_are_kept_in_full_order_without_empty_ones() -> None:
    child = python("import sys; [print(f'line {n}\\n', file=sys.stderr) for n in range(40)]")
    child.wait_for_exit(10)
    child.close(1)
    assert child.stderr_lines() == tuple(f"line {n}" for n in range(28, 40))


@pytest.mark.parametrize(
    "message",
    [
        "panic: history of 64",
        "fatal error: all goroutines are asleep - deadlock!",
        "thread 'main' panicked at src/main.rs:7:5:",
        "thread 'main' (4711) panicked at src/main.rs:7:5:",
        'Exception in thread "main" java.lang.IllegalStateException: history of 64',
        "adapter: adapter.c:7: on_receive: Assertion `size < 64' failed.",
    ],
)
def test_the_message_before_a_long_trace_is_kept(message: str) -> None:
    trace = [message, *(f"frame {n}" for n in range(40))]
    child = python(f"import sys; [print(line, file=sys.stderr) for line in ['starts', *{trace!r}]]")
    child.wait_for_exit(10)
    child.close(1)
    kept = child.stderr_lines()
    assert kept[:2] == (message, "frame 0")
    assert kept[-5:] == ("... 30 more lines", *(f"frame {n}" for n in range(36, 40)))
    assert len(kept) == 12


def test_what_is_written_to_stderr_belongs_to_the_answer_that_follows() -> None:
    program = "import sys\nfor line in sys.stdin: sys.stderr.write(line.replace(' ', chr(10))); print(flush=True)"
    child = python(program)
    child.deadline_in(30)
    heard = []
    for words in ("nothing strange", "", " ".join(f"line-{n}" for n in range(40))):
        assert child.write(words.encode() + b"\n")
        assert child.read() == b"\n"
        heard.append(child.new_stderr_lines())
    assert heard[0] == ("nothing", "strange")
    assert heard[1] == ()
    assert len(heard[2]) == 12
    assert (heard[2][0], heard[2][4], heard[2][-1]) == ("line-0", "... 29 more lines", "line-39")
    assert child.new_stderr_lines() == ()
    child.close(5)
    assert child.new_stderr_lines() == ()
