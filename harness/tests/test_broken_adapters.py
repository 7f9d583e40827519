"""Each breakdown of an adapter is classified within its time limit, and leaves no process behind."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sds_harness import faults
from sds_harness.faults import Breakdown, FaultKind
from sds_harness.link import Limits, StdioLink
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.session import Session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import Framing

JSON, BINARY = Framing.JSON, Framing.BINARY
ADAPTERS = Path(__file__).with_name("broken_adapters.py")
LIMITS = Limits(start_s=20, command_s=10, exit_s=5, memory_bytes=1 << 30)
IMPATIENT = replace(LIMITS, command_s=0.4, exit_s=0.4)
SLACK_S = 3.0
"""Seconds beyond the time limit that the harness may need on a busy machine to detect the breakdown and to kill the
adapter."""

Start = Callable[..., Session]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a session with a broken adapter; at the end of the test no process of its group may be alive."""
    links: list[StdioLink] = []

    def connect(framing: Framing, limits: Limits, *command: str) -> StdioLink:
        links.append(StdioLink(command, framing, limits))
        return links[-1]

    def session(name: str, framing: Framing = JSON, limits: Limits = LIMITS, *arguments: str) -> Session:
        command = (sys.executable, str(ADAPTERS), name, *arguments)
        return open_session(lambda: connect(framing, limits, *command), limits, "sds-2026-01")

    yield session
    left = [line for link in links for line in living_members(link.pid)]
    for link in links:
        link.kill()
    assert not left


def living_members(group: int) -> list[int]:
    """Processes of a group that are still alive when they should have ended."""
    return [pid for pid in psutil.pids() if group_of(pid) == group and not soon_gone(pid)]


def group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def soon_gone(pid: int) -> bool:
    """Return whether the process ends within a second: a signal needs a moment to end a process."""
    deadline = time.monotonic() + 1
    while lives(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def open_participant(session: Session) -> int:
    reply: pb.Reply = session.call(pb.Request(open=pb.Open(now_ms=1, participant_id="alice", channels=["c"])), 10)
    return reply.opened.handle


def tick(session: Session, handle: int) -> pb.Reply:
    reply: pb.Reply = session.call(pb.Request(tick=pb.Tick(now_ms=2, handle=handle)))
    return reply


def receive_1_mib(session: Session, handle: int) -> pb.Reply:
    reply: pb.Reply = session.call(pb.Request(receive=pb.Receive(now_ms=3, handle=handle, wire=bytes(1 << 20))))
    return reply


def broken(call: Callable[[], object], within_s: float) -> Breakdown:
    """The breakdown in ``call``, which must be detected in time."""
    started = time.monotonic()
    with pytest.raises(faults.TesteeError) as caught:
        call()
    assert time.monotonic() - started < within_s + SLACK_S
    return caught.value.breakdown


def broken_at_tick(session: Session, within_s: float = 0.0) -> Breakdown:
    """The breakdown at the first Tick of a participant."""
    handle = open_participant(session)
    return broken(lambda: tick(session, handle), within_s)


@pytest.mark.every_python
@pytest.mark.parametrize(
    ("name", "framing", "kind", "sentence"),
    [
        ("stops-in-the-middle", JSON, FaultKind.HANG, r'no answer to tick within 0.4 s; stdout had only "\{"id'),
        ("is-terminated", JSON, FaultKind.CRASH, "killed by SIGTERM in answer to tick"),
        ("exits", JSON, FaultKind.EXIT, "the process ended with exit code 0 in answer to tick"),
        ("closes-stdout", JSON, FaultKind.EXIT, "stdout closed in answer to tick, and the process still runs"),
        (
            "logs-to-stdout",
            JSON,
            FaultKind.GARBAGE,
            r'not a reply \(not a JSON object\): "DEBUG: 1 message in the log"',
        ),
        ("logs-to-stdout", BINARY, FaultKind.OVERSIZED, "the answer to tick is a frame of 1145389653 bytes"),
        ("logs-json-to-stdout", JSON, FaultKind.GARBAGE, 'not a reply .*no field named "level".*"msg":"1 message'),
        (
            "answers-garbage",
            JSON,
            FaultKind.GARBAGE,
            r'the answer to tick is not a reply \(.*\): "\\x1b\[31m\\xff\\xfe',
        ),
        ("floods-stdout", BINARY, FaultKind.OVERSIZED, "the answer to tick is a frame of 2021161080 bytes"),
        ("announces-4-gib", BINARY, FaultKind.OVERSIZED, "a frame of 4294967295 bytes; the limit is 67108864"),
        ("answers-with-another-id", JSON, FaultKind.WRONG_ID, r"request 3 \(tick\) was answered with id 10"),
        ("answers-with-a-hello", JSON, FaultKind.WRONG_ANSWER, "tick was answered with hello, not with effects"),
        ("answers-with-an-id-only", JSON, FaultKind.WRONG_ANSWER, "tick was answered with nothing, not with effects"),
        ("answers-with-a-huge-id", JSON, FaultKind.OVERSIZED, r"an identifier of 40,000,000 bytes \(message_id\)"),
        ("answers-with-an-error", JSON, FaultKind.ERROR, "tick: the database is locked"),
    ],
)
def test_what_an_adapter_does_wrong_has_a_kind_and_a_sentence(
    start: Start, name: str, framing: Framing, kind: FaultKind, sentence: str
) -> None:
    in_haste = kind is FaultKind.HANG or name == "closes-stdout"
    breakdown = broken_at_tick(start(name, framing, IMPATIENT if in_haste else LIMITS), IMPATIENT.command_s)
    assert breakdown.kind is kind
    assert re.search(sentence, breakdown.detail)
    assert breakdown.detail.isprintable()


@pytest.mark.every_python
@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("crashes-on-close", FaultKind.CRASH, "the process ended with exit code 3 in answer to close"),
        ("exits-on-close", FaultKind.EXIT, "the process ended with exit code 0 in answer to close"),
        ("hangs-on-close", FaultKind.HANG, "no answer to close within 0.4 s"),
        (
            "refuses-to-close",
            FaultKind.REFUSAL,
            "close, which every implementation needs, was answered `unsupported` (not today)",
        ),
    ],
)
def test_what_goes_wrong_at_the_end_is_reported_as_that(
    start: Start, name: str, kind: FaultKind, sentence: str
) -> None:
    stage = Stage(start(name, JSON, IMPATIENT), "a schedule")
    stage.open().tick()
    breakdown = broken(stage.close, IMPATIENT.command_s)
    assert (breakdown.kind, breakdown.detail) == (kind, sentence)
    assert [step.command for step in stage.trace.steps] == ["open", "tick", "close"]


