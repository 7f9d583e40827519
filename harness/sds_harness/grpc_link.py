"""A conversation over gRPC with a server, which is already running or is started for this conversation only.

Needs the extra ``grpc``.

One bidirectional stream is one conversation. The comments of the service in testee.proto say what a server must do.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from grpc_health.v1 import health_pb2

from sds_testee.framing import MAX_FRAME_BYTES, Framing, FramingError
from sds_testee.rpc import ADDRESS_VARIABLE, MESSAGE_SIZES, METHOD, TOKEN_VARIABLE, authorization

from .endpoint import AUTO, Endpoint
from .faults import FaultKind, TesteeError
from .link import UNKNOWN_BINARY, Limits, Link, Listener, describe_exit, read_reply
from .process import TesteeProcess
from .quiet_grpc import grpc
from .redaction import Redaction
from .resources import socket_folder
from .watchdog import limit_time

CONNECT_S = 5.0
"""Seconds to wait for a connection to a server that is already running: a supervisor may be restarting it."""
_LOOK_EVERY_S = 0.05
_LATE_S = 0.5
"""A call must have ended this many seconds after its timeout."""
_CLOSE_S = 1.0
"""Seconds that a connection may take to close, before and after the server process is ended."""
_MOST_STUCK = 8
"""Maximum number of connections to one server that may fail to close. Each one costs two threads and the data that the
server sends on it."""
_stuck: list[str] = []
"""The addresses of connections that did not close."""
_HEALTH = "/grpc.health.v1.Health/Check"
_OPTIONS = (
    *MESSAGE_SIZES,
    # No compression: a message larger than the limit would be unpacked in memory before its size is checked.
    ("grpc.compression_enabled_algorithms_bitset", 1),
    # A new conversation uses a new connection, and no request is sent twice.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    ("grpc.service_config_disable_resolution", 1),
    # Try again soon: a server that is starting usually accepts a connection within a second.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
)
_TOO_LARGE = re.compile(r"larger than max \(\d+ vs\. (\d+)\)")
_SLOW = "Does the server send each reply at once? Raise --timeout, or --start-timeout for hello, if it is only slow."
_LOST = "Did the server crash, or was it stopped? The suite did not start it: read its log."
_ABSENT = "Is the server started, and does it listen there? `--grpc ADDRESS -- COMMAND` starts one."
_EARLY = "The server must not end a stream before the harness has ended its side."
_ENDLESS = "The server must end a stream after the harness has ended its side."
_FLOODS = "Does the server send without end, PING frames for example? It must stop when a connection is closed."
_NO_REPLY = "Each message of the stream is one Reply in protobuf: `sds-conformance docs proto` shows it."
_ENDED = "An exception in the server ends the call: log it on stderr, or reply with `error`."
_NO_SERVICE = "Is it a server of the testee protocol? `sds-conformance docs proto` shows the service and its full name."
_ITS_LIMIT = f"Let the server receive messages of {MAX_FRAME_BYTES} bytes: the default limit of gRPC is lower."
_TOKEN = "Name the file with the right token: --grpc-token-file FILE."


class GrpcLink(Link):
    """One conversation on one stream, with its own connection.

    A watchdog thread cancels the stream when a deadline passes. This ends all calls that wait for the stream.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        command: Sequence[str],
        limits: Limits,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """If ``endpoint.started``, ``command`` is executed to start the server, with ``variables`` in its environment.

        Raises TesteeError if there is no server, or if it is not ready in time.
        """
        self._endpoint, self._limits = endpoint, limits
        self._process: TesteeProcess | None = None
        self._channel: grpc.Channel | None = None
        self._call: Any = None
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._deadline = float("inf")
        self._answered = False
        self._late = False
        self._ended = threading.Event()
        self._listeners: list[Listener] = []
        self._socket_folder: TemporaryDirectory[str] | None = None
        self._redaction = Redaction([])
        try:
            try:
                token = endpoint.token()
            except ValueError as error:
                self._fail(FaultKind.NO_START, str(error))
            # A server that is started inherits the variable, even if --grpc-token-file names another token.
            self._redaction = Redaction([token, os.environ.get(TOKEN_VARIABLE, "").strip()])
            self._token = authorization(token)
            self.address = self._place()
            if _stuck.count(self.address) >= _MOST_STUCK:
                detail = f"{_MOST_STUCK} connections to the server at {self.address} did not close"
                self._fail(FaultKind.NO_START, detail, _FLOODS)
            if endpoint.started:
                words = [word.replace("{address}", self.address) for word in command]
                where = {**(variables or {}), ADDRESS_VARIABLE: self.address}
                self._process = TesteeProcess(words, where, limits.memory_bytes, talks=False, redaction=self._redaction)
            try:
                self._channel = self._connect()
            except ValueError as error:
                self._fail(FaultKind.NO_START, str(error))
            self._wait_until_ready(self._channel)
            method: Any = self._channel.stream_stream(f"/{endpoint.service}/{METHOD}")
            self._call = method(iter(self._requests.get, None), metadata=self._token)
        except BaseException:
            self.kill()
            raise
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def listen(self, listener: Listener) -> bool:
        self._listeners.append(listener)
        return True

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        what = request.WhichOneof("command") or "nothing"
        with limit_time(timeout_s):
            return self._exchange(request.SerializeToString(), timeout_s, what, reply)

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        with limit_time(timeout_s):
            return self._exchange(request.SerializeToString() + UNKNOWN_BINARY, timeout_s, "an unknown command", reply)

    def stderr_lines(self) -> tuple[str, ...]:
        return self._process.stderr_lines() if self._process is not None else ()

    def close(self) -> None:
        if self._ended.is_set():
            return
        self._requests.put(None)
        self._deadline = time.monotonic() + self._limits.exit_s
        with limit_time(2 * self._limits.exit_s):  # the stream may take ``exit_s``, and then the process
            with contextlib.suppress(grpc.RpcError):
                for _ in self._call:
                    pass  # Discard what arrives: it answers no request.
            late, ended = self._late, self._end(self._limits.exit_s)
        limit = f"{self._limits.exit_s:g} s"
        if not ended:
            detail = f"the process still ran {limit} after its stdin ended, and was killed"
            raise TesteeError(FaultKind.NEVER_EXITS, detail, self.stderr_lines())
        if late:
            detail = f"the server did not end the conversation within {limit}"
            raise TesteeError(FaultKind.NEVER_EXITS, detail, self.stderr_lines(), _ENDLESS)

    def kill(self) -> None:
        """End the conversation at once, whatever the server is doing."""
        with limit_time(0):
            self._end(0)

    # ---- starting --------------------------------------------------------------------------------------------------

    def _place(self) -> str:
        """The address at which the server listens, or must listen."""
        endpoint = self._endpoint
        if endpoint.address == AUTO:
            self._socket_folder = TemporaryDirectory(prefix="sds-", dir=socket_folder())
            return f"unix:{self._socket_folder.name}/testee.sock"
        if endpoint.port == 0:
            family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
            try:
                with socket.socket(family) as probe:
                    probe.bind((endpoint.host, 0))
                    return f"{endpoint.address.removesuffix(':0')}:{probe.getsockname()[1]}"
            except OSError as error:
                self._fail(FaultKind.NO_START, f"no free port at {endpoint.address}: {error.strerror}")
        return endpoint.address

    def _connect(self) -> grpc.Channel:
        if self._endpoint.ca is None:
            return grpc.insecure_channel(self.address, _OPTIONS)
        credentials = grpc.ssl_channel_credentials(self._endpoint.certificates())
        return grpc.secure_channel(self.address, credentials, _OPTIONS)

    def _wait_until_ready(self, channel: grpc.Channel) -> None:
        """Wait until the server's health service reports SERVING. A server without a health service is accepted."""
        check: Any = channel.unary_unary(_HEALTH)
        began = time.monotonic()
        reached = False
        name = self._endpoint.service
        while True:
            patience = self._limits.starting_s if reached or self._process is not None else self._connect_s
            left = began + patience - time.monotonic()
            try:
                health_request = health_pb2.HealthCheckRequest(service=name).SerializeToString()
                # Use a future: under a flood of frames, a blocking call waits past its timeout.
                answer = check.future(health_request, timeout=max(left, 0.01), metadata=self._token)
                body = answer.result(max(left, 0.01) + _LATE_S)
                reached = True
                status = Framing.BINARY.parse(body, health_pb2.HealthCheckResponse).status
                if status == health_pb2.HealthCheckResponse.SERVING:
                    return
                reason = "the health service does not report SERVING"
            except FramingError as error:
                self._fail(FaultKind.GARBAGE, f"the answer of the health service cannot be read: {error}")
            except grpc.FutureTimeoutError:
                answer.cancel()
                reason = "the health service does not answer"
            except grpc.RpcError as error:
                code, reason = error.code(), _error_text(error)
                if code is grpc.StatusCode.UNIMPLEMENTED:
                    return
                if code is grpc.StatusCode.NOT_FOUND and name:
                    reached, name = True, ""
                    continue
                if code is grpc.StatusCode.NOT_FOUND:
                    return
                if code not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                    self._fail_call("the health check", error)
            self._fail_if_dead(f"before it served at {self.address}", 0, at_once=True)
            if time.monotonic() - began + _LOOK_EVERY_S >= patience:
                self._fail_unready(reason, patience, reached=reached)
            time.sleep(_LOOK_EVERY_S)

    @property
    def _connect_s(self) -> float:
        return min(CONNECT_S, self._limits.starting_s)

    def _fail_unready(self, reason: str, patience: float, *, reached: bool) -> NoReturn:
        if reached:
            self._fail(FaultKind.HANG, f"the server was not ready within {patience:g} s: {reason}", _SLOW)
        if self._process is not None:
            detail = f"the process runs, but no server listens at {self.address} within {patience:g} s ({reason})"
            self._fail(
                FaultKind.NO_START,
                detail,
                f"Does it listen at the address in {ADDRESS_VARIABLE}, or in place of {{address}} in its command?",
            )
        self._fail(FaultKind.NO_START, f"no gRPC server at {self.address} within {patience:g} s ({reason})", _ABSENT)

    # ---- conversation ----------------------------------------------------------------------------------------------

    def _exchange(self, body: bytes, timeout_s: float, what: str, kind: type[Any]) -> Any:
        self._deadline = time.monotonic() + timeout_s
        for listener in self._listeners:
            listener.sent(body)
        self._requests.put(body)
        try:
            raw: bytes | None = next(self._call, None)
        except grpc.RpcError as error:
            if self._late:
                self._fail(FaultKind.HANG, f"no answer to {what} within {timeout_s:g} s", _SLOW)
            self._fail_call(what, error)
        self._deadline = float("inf")
        if raw is None:
            self._fail_if_dead(f"in answer to {what}")
            self._fail(FaultKind.EXIT, f"the server ended the conversation in answer to {what}", _EARLY)
        self._answered = True
        answer = self._redaction.data(raw)
        for listener in self._listeners:
            listener.on_frame(answer, True)
        try:
            return read_reply(Framing.BINARY, answer, kind, what)
        except FramingError as error:
            self._fail(FaultKind.GARBAGE, str(error), _NO_REPLY)

    def _fail_call(self, what: str, error: grpc.RpcError) -> NoReturn:
        """Raise the fault for a call that ended in an error while ``what`` was waiting for its answer."""
        self._fail_if_dead(f"in answer to {what}")
        code, text = error.code(), _error_text(error)
        match code:
            case grpc.StatusCode.RESOURCE_EXHAUSTED:
                limit = _TOO_LARGE.search(text)
                if limit is None or int(limit[1]) == MAX_FRAME_BYTES:
                    kind = FaultKind.TOO_LONG if self._answered else FaultKind.OVERSIZED
                    self._fail(kind, f"the answer to {what} is too large ({text})")
                self._fail(FaultKind.OVERSIZED, f"{what} is larger than the server accepts ({text})", _ITS_LIMIT)
            case grpc.StatusCode.UNIMPLEMENTED:
                missing = f"{self._endpoint.service}/{METHOD}"
                self._fail(FaultKind.WRONG_ANSWER, f"the server does not serve {missing} ({text})", _NO_SERVICE)
            case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
                self._fail(FaultKind.NO_START, f"the server rejected the token ({text})", _TOKEN)
            case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.CANCELLED:
                hint = _LOST if self._process is None else ""
                self._fail(FaultKind.CRASH, f"the connection broke in answer to {what} ({text})", hint)
            case _:
                self._fail(FaultKind.CRASH, f"the server ended the call in answer to {what} ({text})", _ENDED)

    def _fail_if_dead(self, when: str, settling_s: float = 0.5, *, at_once: bool = False) -> None:
        """Raise a fault if the started process ends within ``settling_s`` seconds: its exit status is more informative
        than the state of the connection. ``when`` says when it ended, for the message. With ``at_once``, nothing was
        answered yet, so a hint for a wrong command is added."""
        died = describe_exit(self._process, when, settling_s) if self._process is not None else None
        if self._process is not None and died is not None:
            self._fail(*died, self._process.why_at_once if at_once and died[0] is FaultKind.CRASH else "")

    def _fail(self, kind: FaultKind, detail: str, hint: str = "") -> NoReturn:
        self.kill()
        raise TesteeError(kind, self._redaction.text(detail), self.stderr_lines(), hint)

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_S):
            if time.monotonic() > self._deadline:
                self._late = True
                self._call.cancel()
                return

    def _end(self, grace_s: float) -> bool:
        """Close the connection and end the process. Returns False if a started process had to be killed.

        A server that sends endlessly keeps the connection from closing. So a thread closes the connection, and the
        harness waits at most ``_CLOSE_S`` for the thread, once before and once after it ends the process.
        """
        self._ended.set()
        self._requests.put(None)
        if self._call is not None:
            self._call.cancel()
        channel, self._channel = self._channel, None
        closing = threading.Thread(target=channel.close, daemon=True) if channel is not None else None
        if closing is not None:
            closing.start()
            closing.join(_CLOSE_S)
        ended = self._process.close(grace_s) if self._process is not None else True
        if closing is not None:
            closing.join(_CLOSE_S)
            if closing.is_alive():
                _stuck.append(self.address)
        if self._socket_folder is not None:
            self._socket_folder.cleanup()
        return ended


def _error_text(error: grpc.RpcError) -> str:
    """The code of a gRPC error and the details that gRPC or the server gives."""
    code, details = error.code(), error.details()
    return f"{code.name}: {details}" if details else str(code.name)
