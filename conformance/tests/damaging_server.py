"""A gRPC server of the reference inside this process that damages its replies."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

from scripted_process import Damage
from sds_conformance.protocols import Protocol
from sds_testee.framing import Framing
from sds_testee.rpc import METHOD


@contextmanager
def serving(protocol: Protocol, mutant: str, damage: Damage) -> Iterator[str]:
    """Run a server, without a health service, until the block ends. Yields its address."""
    language, model = protocol.rules.language, protocol.model

    def converse(requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        link = model.mutant(mutant, frozenset()) if mutant else model.reference(frozenset())
        for body in requests:
            reply = link.call(Framing.BINARY.parse(body, language.request, lenient=True), 1.0, language.reply)
            yield damage(Framing.BINARY, Framing.BINARY.pack(reply))[4:]

    method: Any = grpc.stream_stream_rpc_method_handler(converse)
    handler = grpc.method_handlers_generic_handler(language.service, {METHOD: method})
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(8) as pool:
        server = grpc.server(pool)
        server.add_generic_rpc_handlers((handler,))
        address = f"unix:{folder}/s"
        server.add_insecure_port(address)
        server.start()
        try:
            yield address
        finally:
            server.stop(0).wait()
