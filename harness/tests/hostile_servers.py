"""Servers that break the testee protocol, each in one way.

``serving`` and ``listening`` start servers in this process, which the suite did not start. As a program, this is a
server that the suite starts for a conversation:

    python hostile_servers.py NAME

Each server answers like the reference until the first Tick and fails there, unless its description says otherwise.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from raw_http2 import answer, flood, message
from sds_harness.sds.language import SDS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.testee.server import Testee, TesteeOptions
from sds_testee.framing import MAX_FRAME_BYTES
from sds_testee.grpc_server import Server, serve
from sds_testee.rpc import ADDRESS_VARIABLE, METHOD

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
FLOOD = 3_000_000
"""Number of bytes that a server writes to stdout."""


def changed(right: bytes, **fields: Any) -> bytes:
    reply = pb.Reply.FromString(right)
    reply.MergeFrom(pb.Reply(**fields))
    return reply.SerializeToString()


def honest(right: bytes, context: Any) -> Iterator[bytes]:
    yield right


def never_answers(right: bytes, context: Any) -> Iterator[bytes]:
    while context.is_active():
        time.sleep(0.02)
    return iter(())


def is_too_large(right: bytes, context: Any) -> Iterator[bytes]:
    yield bytes(MAX_FRAME_BYTES + 1)


def unpacks_to_too_much(right: bytes, context: Any) -> Iterator[bytes]:
    context.set_compression(grpc.Compression.Gzip)
    yield bytes(2 * MAX_FRAME_BYTES)


def fails(right: bytes, context: Any) -> Iterator[bytes]:
    raise RuntimeError("the log is inside out")


ANSWERS: dict[str, Callable[[bytes, Any], Iterator[bytes]]] = {
    "never-answers": never_answers,
    "answers-with-another-id": lambda right, _: iter([changed(right, id=77)]),
    "answers-with-a-huge-id": lambda right, _: iter([changed(right, effects=pb.Effects(message_id="x" * 40_000_000))]),
    "answers-garbage": lambda right, _: iter([b"\xff\xfe\x00 what?"]),
    "is-too-large": is_too_large,
    "unpacks-to-too-much": unpacks_to_too_much,
    "fails": fails,
}
"""For each of these servers, the replies that it sends instead of the right answer."""


class HostileConversation:
    """One stream; the server ends it in answer to Tick if it ``ends-the-stream``."""

    def __init__(self, name: str, at_tick: Callable[[], object]) -> None:
        self._name, self._at_tick = name, at_tick

    def __call__(self, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        testee = Testee(TesteeOptions("1", name=self._name))
        for body in requests:
            request = pb.Request.FromString(body)
            right = testee.handle(request).SerializeToString()
            if request.WhichOneof("command") != "tick":
                yield right
                continue
            self._at_tick()
            if self._name == "ends-the-stream":
                return
            yield from ANSWERS.get(self._name, honest)(right, context)
        if self._name == "never-ends-the-stream":
            yield from never_answers(b"", context)


@contextlib.contextmanager
def serving(
    name: str,
    *,
    status: Any = SERVING,
    service: str = SDS.service,
    at_tick: Callable[[], object] = lambda: None,
    takes: int = -1,
) -> Iterator[tuple[int, health.HealthServicer]]:
    """A server on a free port, and its health service, which reports ``status``. If ``status`` is None, there is no
    health service.

    The server accepts messages of up to ``takes`` bytes; -1 means any size.
    """
    options = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", takes))
    server = grpc.server(ThreadPoolExecutor(8), options=options)
    method: Any = grpc.stream_stream_rpc_method_handler(HostileConversation(name, at_tick))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {METHOD: method}),))
    servicer = health.HealthServicer()
    if status is not None:
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
        servicer.set("", status)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port, servicer
    finally:
        server.stop(0).wait()


@contextlib.contextmanager
def listening(greet: Callable[[socket.socket], object]) -> Iterator[int]:
    """A port that does not speak gRPC: each connection is passed to a function."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=greet, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def reset(connection: socket.socket) -> None:
    """Close a connection with a reset, like a machine that has restarted."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RD)
    connection.close()


@contextlib.contextmanager
def between(port: int) -> Iterator[tuple[int, Callable[[], None]]]:
    """A port that leads to ``port``, and a function that resets all connections through it."""
    through: list[socket.socket] = []

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(1 << 16):
                sink.sendall(chunk)

    def lead(connection: socket.socket) -> None:
        onward = socket.create_connection(("127.0.0.1", port))
        through.append(connection)
        threading.Thread(target=pump, args=(connection, onward), daemon=True).start()
        pump(onward, connection)

    def cut() -> None:
        # New connections are accepted at the same time: a disconnected client reconnects at once.
        for connection in through.copy():
            through.remove(connection)
            reset(connection)

    with listening(lead) as other:
        yield other, cut


HELLO = pb.Reply(id=1, hello=pb.HelloReply(protocol_version=1, name="raw")).SerializeToString()
FLOODS: dict[str, Callable[[socket.socket], object]] = {
    "floods-at-once": flood,
    "floods-after-hello": lambda connection: answer(connection, message(HELLO), after=flood),
}
"""Functions that serve one connection and send PING frames without end."""


# ---- As a program --------------------------------------------------------------------------------------------------


def main() -> None:
    name = sys.argv[1]
    if name == "ends-before-it-listens":
        print("no configuration", flush=True)
        sys.exit(5)
    if name in FLOODS:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.environ[ADDRESS_VARIABLE].removeprefix("unix:"))
            listener.listen()
            while True:
                threading.Thread(target=FLOODS[name], args=(listener.accept()[0],), daemon=True).start()
    if name == "prints-to-stdout":
        os.write(1, b"x" * 99 + b"\n")
        for _ in range(FLOOD // 100_000):
            os.write(1, (b"y" * 99 + b"\n") * 1_000)
    testee = Testee(TesteeOptions("1", name=name))

    def handle(request: pb.Request) -> pb.Reply:
        if request.WhichOneof("command") == "tick":
            if name == "crashes":
                os.write(2, b"panic: the log is inside out\n")
                os._exit(3)
            if name == "allocates":
                hoard = []
                while True:
                    hoard.append(bytearray(os.urandom(1 << 20)))
        return testee.handle(request)

    server = Server(lambda: handle, pb.Request, pb.Reply, SDS.service, os.environ[ADDRESS_VARIABLE])
    serve(server, with_stdin=name != "never-exits")


def sleep() -> NoReturn:
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main()