def test_endless_output_without_a_line_end_is_oversized_before_it_fills_the_memory(start: Start) -> None:
    breakdown = broken_at_tick(start("floods-stdout", JSON, LIMITS), LIMITS.command_s)
    assert (breakdown.kind, breakdown.detail) == (
        FaultKind.OVERSIZED,
        "the answer to tick is a line of more than 67108864 bytes",
    )


@pytest.mark.every_python
@pytest.mark.parametrize(
    ("name", "exit_code", "stderr"),
    [("crashes", 3, "panic: the log is inside out"), ("crashes-in-colour", 1, "error: bell   and   and")],
)
def test_a_crash_is_reported_with_its_exit_code_and_its_last_words_without_control_characters(
    start: Start, name: str, exit_code: int, stderr: str
) -> None:
    breakdown = broken_at_tick(start(name))
    assert breakdown.kind is FaultKind.CRASH
    assert breakdown.detail == f"the process ended with exit code {exit_code} in answer to tick"
    assert breakdown.stderr == (stderr,)


@pytest.mark.every_python
def test_a_flood_on_stderr_blocks_nobody_and_only_its_end_is_kept(start: Start) -> None:
    session = start("floods-stderr", BINARY, LIMITS)
    handle = open_participant(session)
    assert tick(session, handle).HasField("effects")
    assert isinstance(session.link, StdioLink)
    kept = session.link._process._stderr
    session.close()
    lines = session.link.stderr_lines()
    assert lines[-1] == "the last line"
    assert len(lines) == 12
    assert sum(map(len, kept)) <= 2 * 65536


def test_a_reply_in_single_bytes_is_a_reply(start: Start) -> None:
    for framing in Framing:
        session = start("trickles", framing, LIMITS)
        handle = open_participant(session)
        assert tick(session, handle).HasField("effects")
        assert tick(session, handle).HasField("effects")
        session.close()


def test_a_second_reply_to_one_request_is_garbage_to_the_next(start: Start) -> None:
    session = start("answers-twice")
    handle = open_participant(session)
    tick(session, handle)
    breakdown = broken(lambda: tick(session, handle), 0.0)
    assert breakdown.kind is FaultKind.GARBAGE
    assert "more on stdout than one reply" in breakdown.detail


