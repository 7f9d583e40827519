"""Serves a testee protocol over gRPC. Needs the extra ``grpc``."""

from __future__ import annotations

import hmac
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from .framing import Framing, FramingError
from .rpc import MESSAGE_SIZES, METHOD, authorization

CONVERSATIONS = 64
"""Maximum number of simultaneous conversations; each one has a thread."""

Handle = Callable[[Any], Any]
"""Returns the reply to a request."""


class Server:
    """A server that listens as soon as it is created. Each conversation has its own handler."""

    def __init__(
        self,
        conversation: Callable[[], Handle],
        request: type[Any],
        reply: type[Any],
        service: str,
        address: str,
        *,
        token: str = "",
        credentials: grpc.ServerCredentials | None = None,
    ) -> None:
        """``conversation`` makes the handler of one conversation; ``service`` is the service's full name.

        ``address`` is HOST:PORT or unix:PATH; with ``credentials``, the server uses TLS. Raises OSError if the address
        cannot be bound.
        """
        self._conversation, self._request, self._reply = conversation, request, reply
        self._token = authorization(token)
        self._server = grpc.server(
            ThreadPoolExecutor(CONVERSATIONS + 1),
            # After the end of the server, requests get an error at once instead of waiting.
            maximum_concurrent_rpcs=CONVERSATIONS,
            # Two servers on one port would share the conversations between them.
            options=(*MESSAGE_SIZES, ("grpc.so_reuseport", 0)),
        )
        method: Any = grpc.stream_stream_rpc_method_handler(self._converse)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {METHOD: method}),))
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        try:
            self.port = (
                self._server.add_secure_port(address, credentials)
                if credentials is not None
                else self._server.add_insecure_port(address)
            )
        except RuntimeError:
            raise OSError(f"cannot listen at {address}: is it in use, or not an address of this machine?") from None
        self._server.start()
        for name in ("", service):
            self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def wait(self) -> None:
        """Wait until the server is stopped."""
        self._server.wait_for_termination()

    def stop(self) -> None:
        """End all conversations."""
        self._server.stop(0)

    def _converse(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        self._let_in(context)
        handle = self._conversation()
        for body in requests:
            try:
                answer = handle(Framing.BINARY.parse(body, self._request, lenient=True))
            except FramingError as error:
                answer = self._reply()
                answer.error.message = f"not a request: {error}"
            yield answer.SerializeToString()

    def _let_in(self, context: grpc.ServicerContext) -> None:
        """End the call with an error unless its metadata contains the token."""
        for name, value in self._token:
            brought = dict(context.invocation_metadata()).get(name, "")
            if not hmac.compare_digest(str(brought).encode(), value.encode()):
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is missing or wrong")


def serve(server: Server, *, with_stdin: bool) -> None:
    """Serve until SIGTERM or an interrupt or, ``with_stdin``, until stdin ends."""
    signal.signal(signal.SIGTERM, lambda number, frame: server.stop())
    if with_stdin:
        threading.Thread(target=_stop_with_stdin, args=(server,), daemon=True).start()
    try:
        server.wait()
    except KeyboardInterrupt:
        server.stop()


def _stop_with_stdin(server: Server) -> None:
    while os.read(0, 1 << 16):
        pass
    server.stop()
