"""The vectors of ClearSkies for the codec, and breakdowns on a link: faults are found."""

from __future__ import annotations

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_vectors import (
    PEERS,
    altered,
    asked,
    refusing,
)
from sds_conformance.vectors.running.subject import Status
from vector_folders import failed_groups, failures

# ---- Codecs (few mutants) --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "groups"),
    [
        ("compare_clocks", {"vector-clocks"}),
        ("unframe", {"framing-read"}),
        ("frame", {"framing-written", "signing-rsa-pkcs1-sha256"}),
        ("verify", {"signatures-rsa-pkcs1-sha256"}),
        ("open", set(PEERS)),
        *(pytest.param(name, set(PEERS), marks=pytest.mark.exhaustive) for name in ("connect", "receive", "tick")),
        ("observe", {"conflicts", "key-conflicts", "signed-updates", "ghost-records"}),
        ("put", {"ghost-records"}),
        ("delete", {"ghost-records"}),
        ("disconnect", set(PEERS)),
    ],
)
def test_whoever_refuses_everything_is_found(command: str, groups: set[str]) -> None:
    outcome = asked(refusing(command))
    assert failed_groups(outcome) == groups
    assert outcome.count(Status.ERROR) == 0


def test_a_declared_signature_of_no_known_kind_is_skipped() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.signature = "ed25519"

    outcome = asked(altered(change), "signatures-*", "signing-*")
    assert outcome.count(Status.SKIPPED) == len(outcome.answered)
    outcome = asked(altered(change), *PEERS)
    assert failures(outcome) == []
    assert 0 < outcome.count(Status.SKIPPED) < outcome.count(Status.PASS)


def test_bounds_that_are_declared_are_kept() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.limits.body_bytes, reply.hello.limits.clock_members = 50_000, 50
        if len(request.frame.body) > 50_000 or len(request.unframe.data) > 50_000:
            reply.rejected.reason = "too long"
        if request.unframe.data == b"m16777216{":
            reply.rejected.reason = "too long"
        if request.compare_clocks.other.count(b":") > 50:
            reply.rejected.reason = "too many"

    outcome = asked(altered(change), "framing-*", "vector-clocks")
    assert failures(outcome) == []
    assert outcome.count(Status.SKIPPED) == 7


@pytest.mark.parametrize(
    "body",
    [
        b'{"type":"database.update","uuid":[],"last_updated_by":{},"last_updated_rev":"7"}',
        b'{"type":"database.update","uuid":1e999,"last_updated_rev":' + b"9" * 5_000 + b"}",
        b'{"type":"database.get_updates"}',
        b"{" * 50_000,
    ],
)
def test_nonsense_on_a_link_is_no_fault_of_the_suite(body: bytes) -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        for sent in reply.effects.sent if reply.HasField("effects") else ():
            sent.data = b"m%d%s" % (len(body), body)

    outcome = asked(altered(change), *PEERS)
    assert outcome.count(Status.ERROR) == 0
    assert outcome.count(Status.FAIL) > 0
