"""Transcripts: their lines, written by one process or several, and reading them."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broken_adapters import LAST_WORDS
from sds_harness.faults import FaultKind, TesteeError
from sds_harness.link import Limits, StdioLink
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.transcript.reader import NotATranscriptError, TranscriptPart, parts, remarks
from sds_harness.transcript.recording import MAX_RAW, RecordedLink
from sds_harness.transcript.writer import MAX_LINE, Transcript
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_testee.framing import Framing

LIMITS = Limits(start_s=20, command_s=10, exit_s=5)
REFERENCE = (sys.executable, "-m", "sds_reference")
BROKEN = (sys.executable, str(Path(__file__).with_name("broken_adapters.py")))


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript.begin(tmp_path / "talk.jsonl", suite="1")


def recorded(transcript: Transcript, command: tuple[str, ...], framing: Framing = Framing.JSON) -> Stage:
    """A stage whose conversation is recorded."""
    link = lambda: RecordedLink(StdioLink(command, framing, LIMITS), transcript, command="adapter")  # noqa: E731
    return Stage(open_session(link, LIMITS, "sds-2026-01"), "by-hand")


def rows(transcript: Transcript) -> list[dict[str, Any]]:
    out = [json.loads(line) for line in transcript.path.read_bytes().splitlines()]
    assert [row["n"] for row in out] == list(range(1, len(out) + 1))
    return out


def read(transcript: Transcript) -> tuple[list[TranscriptPart], list[tuple[int, str]]]:
    complaints: list[tuple[int, str]] = []
    return list(parts(transcript.path, lambda line, what: complaints.append((line, what)))), complaints


@pytest.mark.every_python
@pytest.mark.parametrize("framing", list(Framing))
def test_both_directions_are_kept_decoded_and_raw(transcript: Transcript, framing: Framing) -> None:
    stage = recorded(transcript, REFERENCE, framing)
    alice = stage.open()
    sent = alice.send(b"hello")
    stage.close()
    stage.session.close()
    said = [row for row in rows(transcript) if "direction" in row]
    assert [(row["direction"], row["what"]) for row in said] == [
        *((">", "hello"), ("<", "hello"), (">", "open"), ("<", "opened")),
        *((">", "send"), ("<", "effects"), (">", "close"), ("<", "effects")),
    ]
    assert said[4]["json"]["send"]["content"] == base64.b64encode(b"hello").decode()
    assert said[5]["json"]["effects"]["messageId"] == sent.message_id
    if framing is Framing.BINARY:
        assert pb.Request.FromString(base64.b64decode(said[4]["base64"])).send.content == b"hello"
    else:
        # The exact line, with the spaces of its writer.
        assert b'"json":{"id": "3", "effects": {"broadcasts": [' in transcript.path.read_bytes()
        assert not any("base64" in row for row in said)


@pytest.mark.parametrize(
    ("name", "kind", "raw"),
    [
        ("crashes", FaultKind.CRASH, b""),
        ("logs-to-stdout", FaultKind.GARBAGE, b"DEBUG: 1 message in the log\n"),
        ("answers-garbage", FaultKind.GARBAGE, b"\x1b[31m\xff\xfe\x00 what?"),
        ("stops-in-the-middle", FaultKind.HANG, b'{"id'),
    ],
)
def test_what_broke_is_kept_with_what_came_instead(
    transcript: Transcript, name: str, kind: FaultKind, raw: bytes
) -> None:
    stage = recorded(transcript, (*BROKEN, name))
    handle = stage.open().party.handle
    with pytest.raises(TesteeError):
        stage.session.call(pb.Request(tick=pb.Tick(now_ms=2, handle=handle)), 0.5)
    (broke,) = read(transcript)[0][-1].breakdown
    assert broke.kind == kind.value
    assert broke.raw.startswith(raw)
    assert bool(broke.raw) == bool(raw)
    if name == "crashes":
        assert broke.stderr == (LAST_WORDS,)


def test_of_what_is_too_large_only_the_beginning_is_kept(transcript: Transcript) -> None:
    stage = recorded(transcript, REFERENCE)
    alice = stage.open()
    alice.send(bytes(MAX_RAW))
    large = [row for row in rows(transcript) if "head" in row]
    assert [row["what"] for row in large] == ["send", "effects"]
    assert all(row["bytes"] > MAX_RAW and len(row["base64"]) < 10_000 and "json" not in row for row in large)
    assert large[0]["head"]["send"]["handle"] == "1"
    assert max(map(len, transcript.path.read_bytes().splitlines())) < 50_000
    part = read(transcript)[0][-1]
    assert part.exchanges[-1].request.message is None
    assert part.exchanges[-1].request.size > MAX_RAW


# ---- Several processes -------------------------------------------------------------------------------------------


_WRITE = """
import pickle, sys
mark, transcript = pickle.load(sys.stdin.buffer)
for number in range(60):
    transcript.add({"mark": mark, "number": number, "text": "x" * (20_000 if number % 7 == 0 else 10)})
