"""Vectors asked of implementations: the legal ones pass, and mutants are found in the group of their fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from run_helpers import ALL_CAPABILITIES, AMENDED, Handle, altered, reference, variant
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.protocols.sds.vectors.material import MATERIAL
from sds_conformance.vectors.running.causes import WrongAnswers, causes_of
from sds_conformance.vectors.running.examination import Examination, VectorExaminer
from sds_conformance.vectors.running.subject import Status
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import SDS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, PROFILES, Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from vector_folders import asked, every_test, failed_groups, failures, files

FORUM = "forum-2024"
SHORT = tuple(dict.fromkeys(file["group"] for file in files() if file["group"] != "transcripts"))
"""All groups but the conversations."""


def _mutant(name: str) -> Callable[[], Handle]:
    mutant = MUTANTS[name]
    without = frozenset({pb.CAPABILITY_OBSERVE}) if mutant.unseen else frozenset()
    return lambda: reference(mutant.configure(Config()), without=without, participant=mutant.participant_class)


@pytest.mark.parametrize("revision", [CURRENT, AMENDED, FORUM])
def test_the_reference_passes_all_that_are_for_its_filter_and_hash(revision: str) -> None:
    outcome = asked(revision=revision)
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) == outcome.count(Status.BROKEN) == 0
    assert outcome.exit_code == 0
    assert outcome.count(Status.PASS) > 300
    why = {reason.split()[0] for group in outcome.groups for reason in outcome.reasons(group)}
    assert why <= {"declares", "the"}
    assert set(outcome.groups) == {file["group"] for file in files() if revision in file["revisions"]}


def test_between_them_the_profiles_pass_every_vector() -> None:
    passed = set()
    for bloom, hash_profile in zip(PROFILES.values(), HASH_PROFILES.values(), strict=True):
        config = replace(Config(), bloom_profile=bloom)
        config = replace(config, repair=replace(config.repair, hash_profile=hash_profile))
        for revision in (CURRENT, AMENDED, FORUM):
            outcome = asked(lambda c=config: reference(c), SHORT, revision)  # type: ignore[misc]
            assert failures(outcome) == []
            passed |= {a.vector["id"] for a in outcome.answered if a.answer.status in (Status.PASS, Status.ACCEPTABLE)}
    left = {test["id"] for test in every_test()} - passed
    assert {name for name in left if not name.startswith("transcripts/")} == {
        f"hash-{profile}/one-empty" for profile in HASH_PROFILES
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", VARIANTS)
def test_legal_variants_pass(name: str) -> None:
    outcome = asked(partial(variant, name), revision=VARIANTS[name].revision or CURRENT)
    assert failures(outcome) == []
    assert VARIANTS[name].leaves_out or outcome.count(Status.WARN) == 0
    assert outcome.exit_code == 0


FAULTS = {
    "wire-encoding": "channel-twice-on-the-wire entry-id-in-field4 requests-in-one-entry",
    "message-kinds": "delivers-the-empty zero-is-unset logs-ephemerals",
    "lamport": """
        increases-lamport-by-two follows-the-clock-back keeps-clock-on-delivery sets-clock-back-on-delivery
        lamport-as-double undoes-the-sync-increase
    """,
    "log-order": "log-by-arrival ties-ignoring-case highest-hash-first lamport-as-text",
    "causal-history": "history-by-arrival",
    "bloom-build-waku-sds-js": "filter-omits-every-third sets-three-times-the-bits",
    "bloom-query-waku-sds-js": "ignores-filters",
    "hash-sha256-be64": "unseen-swaps-hash-arguments",
    "t-req": "t-req-modulo-one-more hashes-the-sender no-t-min",
    "t-resp": "t-resp-within-the-window t-resp-adds-distance-and-hash author-delays-response",
    "response-groups": "half-a-group outside-its-own-group one-group-more groups-of-a-hundred",
    "ack-reviews": """
        acknowledges-the-first acknowledges-after-one-filter-hit returns-to-unacknowledged
        unseen-starts-as-possibly-acknowledged
    """,
    "repair-buffers": "ignores-requests-of-others queues-the-unknown requests-postpone",
    "transcripts": """
        delivers-children-first own-last-among-equals rebroadcasts-the-acknowledged one-clock-for-all
        hints-of-requests-as-text never-requests answers-as-the-sender
    """,
}
"""By group of vectors: mutants that fail in it."""
FAULTS_OF_THE_PROPOSAL = {
    "wire-encoding": "writes-fields-of-sds lamport-in-field10 entries-as-messages channel-in-field8",
    "message-kinds": "refuses-empty-histories forum-zero-is-unset forum-loses-foreign-filters",
    "lamport": "starts-at-the-clock sends-the-time-when-ahead increases-by-own-messages-only forum-refuses-the-unmet",
    "log-order": "does-not-log-syncs drops-waiting-syncs forum-zero-is-unset forum-drops-everything",
    "causal-history": "forum-history-by-arrival entries-as-messages forum-ties-ignoring-case",
    "bloom-build-waku-sds-js": "forum-filter-omits-every-third",
    "bloom-query-waku-sds-js": "forum-ignores-filters forum-starts-as-possibly-acknowledged",
    "ack-reviews": "forum-any-message-acknowledges forum-unseen-does-not-buffer-outgoing forum-drops-everything",
    "transcripts": "capitalises-content keeps-syncs-out-of-the-filter does-not-log-syncs never-marks-as-lost",
}


@pytest.mark.parametrize(
    ("revision", "mutant", "group"),
    [
        (revision, mutant, group)
        for revision, faults in ((CURRENT, FAULTS), (FORUM, FAULTS_OF_THE_PROPOSAL))
        for group, names in faults.items()
        for mutant in names.split()
    ],
)
def test_mutants_are_found_in_the_group_of_their_fault(revision: str, mutant: str, group: str) -> None:
    outcome = asked(_mutant(mutant), [group], revision)
    assert group in failed_groups(outcome) or outcome.count(Status.WARN), mutant
    assert outcome.count(Status.ERROR) == 0
    violated = {r for a in outcome.answered if a.answer.status is Status.FAIL for r in a.answer.requirements}
    assert {requirement.startswith("FORUM-") for requirement in violated} <= {revision == FORUM}


def test_faults_of_sds_are_no_faults_of_the_proposal_and_the_other_way_round() -> None:
    assert failures(asked(_mutant("sync-moves-the-clock"), ["lamport"], FORUM)) == []
    assert failures(asked(_mutant("does-not-log-syncs"), ["log-order", "lamport"])) == []
    assert failures(asked(_mutant("starts-at-the-clock"), ["lamport"])) == []


# ---- decoding (no mutants) -------------------------------------------------------------------------------------------


def test_whoever_takes_anything_for_a_message_is_found() -> None:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == "decode" and reply.WhichOneof("answer") == "rejected":
            reply.decoded.message.sender_id = "bob"

    outcome = asked(lambda: altered(apply), ["wire-decoding"])
    invalid = [a for a in outcome.answered if a.vector["result"] == "invalid"]
    assert len(invalid) > 20
    assert {a.answer.status for a in invalid} == {Status.FAIL}


# ---- what is not declared, what breaks -------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", [CURRENT, FORUM])
@pytest.mark.parametrize("capability", sorted(ALL_CAPABILITIES)[::2], ids=SDS.name_of)
def test_what_is_not_declared_is_skipped_and_no_pass(capability: int, revision: str) -> None:
    outcome = asked(lambda: reference(without=[capability]), revision=revision)
    assert failures(outcome) == []
    assert outcome.exit_code == 0


def test_without_a_state_the_wire_tells() -> None:
    outcome = asked(lambda: reference(without=[pb.CAPABILITY_OBSERVE]))
    for group in ("lamport", "log-order", "causal-history", "message-kinds", "ack-reviews", "transcripts"):
        assert outcome.count(Status.PASS, group) > 10, group
    assert failures(outcome) == []


def test_who_breaks_is_asked_again_and_then_left_alone() -> None:
    def once(request: pb.Request, reply: pb.Reply) -> None:
        if request.decode.wire == b"":
            raise RuntimeError("the log is inside out")

    outcome = asked(lambda: altered(lambda q, r: once(q, r) if q.HasField("decode") else None), ["wire-decoding"])
    assert [a.vector["id"] for a in outcome.answered if a.answer.status is Status.BROKEN] == ["wire-decoding/no-bytes"]
    assert (outcome.exit_code, outcome.unasked_count) == (1, 0)

    def always(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("decode"):
            raise RuntimeError("the log is inside out")

    outcome = asked(lambda: altered(always), ["wire-decoding"])
    assert outcome.count(Status.BROKEN) == len(outcome.answered) == 4
    assert outcome.unasked_count > 100
    assert outcome.exit_code == 3


def test_what_is_expected_is_never_sent() -> None:
    """The request for a filter, a hash or a time contains nothing of the outcome."""
    said: list[bytes] = []

    class ListeningLink(LocalLink):
        def call(self, request: pb.Request, timeout_s: float, reply: type[pb.Reply]) -> pb.Reply:
            said.append(request.SerializeToString())
            answer: pb.Reply = super().call(request, timeout_s, reply)
            return answer

    examiner = VectorExaminer(MATERIAL, lambda _: ListeningLink(reference()), Limits(), CURRENT)
    chosen = [file for file in files() if file["group"] in ("bloom-build-waku-sds-js", "wire-encoding")]
    examiner.examine(chosen)
    heard = b"".join(said)
    for test in (test for file in chosen for test in file["tests"]):
        for outcome in test["outcomes"]:
            expected = bytes.fromhex(outcome.get("bloom_filter", outcome.get("wire", "")))
            assert not expected or expected not in heard, test["id"]


def test_a_dialect_is_translated() -> None:
    outcome = asked(
        lambda: reference(dialect="nim-sds"), ["wire-decoding", "wire-encoding", "message-kinds"], dialect="nim-sds"
    )
    assert failed_groups(outcome) <= {"wire-decoding"}
    assert outcome.count(Status.PASS) > 100


def test_a_private_layout_that_is_not_translated_is_one_difference_of_all_transcripts() -> None:
    outcome = asked(lambda: reference(dialect="nim-sds"), ["transcripts"], dialect="")
    (cause,) = wrong(outcome)
    assert {one.answer.difference for one in cause.answered} == {"the layout of messages (SDS-MSG-01)"}
    assert len(cause.answered) == outcome.count(Status.FAIL) == len(outcome.answered)


def test_a_difference_that_many_share_is_reported_once() -> None:
    """An empty repair request is wrong in most messages, and hardly one of them is about it."""

    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("encode") and not request.encode.message.repair_request:
            reply.encoded.wire += b"\x6a\x00"

    outcome = asked(lambda: altered(apply), ["wire-encoding"])
    (cause,) = wrong(outcome)
    assert {one.answer.difference for one in cause.answered} == {
        "an empty repair_request (field 13), which must be unset"
    }
    assert len(cause.answered) == outcome.count(Status.FAIL) > 20


def wrong(outcome: Examination) -> list[WrongAnswers]:
    """The root causes of its wrong answers."""
    return [one for one in causes_of(RULES, outcome.answered) if one.verdict is Verdict.FAIL]
