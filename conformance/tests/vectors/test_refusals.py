"""An implementation that rejects a valid message does not pass; breakdowns and interrupts are distinguished."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from run_helpers import altered, reference, variant
from sds_conformance.cli.vectors.run import _sentence
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.vectors.material import MATERIAL
from sds_conformance.vectors.running.examination import Examination, VectorExaminer, select_files
from sds_conformance.vectors.running.subject import Status
from sds_harness.faults import FaultKind, TesteeError
from sds_harness.link import Limits, LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, MalformedMessageError, decode
from vector_folders import asked, failed_groups, failures, files

PARTICIPANTS = ["lamport", "log-order", "causal-history", "ack-reviews", "message-kinds"]


def refusing(when: Callable[[pb.Request], bool]) -> Examination:
    """The reference refuses some requests."""

    def change(request: pb.Request, reply: pb.Reply) -> None:
        if when(request):
            reply.rejected.reason = "no"

    return asked(lambda: altered(change), [*PARTICIPANTS, "repair-buffers", "transcripts", "bloom-query-waku-sds-js"])


def test_whoever_opens_nothing_fails() -> None:
    outcome = refusing(lambda request: request.HasField("open"))
    assert failed_groups(outcome) >= {*PARTICIPANTS, "repair-buffers", "transcripts"}
    assert outcome.exit_code == 1
    assert outcome.count(Status.SKIPPED, "lamport") == 0


def test_copies_and_own_messages_may_be_rejected() -> None:
    outcome = asked(lambda: variant("refuses-copies-and-own-messages"), ["ack-reviews", "repair-buffers"])
    assert failures(outcome) == []


def test_whoever_opens_nothing_special_is_skipped_with_the_reason() -> None:
    outcome = refusing(lambda request: request.open.configuration.HasField("causal_history_size"))
    assert outcome.count(Status.FAIL) == 0
    reasons = list(outcome.reasons("causal-history"))
    assert reasons == ["refuses causal_history_size in a configuration: no"]
    assert outcome.count(Status.PASS, "lamport") > 20


def test_whoever_declares_to_show_a_state_shows_it() -> None:
    outcome = refusing(lambda request: request.HasField("observe"))
    assert failed_groups(outcome) >= {"lamport", "log-order", "ack-reviews", "repair-buffers", "transcripts"}
    assert any("declares observe" in text for text in failures(outcome))

    def nothing(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            reply.state.Clear()

    outcome = asked(lambda: altered(nothing), [*PARTICIPANTS, "repair-buffers", "transcripts"])
    assert failed_groups(outcome) >= {"lamport", "log-order", "ack-reviews", "repair-buffers", "transcripts"}


# ---- breakdowns and interrupts ---------------------------------------------------------------------------------------


def test_a_group_that_breaks_costs_no_other() -> None:
    def breaks(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("decode"):
            raise RuntimeError("the log is inside out")

    outcome = asked(lambda: altered(breaks), ["wire-decoding", "wire-encoding", "lamport"])
    assert outcome.count(Status.BROKEN) == outcome.count(Status.BROKEN, "wire-decoding") == 4
    assert {group for group, _ in outcome.left_out} == {"wire-decoding"}
    assert outcome.count(Status.PASS, "lamport") > 20
    assert outcome.exit_code == 1
    said = _sentence(outcome, []).plain
    assert "broke down at 4 vectors" in said
    assert "wrong answer" not in said


class InterruptedLink(LocalLink):
    """Somebody types Ctrl-C while an answer is awaited; whatever is sent after that breaks."""

    def __init__(self, after: int) -> None:
        super().__init__(reference())
        self.left = after
        self.killed = False

    def call(self, request: pb.Request, timeout_s: float, reply: type[pb.Reply]) -> pb.Reply:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        if self.left < 0:
            raise TesteeError(FaultKind.WRONG_ID, "an answer to something else")
        answer: pb.Reply = super().call(request, timeout_s, reply)
        return answer

    def kill(self) -> None:
        self.killed = True
        super().kill()


@pytest.mark.parametrize("after", [2, 3, 20, 101])
def test_an_interrupt_is_nobodys_fault(after: int) -> None:
    link = InterruptedLink(after)
    examiner = VectorExaminer(MATERIAL, lambda _: link, Limits(), CURRENT)
    whole = list(select_files(files(), CURRENT, ["lamport", "log-order"]))
    outcome = examiner.examine(whole)
    assert outcome.interrupted
    assert link.killed
    assert outcome.exit_code == 130
    assert failures(outcome) == []
    assert len(outcome.answered) + outcome.unasked_count == sum(len(file["tests"]) for file in whole)
    assert outcome.unasked_count > 0


# ---- Ephemeral messages ------------------------------------------------------------------------------------------


def takes_no_ephemerals(request: pb.Request, reply: pb.Reply) -> None:
    """A timestamp is required, says the codec and says the participant."""
    wire = {"receive": request.receive.wire, "decode": request.decode.wire}.get(request.WhichOneof("command") or "")
    with suppress(MalformedMessageError):
        if wire and decode(wire).kind is Kind.EPHEMERAL:
            reply.rejected.reason = "lamport_timestamp is required"


def test_a_refused_ephemeral_message_is_a_warning_in_all_groups_of_vectors() -> None:
    outcome = asked(lambda: altered(takes_no_ephemerals), ["wire-decoding", "message-kinds", "ack-reviews"])
    assert failures(outcome) == []
    found = {a.vector["id"]: a.answer.requirements for a in outcome.answered if a.answer.status is Status.WARN}
    assert found == {
        "wire-decoding/lamport-absent": ("SDS-EPHEMERAL-04",),
        "message-kinds/ephemeral": ("SDS-EPHEMERAL-04",),
        "message-kinds/ephemeral-with-filter": ("SDS-EPHEMERAL-06",),
        "message-kinds/ephemeral-with-history": ("SDS-EPHEMERAL-06",),
        "ack-reviews/by-a-hybrid": ("SDS-EPHEMERAL-06",),
    }