"""


@pytest.mark.every_python
def test_lines_of_several_processes_stay_whole_and_are_counted_through(transcript: Transcript) -> None:
    writing = [subprocess.Popen([sys.executable, "-c", _WRITE], stdin=subprocess.PIPE) for _ in range(4)]
    for mark, writer in enumerate(writing):
        assert writer.stdin
        with writer.stdin as stdin:
            pickle.dump((mark, transcript), stdin)
    assert [writer.wait(60) for writer in writing] == [0] * 4
    found = [(row["mark"], row["number"]) for row in rows(transcript)[1:]]
    assert sorted(found) == [(mark, number) for mark in range(4) for number in range(60)]


def test_a_line_that_somebody_left_torn_costs_no_other(transcript: Transcript) -> None:
    transcript.add({"mark": 1})
    with transcript.path.open("ab") as file:
        file.write(b'{"n":3,"mark":')
    assert transcript.add({"mark": 2}) == 4
    lines = transcript.path.read_bytes().splitlines()
    assert json.loads(lines[3])["n"] == 4
    assert lines[2] == b'{"n":3,"mark":'


# ---- Files -------------------------------------------------------------------------------------------------------


def test_a_full_disk_ends_the_transcript_and_not_the_run(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sds_harness.transcript.writer.os.write", full)
    assert transcript.add({"mark": 1}) == 0
    assert transcript.failure == "No space left on device"
    assert transcript.add({"mark": 2}) == 0


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sds_harness.transcript.writer.LOCK_S", 0.2)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Another open file has the lock."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.mark.usefixtures("impatient")
def test_a_lock_that_is_held_ends_the_transcript_and_not_the_run(transcript: Transcript) -> None:
    with held(transcript.path):
        assert transcript.add({"mark": 1}) == 0
    assert transcript.failure == "another process held the lock of the file for 5 s"
    assert transcript.add({"mark": 2}) == 0
    assert len(rows(transcript)) == 1


@pytest.mark.usefixtures("impatient")
def test_a_worker_says_on_stderr_that_its_lines_are_missing(
    transcript: Transcript, capfd: pytest.CaptureFixture[str]
) -> None:
    copy: Transcript = pickle.loads(pickle.dumps(transcript))
    with held(transcript.path):
        assert [copy.add({"mark": mark}) for mark in range(3)] == [0, 0, 0]
    (line,) = capfd.readouterr().err.splitlines()
    assert line.endswith("lacks the messages of a worker process: another process held the lock of the file for 5 s.")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\xff\n", "line 1: byte 1 is not UTF-8"),
        (b"hello\n", "line 1: no JSON at character 1"),
        (b"[]\n", "line 1: the line is not a JSON object"),
        (b'{"transcript":2}\n', 'line 1: the line does not contain "transcript":1'),
    ],
)
def test_another_file_is_no_transcript(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(NotATranscriptError, match=said):
        list(parts(tmp_path / "file", lambda line, what: None))
    with pytest.raises(NotATranscriptError, match=said):
        list(remarks(tmp_path / "file"))


HOSTILE = [
    (b"\xff", "byte 1 is not UTF-8"),
    (b"{", "no JSON at character 2"),
    (b"7", "the line is not a JSON object"),
    (b'{"x":' + b"9" * 10_000 + b"}", "the line is not valid JSON"),
    (b'{"x":"' + b"y" * MAX_LINE + b'"}', "the line is longer than 4,194,304 bytes"),
    (b'{"conversation":[]}', "the line does not belong to a conversation"),
    (b'{"conversation":2,"begone":1}', "the line has no known field"),
    (b'{"conversation":2,"direction":"<","json":{}}', "the line is a reply without a request"),
    (b'{"conversation":2,"direction":7}', "the direction is neither > nor <"),
]


@pytest.mark.parametrize(("line", "said"), HOSTILE, ids=[said for _, said in HOSTILE])
def test_a_line_that_cannot_be_read_is_named_and_costs_no_other(transcript: Transcript, line: bytes, said: str) -> None:
    request = b'{"conversation":2,"direction":">","what":"tick","json":{"id":"1","tick":{}}}\n'
    with transcript.path.open("ab") as file:
        file.write(line + b"\n" + request)
    (part,), complaints = read(transcript)
    assert complaints == [(2, said)]
    assert [exchange.request.line for exchange in part.exchanges] == [3]


def test_fields_of_any_type_break_nothing(transcript: Transcript) -> None:
    odd: list[Any] = [None, True, -1, 1 << 80, 1.5, "x", [], {}, [{}]]
    keys = ("begins", "part", "participant", "fault", "ends", "what", "json", "base64", "bytes", "head", "direction")
    for key in keys:
        for value in odd:
            transcript.add({"conversation": 2, "direction": ">", key: value})
            transcript.add({"conversation": 2, key: {"stderr": value, "handle": value, "name": value}})
    found, _ = read(transcript)
    assert found


def test_a_file_that_was_cut_is_read_up_to_there(transcript: Transcript) -> None:
    recorded(transcript, REFERENCE).open()
    whole = transcript.path.read_bytes()
    transcript.path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) - 20])
    found, complaints = read(transcript)
    assert [part.name for part in found][-1] == "by-hand"
    assert [what for _, what in complaints] == ["the line is cut off"]
