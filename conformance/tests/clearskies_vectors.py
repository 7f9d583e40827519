"""The golden vectors of ClearSkies, asked of the reference model and of what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import Config, Peer
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_conformance.protocols.clearskies.vectors.material import MATERIAL
from sds_conformance.vectors.folder import load_of
from sds_conformance.vectors.running.examination import Examination, VectorExaminer, select_files
from sds_harness.link import Limits, LocalLink
from vector_folders import VECTOR_SET, VECTORS

REVISION = "clearskies-database"
Handle = Callable[[pb.Request], pb.Reply]
CAPABILITIES = [number for number in pb.Capability.values() if number]
PEERS = ("conflicts", "get-updates", "ghost-records", "key-conflicts", "signed-updates")
"""Groups that are asked of peers; the others are asked of the codec."""


@cache
def files() -> tuple[dict[str, Any], ...]:
    return tuple(load_of(VECTOR_SET, MATERIAL, VECTORS))


def reference(config: Config | None = None, peer: type[Peer] = Peer, without: frozenset[int] = frozenset()) -> Handle:
    options = TesteeOptions("1", config or Config(), peer, without=without)
    return Testee(options).handle


def asked(start: Callable[[], Handle] = reference, *groups: str) -> Examination:
    examiner = VectorExaminer(MATERIAL, lambda _: LocalLink(start()), Limits(), REVISION)
    return examiner.examine(select_files(files(), REVISION, groups))


def altered(change: Callable[[pb.Request, pb.Reply], None]) -> Callable[[], Handle]:
    """The reference, whose answers are changed."""

    def start() -> Handle:
        answer = reference()

        def handle(request: pb.Request) -> pb.Reply:
            reply = answer(request)
            change(request, reply)
            return reply

        return handle

    return start


def mutant(name: str, without: frozenset[int] = frozenset()) -> Callable[[], Handle]:
    fault = MUTANTS[name]
    without |= {pb.CAPABILITY_OBSERVE} if fault.unseen else set()
    return lambda: reference(fault.configure(Config()), fault.peer_class, without)


def refusing(command: str) -> Callable[[], Handle]:
    """The reference, which is not even asked for that."""

    def start() -> Handle:
        answer = reference()

        def handle(request: pb.Request) -> pb.Reply:
            if request.WhichOneof("command") == command:
                return pb.Reply(id=request.id, rejected=pb.Rejected(reason="no"))
            return answer(request)

        return handle

    return start
