"""Adapters that keep to the testee protocol and are odd in what they say or in how long they take to say it.

python odd_adapters.py NAME [ARGUMENT...]
"""

from __future__ import annotations

import locale
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Message, Participant
from sds_reference.mutants import MUTANTS
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import ENVIRONMENT_VARIABLE, Framing
from sds_testee.stdio import serve

HOSTILE = "\x1b[31mred\x1b[0m\x1b]0;title\x07 bell\x07\r\n\x9b31mC1 \u202etfel ot thgir \u2028 line"

Change = Callable[[pb.Request, pb.Reply], None]
ADAPTERS: dict[str, Change] = {}
"""What each does to the right answer."""


def adapter(function: Change) -> Change:
    ADAPTERS[function.__name__.replace("_", "-")] = function
    return function


@adapter
def slow(request: pb.Request, reply: pb.Reply) -> None:
    """slow SECONDS FILE: takes that long for every answer, and adds a line to FILE for each: its process number."""
    with Path(sys.argv[3]).open("a") as out:
        out.write(f"{os.getpid()}\n")
    time.sleep(float(sys.argv[2]))


@adapter
def refuses_participants(request: pb.Request, reply: pb.Reply) -> None:
    """Refuses every participant."""
    if request.HasField("open"):
        reply.rejected.reason = "I do not like it"


@adapter
def broadcasts_nothing(request: pb.Request, reply: pb.Reply) -> None:
    """Answers Send without effects."""
    if request.HasField("send"):
        reply.effects.Clear()


@adapter
def hangs_at_start(request: pb.Request, reply: pb.Reply) -> None:
    """hangs-at-start FILE: writes its process number to FILE and never answers."""
    Path(sys.argv[2]).write_text(f"{os.getpid()}\n")
    time.sleep(600)


@adapter
def hangs_late(request: pb.Request, reply: pb.Reply) -> None:
    """hangs-late N FILE: has a fault, and after N answers none comes any more, whatever is done to it but SIGKILL; its
    process number and that of a daemon of its own are then added to FILE."""
    if request.id <= int(sys.argv[2]):
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    with Path(sys.argv[3]).open("a") as out:
        out.write(f"{os.getpid()} {child.pid}\n")
    while True:
        time.sleep(600)


@adapter
def breaks_at(request: pb.Request, reply: pb.Reply) -> None:
    """breaks-at N HOW: a participant that has received so many messages hangs, takes memory without end, crashes, or
    says something that is not a reply."""
    global _received
    _received = 0 if request.HasField("open") else _received + request.HasField("receive")
    if _received < int(sys.argv[2]):
        return
    if sys.argv[3] == "hangs":
        time.sleep(600)
    elif sys.argv[3] == "allocates":
        hoard = [b"x" * (1 << 24)]
        while True:
            hoard.append(bytes(bytearray(b"x") * (1 << 24)))
    elif sys.argv[3] == "crashes":
        os._exit(7)
    else:
        reply.id += 1


_received = 0
"""By the participant that was opened last."""


@adapter
def opens_nothing(request: pb.Request, reply: pb.Reply) -> None:
    """Can do nothing, says so, and refuses every participant."""
    if request.HasField("hello"):
        reply.hello.ClearField("capabilities")
    if request.HasField("open"):
        reply.rejected.reason = "no room"


@adapter
def refuses_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    """Refuses to receive, for a reason that is hostile to terminals."""
    if request.HasField("receive"):
        reply.rejected.reason = HOSTILE


@adapter
def refuses_to_open_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("open"):
        reply.rejected.reason = HOSTILE


@adapter
def supports_nothing_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("tick"):
        reply.unsupported.what = HOSTILE


@adapter
def fails_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("tick"):
        reply.error.message = HOSTILE


@adapter
def greets_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    """Refuses the handshake."""
    if request.HasField("hello"):
        reply.rejected.reason = HOSTILE


@adapter
def presents_itself_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    """All that it declares is hostile."""
    if request.HasField("hello"):
        hello = reply.hello
        hello.name = hello.version = hello.language = hello.homepage = HOSTILE
        hello.revisions[:] = [HOSTILE]
        hello.profiles.bloom = hello.profiles.hash = hello.profiles.id_order = HOSTILE


@adapter
def declares_a_dialect_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("hello"):
        reply.hello.profiles.dialect = HOSTILE


@adapter
def declares_a_dialect(request: pb.Request, reply: pb.Reply) -> None:
    """declares-a-dialect NAME"""
    if request.HasField("hello"):
        reply.hello.profiles.dialect = sys.argv[2]


@adapter
def speaks_one_revision(request: pb.Request, reply: pb.Reply) -> None:
    """speaks-one-revision NAME"""
    if request.HasField("hello"):
        reply.hello.revisions[:] = [sys.argv[2]]


@adapter
def names_messages_in_colour(request: pb.Request, reply: pb.Reply) -> None:
    """Signals, log and buffers are full of hostile IDs."""
    invent(reply, HOSTILE)


def invent(reply: pb.Reply, name: str) -> None:
    if reply.effects.message_id or reply.effects.events:
        event = reply.effects.events.add(channel_id="c1")
        event.delivered.message_id = name
        reply.effects.events.add(channel_id="c1").acknowledged.message_id = name
        reply.effects.events.add(channel_id="c1").missing.entries.add(message_id=name)
        reply.effects.events.add(channel_id=name).lost.message_ids.append(name)
    if reply.HasField("state"):
        reply.state.log.entries.add(message_id=name, lamport_timestamp=1)
        reply.state.outgoing.entries.add(message_id=name, state=pb.ACK_STATE_UNACKNOWLEDGED)
        reply.state.incoming.message_ids.append(name)


@adapter
def speaks_binary_only(request: pb.Request, reply: pb.Reply) -> None:
    """Ends if it is asked for another framing; its timestamps start at 0, which is a fault."""
    if os.environ[ENVIRONMENT_VARIABLE] != Framing.BINARY.value:
        sys.exit("only binary, please")


class InLocalTime(Channel):
    """Takes the time of the clock on the wall for that of the epoch."""

    def next_lamport(self, now_ms: int) -> int:
        return super().next_lamport(now_ms + 1000 * time.localtime(now_ms / 1000).tm_gmtoff)


class InTheLocalEncoding(Channel):
    """Writes its name as the locale would."""

    def encode(self, message: Message) -> bytes:
        name = message.sender_id.encode(locale.getencoding(), "replace").decode(locale.getencoding())
        return super().encode(replace(message, sender_id=name))


FAULTY: dict[str, type[Participant]] = {
    "speaks-binary-only": MUTANTS["starts-at-zero"].participant_class,
    "hangs-late": MUTANTS["upper-case-id"].participant_class,
    "local-time": type("InLocalTimeParticipant", (Participant,), {"channel_class": InLocalTime}),
    "locale": type("InTheLocalEncodingParticipant", (Participant,), {"channel_class": InTheLocalEncoding}),
}


def main() -> None:
    name = sys.argv[1]
    participant = FAULTY.get(name, Participant)
    testee = Testee(TesteeOptions(version="1", name=name, participant_class=participant))

    def handle(request: pb.Request) -> pb.Reply:
        reply = testee.handle(request)
        if name in ADAPTERS:
            ADAPTERS[name](request, reply)
        return reply

    serve(handle, pb.Request, pb.Reply, Framing(os.environ[ENVIRONMENT_VARIABLE]))


if __name__ == "__main__":
    main()
