"""Adapters that break the testee protocol, each in one way, and a few that only seem to break it.

    python broken_adapters.py NAME [FILE]

Each adapter answers like the reference until the first Tick and fails there, unless ELSEWHERE or its description says
otherwise. An adapter that starts another process writes the process ID to FILE.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing

FRAMING = Framing(os.environ.get(ENVIRONMENT_VARIABLE, "json"))
LAST_WORDS = "panic: the log is inside out"
HOSTILE_NAME = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x07bell\r\nline\u202e"
STDERR_FLOOD = 50_000_000


def write(data: bytes, to: int = 1) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(to, view) :]


def say(text: str) -> None:
    write(text.encode(), 2)


def requests() -> Iterator[pb.Request]:
    buffer = bytearray()
    while chunk := os.read(0, 1 << 16):
        buffer += chunk
        while (body := FRAMING.take(buffer)) is not None:
            yield FRAMING.parse(body, pb.Request, lenient=True)


def sleep() -> NoReturn:
    while True:
        time.sleep(60)


def frame(body: bytes) -> bytes:
    return body + b"\n" if FRAMING is Framing.JSON else len(body).to_bytes(4, "big") + body


def changed(right: bytes, change: Callable[[pb.Reply], object]) -> bytes:
    """A changed copy of the right answer."""
    body = FRAMING.take(bytearray(right))
    assert body is not None
    reply = FRAMING.parse(body, pb.Reply)
    change(reply)
    return FRAMING.pack(reply)


def unsupported(reply: pb.Reply) -> None:
    reply.unsupported.what = "not today"


ANSWERS: dict[str, Callable[[bytes], bytes]] = {
    "logs-to-stdout": lambda right: b"DEBUG: 1 message in the log\n" + right,
    "logs-json-to-stdout": lambda right: b'{"level":"info","msg":"1 message in the log"}\n' + right,
    "answers-garbage": lambda right: frame(b"\x1b[31m\xff\xfe\x00 what?"),
    "answers-twice": lambda right: right + right,
    "answers-with-another-id": lambda right: changed(right, lambda reply: setattr(reply, "id", reply.id + 7)),
    "answers-with-a-hello": lambda right: changed(right, lambda reply: reply.hello.SetInParent()),
    "answers-with-an-id-only": lambda right: changed(right, lambda reply: reply.ClearField("effects")),
    "answers-with-a-huge-id": lambda right: changed(
        right, lambda reply: setattr(reply.effects, "message_id", "x" * 40_000_000)
    ),
    "answers-with-an-error": lambda right: changed(
        right, lambda reply: setattr(reply.error, "message", "the database is locked")
    ),
    "refuses-to-tick": lambda right: changed(right, unsupported),
    "refuses-to-close": lambda right: changed(right, unsupported),
    "refuses-to-be-observed": lambda right: changed(right, unsupported),
    "announces-4-gib": lambda right: b"\xff\xff\xff\xff" + right,
    # The next three answer a Tick correctly; ``main`` makes them fail elsewhere.
    "never-exits": lambda right: right,
    "is-dishonest": lambda right: right,
    "has-a-hostile-name": lambda right: right,
}
"""For each of these adapters, the bytes that it writes instead of the right answer."""

ACTIONS: dict[str, Callable[[bytes], None]] = {}
"""For each of these adapters, the function that it calls with the right answer instead of writing it."""


def adapter(action: Callable[[bytes], None]) -> Callable[[bytes], None]:
    ACTIONS[action.__name__.replace("_", "-")] = action
    return action


@adapter
def hangs(right: bytes) -> None:
    say("waiting for a lock\n")
    sleep()


@adapter
def crashes(right: bytes) -> None:
    say(f"{LAST_WORDS}\n")
    os._exit(3)


@adapter
def is_terminated(right: bytes) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    sleep()


@adapter
def exits(right: bytes) -> None:
    os._exit(0)


@adapter
def closes_stdout(right: bytes) -> None:
    os.close(1)
    sleep()


@adapter
def closes_stdin(right: bytes) -> None:
    """Answers, and then closes stdin."""
    os.close(0)
    write(right)
    sleep()


@adapter
def never_reads_again(right: bytes) -> None:
    """Answers, and then reads nothing more, but keeps stdin open."""
    write(right)
    sleep()


@adapter
def allocates(right: bytes) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(os.urandom(1 << 20)))


@adapter
def trickles(right: bytes) -> None:
    for byte in right:
        write(bytes([byte]))
        time.sleep(0.001)


@adapter
def stops_in_the_middle(right: bytes) -> None:
    for byte in right[:-1]:
        write(bytes([byte]))
    sleep()


@adapter
def floods_stdout(right: bytes) -> None:
    while True:
        write(b"x" * (1 << 16))


@adapter
def floods_stderr(right: bytes) -> None:
    line = b"warning: " + b"w" * 90 + b"\n"
    for _ in range(STDERR_FLOOD // len(line) // 500):
        write(line * 500, 2)
    say("the last line\n")
    write(right)


@adapter
def crashes_in_colour(right: bytes) -> None:
    say("\x1b[1;31merror\x1b[0m: \x1b]0;owned\x07bell \x07 and \x00 and \u202e\n\x1b[2J\n")
    os._exit(1)


@adapter
def orders_the_ci_about(right: bytes) -> None:
    say("::stop-commands::x\n  ::error file=a::x\n##[group]x\n")
    os._exit(1)


def another_process(*, new_session: bool = False, keeps: int | None = None) -> None:
    """Start a process that outlives this one and keeps one of its pipes; write its process ID to FILE."""
    stdin, stdout = (None if keeps == pipe else subprocess.DEVNULL for pipe in (0, 1))
    child = subprocess.Popen(
        ["sleep", "600"], stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, start_new_session=new_session
    )
    Path(sys.argv[2]).write_text(str(child.pid))


@adapter
def leaves_a_child(right: bytes) -> None:
    another_process()
    write(right)


@adapter
def crashes_while_a_child_keeps_stdout(right: bytes) -> None:
    another_process(keeps=1)
    crashes(right)


@adapter
def exits_while_a_stranger_keeps_stdout(right: bytes) -> None:
    another_process(new_session=True, keeps=1)
    exits(right)


@adapter
def exits_while_a_stranger_keeps_stdin(right: bytes) -> None:
    another_process(new_session=True, keeps=0)
    write(right)
    exits(right)


ACTIONS["crashes-on-close"] = crashes
ACTIONS["hangs-on-close"] = hangs
ACTIONS["exits-on-close"] = exits

ELSEWHERE = {
    "refuses-to-close": "close",
    "refuses-to-be-observed": "observe",
    "crashes-on-close": "close",
    "hangs-on-close": "close",
    "exits-on-close": "close",
}
"""The adapters that break at another command than Tick, with that command."""


def main() -> None:
    name = sys.argv[1]
    if name == "hangs-at-start":
        sleep()
    if name == "never-exits":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    shown = HOSTILE_NAME if name == "has-a-hostile-name" else name
    testee = Testee(TesteeOptions(version="1", name=shown))
    went_wrong = False
    for request in requests():
        reply = testee.handle(request)
        if name == "is-dishonest" and request.WhichOneof("command") is None:
            reply.effects.SetInParent()
        if request.WhichOneof("command") == ELSEWHERE.get(name, "tick") and not went_wrong:
            went_wrong = True
            if name in ANSWERS:
                write(ANSWERS[name](FRAMING.pack(reply)))
            else:
                ACTIONS[name](FRAMING.pack(reply))
        else:
            write(FRAMING.pack(reply))
    if name == "never-exits":
        sleep()


if __name__ == "__main__":
    main()