def test_a_command_that_does_not_exist_must_be_refused(start: Start) -> None:
    for framing in Framing:
        session = start("is-dishonest", framing, LIMITS)
        breakdown = broken(session.probe_honesty, LIMITS.command_s)
        assert breakdown.kind is FaultKind.DISHONEST
        assert breakdown.detail == "a command that does not exist was answered with effects"


@pytest.mark.every_python
def test_memory_without_bound_is_cut_off_at_the_limit(start: Start) -> None:
    limits = replace(LIMITS, memory_bytes=150 << 20)
    breakdown = broken_at_tick(start("allocates", JSON, limits), LIMITS.command_s - SLACK_S)
    assert breakdown.kind is FaultKind.OUT_OF_MEMORY
    assert breakdown.detail == "the process used more than 150 MiB of memory in answer to tick, and was killed"


@pytest.mark.every_python
@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("never-reads-again", FaultKind.HANG, "receive was not read from stdin within 0.4 s"),
        ("closes-stdin", FaultKind.EXIT, "stdin closed in answer to receive, and the process still runs"),
    ],
)
def test_a_large_command_that_nobody_reads_blocks_nobody(
    start: Start, name: str, kind: FaultKind, sentence: str
) -> None:
    session = start(name, BINARY, IMPATIENT)
    handle = open_participant(session)
    tick(session, handle)
    breakdown = broken(lambda: receive_1_mib(session, handle), IMPATIENT.command_s)
    assert (breakdown.kind, breakdown.detail) == (kind, sentence)


@pytest.mark.every_python
def test_a_process_that_runs_on_after_its_stdin_has_ended_is_killed(start: Start) -> None:
    session = start("never-exits", JSON, IMPATIENT)
    tick(session, open_participant(session))
    breakdown = broken(session.close, IMPATIENT.exit_s)
    assert breakdown.kind is FaultKind.NEVER_EXITS
    assert breakdown.detail == "the process still ran 0.4 s after its stdin ended, and was killed"


def test_a_child_that_outlives_its_parent_is_no_fault_and_ends_with_the_session(start: Start, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    session = start("leaves-a-child", JSON, LIMITS, str(note))
    tick(session, open_participant(session))
    child = int(note.read_text())
    assert lives(child)
    session.close()
    assert soon_gone(child)


@pytest.mark.every_python
def test_a_crash_is_a_crash_even_if_a_child_keeps_stdout_open(start: Start, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    session = start("crashes-while-a-child-keeps-stdout", JSON, IMPATIENT, str(note))
    breakdown = broken_at_tick(session, IMPATIENT.command_s)
    assert (breakdown.kind, breakdown.detail) == (
        FaultKind.CRASH,
        "the process ended with exit code 3 in answer to tick",
    )
    assert breakdown.stderr == ("panic: the log is inside out",)
    assert soon_gone(int(note.read_text()))


@pytest.mark.every_python
@pytest.mark.parametrize("pipe", ["stdin", "stdout"])
def test_a_stranger_that_keeps_a_pipe_open_holds_up_nobody(start: Start, tmp_path: Path, pipe: str) -> None:
    note = tmp_path / "pid"
    session = start(f"exits-while-a-stranger-keeps-{pipe}", BINARY, IMPATIENT, str(note))
    handle = open_participant(session)

    def converse() -> None:
        tick(session, handle)
        receive_1_mib(session, handle)

    try:
        breakdown = broken(converse, IMPATIENT.command_s)
    finally:
        os.kill(int(note.read_text()), signal.SIGKILL)
    assert breakdown.kind is FaultKind.EXIT
    assert "the process ended with exit code 0" in breakdown.detail


@pytest.mark.parametrize("lives", ["read", "exit"])
@pytest.mark.parametrize("pause", ["", "time.sleep(0.1);"])
def test_of_a_banner_the_first_line_that_says_something_is_quoted(lives: str, pause: str) -> None:
    """`npm start` prints a blank line and then the command."""
    end = "sys.stdin.read()" if lives == "read" else ""
    program = (
        f"import sys, time; sys.stdin.readline(); print(flush=True); {pause} "
        f"print('> demo@1.0.0 start\\n> node adapter.mjs\\n', flush=True); {end}"
    )
    with pytest.raises(faults.TesteeError) as broke:
        open_session(lambda: StdioLink([sys.executable, "-c", program], JSON, LIMITS), LIMITS, "sds-2026-01")
    assert broke.value.breakdown.kind is FaultKind.GARBAGE
    assert broke.value.breakdown.detail.endswith('is not a reply (not a JSON object): "> demo@1.0.0 start"')
