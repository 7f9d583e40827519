"""Serves your adapter over gRPC, at the address in SDS_TESTEE_GRPC; without it, at 127.0.0.1:50051.

It needs grpcio, and the modules that grpcio-tools generates from testee.proto. Change it if your server has other
services, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import testee_pb2
import testee_pb2_grpc
from adapter import Adapter
from google.protobuf import json_format
from kit import reply_to

LARGEST = 64 * 2**20  # Bytes of a message; the default of grpcio is 4 MiB.


class Testee(testee_pb2_grpc.TesteeServicer):
    def Converse(self, requests: Iterator[Any], context: Any) -> Iterator[Any]:  # noqa: N802
        """One conversation, which has participants of its own."""
        mine = Adapter()
        participants: dict[int, Any] = {}
        for request in requests:
            reply = reply_to(mine, participants, json_format.MessageToJson(request).encode())
            try:
                yield json_format.Parse(reply, testee_pb2.Reply())
            except json_format.ParseError as error:
                fault = testee_pb2.Error(message=f"the reply does not fit testee.proto: {error}")
                yield testee_pb2.Reply(id=request.id, error=fault)


def main() -> None:
    started_by_suite = "SDS_TESTEE_GRPC" in os.environ
    sizes = [("grpc.max_receive_message_length", LARGEST), ("grpc.max_send_message_length", LARGEST)]
    server = grpc.server(ThreadPoolExecutor(64), options=sizes)  # One thread for each conversation.
    testee_pb2_grpc.add_TesteeServicer_to_server(Testee(), server)
    server.add_insecure_port(os.environ.get("SDS_TESTEE_GRPC", "127.0.0.1:50051"))
    server.start()
    if started_by_suite:
        sys.stdin.buffer.read()  # Until the suite closes it.
        server.stop(None)
    else:
        server.wait_for_termination()


if __name__ == "__main__":
    main()
