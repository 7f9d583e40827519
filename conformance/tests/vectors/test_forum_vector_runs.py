"""The vectors of the proposal of 2024, asked: what it leaves open passes, and mutants are found in their group."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from run_helpers import Handle, altered, reference, variant
from sds_conformance.vectors.running.subject import Status
from sds_harness.sds.language import SDS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from vector_folders import asked, failed_groups, failures, files

FORUM = FORUM_2024.name


def _mutant(name: str) -> Callable[[], Handle]:
    mutant = MUTANTS[name]
    without = frozenset({pb.CAPABILITY_OBSERVE}) if mutant.unseen else frozenset()
    return lambda: reference(mutant.configure(Config()), without=without, participant=mutant.participant_class)


# ---- What is legal ---------------------------------------------------------------------------------------------------


def test_the_reference_passes_all_that_are_for_its_filter() -> None:
    outcome = asked(revision=FORUM)
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) == outcome.count(Status.ACCEPTABLE) == 0
    assert outcome.exit_code == 0
    assert outcome.count(Status.PASS) > 300
    assert {reason.split()[0] for group in outcome.groups for reason in outcome.reasons(group)} == {"declares"}
    assert set(outcome.groups) == {file["group"] for file in files() if FORUM in file["revisions"]}


@pytest.mark.parametrize(("without", "every"), [((), 3), ((pb.CAPABILITY_OBSERVE, pb.CAPABILITY_DELIVERED), 4)])
def test_legal_variants_pass(without: tuple[int, ...], every: int) -> None:
    for name in [name for name, known in VARIANTS.items() if known.revision == FORUM][::every]:
        outcome = asked(partial(variant, name, without=without), revision=FORUM)
        assert failures(outcome) == [], name
        assert outcome.count(Status.WARN) == 0, name
        assert outcome.exit_code == 0, name


@pytest.mark.parametrize(
    "capability",
    [pb.CAPABILITY_OBSERVE, pb.CAPABILITY_SYNC, pb.CAPABILITY_MESSAGE_CODEC, pb.CAPABILITY_VIRTUAL_CLOCK],
    ids=SDS.name_of,
)
def test_what_is_not_declared_is_skipped(capability: int) -> None:
    outcome = asked(lambda: reference(without=[capability]), revision=FORUM)
    assert failures(outcome) == []
    assert outcome.count(Status.PASS) > 100


def test_a_deviation_that_is_only_reported_is_no_failure() -> None:
    """An implementation that sends its ties logs own sync messages that no vector has."""
    assert failures(asked(_mutant("announces-ties"), revision=FORUM)) == []


def test_timestamps_below_zero_cannot_be_reported_and_may_be_taken() -> None:
    def taken(request: pb.Request, reply: pb.Reply) -> None:
        if (
            request.HasField("decode")
            and reply.HasField("rejected")
            and "Lamport timestamp of -" in reply.rejected.reason
        ):
            message = reply.decoded.message
            message.sender_id, message.message_id, message.channel_id = "bob", "b1", "c1"
            message.lamport_timestamp, message.content = 2**64 - 1, b"hi"

    outcome = asked(lambda: altered(taken), ["wire-decoding"], FORUM)
    assert failures(outcome) == []
    assert outcome.count(Status.ACCEPTABLE) == 5


# ---- What is not -----------------------------------------------------------------------------------------------------

FOUND = {
    "wire-encoding": (
        "writes-fields-of-sds",
        "lamport-in-field10",
        "entries-as-messages",
        "channel-in-field8",
    ),
    "message-kinds": ("refuses-empty-histories", "forum-zero-is-unset", "forum-loses-foreign-filters"),
    "lamport": (
        "starts-at-the-clock",
        "sends-the-time-when-ahead",
        "increases-every-other-message",
        "increases-by-own-messages-only",
    ),
    "log-order": (
        "does-not-log-syncs",
        "drops-waiting-syncs",
        "forum-zero-is-unset",
        "forum-buffer-of-one",
    ),
    "causal-history": ("forum-history-by-arrival", "entries-as-messages", "forum-ties-ignoring-case"),
    "bloom-build-waku-sds-js": ("forum-filter-omits-every-third",),
    "bloom-query-waku-sds-js": ("forum-ignores-filters", "forum-starts-as-possibly-acknowledged"),
    "ack-reviews": (
        "forum-any-message-acknowledges",
        "forum-keeps-acknowledged-outgoing",
        "forum-does-not-buffer-outgoing",
        "forum-unseen-does-not-buffer-outgoing",
    ),
    "transcripts": (
        "capitalises-content",
        "keeps-syncs-out-of-the-filter",
        "does-not-log-syncs",
        "never-marks-as-lost",
    ),
}
"""By group: mutants that are found there."""

EVERYWHERE = ("forum-refuses-the-unmet", "forum-drops-everything")
"""An implementation that accepts nothing, or nothing that must wait, has empty answers for vectors of most groups."""


@pytest.mark.parametrize("mutant", EVERYWHERE)
def test_who_takes_nothing_fails_in_several_groups(mutant: str) -> None:
    groups = ["lamport", "log-order", "ack-reviews"]
    assert failed_groups(asked(_mutant(mutant), groups, FORUM)) == set(groups)


@pytest.mark.parametrize(("group", "mutant"), [(group, mutant) for group, names in FOUND.items() for mutant in names])
def test_mutants_are_found_in_the_group_of_their_fault(group: str, mutant: str) -> None:
    outcome = asked(_mutant(mutant), [group], FORUM)
    assert failed_groups(outcome) == {group}
    assert outcome.count(Status.ERROR) == outcome.count(Status.BROKEN) == 0
    output = {r for a in outcome.answered if a.answer.status is Status.FAIL for r in a.answer.requirements}
    assert all(requirement.startswith("FORUM-") for requirement in output)


def test_a_sync_message_that_counts_is_a_warning() -> None:
    outcome = asked(_mutant("sync-increases-the-timestamp"), ["lamport"], FORUM)
    assert outcome.count(Status.WARN) == 4
    assert outcome.exit_code == 0


def test_faults_of_sds_are_none_of_the_proposal_and_the_other_way_round() -> None:
    assert failures(asked(_mutant("sync-moves-the-clock"), ["lamport"], FORUM)) == []
    assert failures(asked(_mutant("does-not-log-syncs"), ["log-order", "lamport"])) == []
    assert failures(asked(_mutant("starts-at-the-clock"), ["lamport"])) == []
