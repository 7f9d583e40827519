"""Transcripts: scenarios as steps that anybody can play, outcomes that do not depend on who does."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import pytest

from run_helpers import reference, stage
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_conformance.protocols.sds.vectors.conversations.outcomes import add_outcomes
from sds_conformance.protocols.sds.vectors.conversations.recording import (
    NotRecordableError,
    record,
)
from sds_conformance.protocols.sds.vectors.conversations.transcript_player import (
    UNREAD,
    StepNotPlayedError,
    TranscriptPlayer,
    matches_outcome,
    without_events,
)
from sds_conformance.protocols.sds.vectors.running.conversations import ask_transcript
from sds_conformance.protocols.sds.vectors.running.subject import SdsSubject
from sds_conformance.protocols.sds.vectors.transcripts import EDITIONS, OF_THE_PROPOSAL, transcripts
from sds_conformance.vectors.running.subject import Status, VectorResult, VectorSkippedError
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import REVISIONS
from vector_folders import files

FORUM = "forum-2024"


def _of(revision: str) -> dict[str, dict[str, Any]]:
    chosen = [file for file in files() if file["shape"] == "transcript" and revision in file["revisions"]]
    return {test["scenario"]: test for file in chosen for test in file["tests"]}


TRANSCRIPTS = _of(CURRENT)


def _told(name: str, revision: str = CURRENT) -> dict[str, Any]:
    return record(SCENARIOS[name], revision)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own-filter-comes-back", "several participants"),
        ("the-unnamed-channel", "has no name"),
        ("waiting-for-an-own-message", "chooses IDs"),
        ("own-messages-come-back", "own messages are received"),
    ],
)
def test_what_cannot_be_reported_as_one_says_why(name: str, why: str) -> None:
    with pytest.raises(NotRecordableError, match=why):
        _told(name)


def test_variants_add_outcomes_where_the_text_leaves_a_choice() -> None:
    fields = _told("a-chain-in-reverse")
    add_outcomes(fields, CURRENT)
    assert fields["steps"] == TRANSCRIPTS["a-chain-in-reverse"]["steps"]
    assert [len(step["outcomes"]) for step in fields["steps"]] == [3, 4, 2, 2, 1, 5, 3, 2, 1, 3]


def test_every_conversation_of_the_proposal_is_reported_by_numbers() -> None:
    of_the_proposal = _of(FORUM)
    assert set(of_the_proposal) == {name for names in OF_THE_PROPOSAL.values() for name in names}
    timestamps = re.findall(r'"lamport_timestamp": "([^"]+)"', json.dumps(of_the_proposal))
    assert len(timestamps) > 500
    assert all(text.isdigit() and int(text) < 2**31 for text in timestamps)


def test_own_sync_messages_have_a_name_where_they_are_logged_and_every_order_of_a_tie_is_listed() -> None:
    steps = _of(FORUM)["counting-from-zero"]["steps"]
    syncs = [step for step in steps if step["do"] == "sync"]
    assert [step["binds"] for step in syncs] == ["$s5", "$s6"]
    last = [step for step in steps if step["do"] == "send"][-1]
    named = {
        frozenset(entry["message_id"] for entry in outcome["broadcasts"][0]["causal_history"])
        for outcome in last["outcomes"]
    }
    assert named == {frozenset(two) for two in combinations(("$m4", "$s5", "$s6"), 2)}
    assert "binds" not in next(step for step in _told("syncs-between-syncs")["steps"] if step["do"] == "sync")


# ---- comparing -------------------------------------------------------------------------------------------------------


def test_what_is_not_shown_is_not_held_against_anybody() -> None:
    outcome = {"state": {"log": [], "incoming": ["x"]}}
    assert matches_outcome({"state": {"log": []}}, outcome)
    assert not matches_outcome({"state": {"incoming": []}}, outcome)
    assert matches_outcome({"broadcasts": [{"filter_over": UNREAD}]}, {"broadcasts": [{"filter_over": ["x"]}]})
    assert not matches_outcome({"broadcasts": [{"filter_over": UNREAD}]}, {"broadcasts": [{}]})
    assert not matches_outcome({"rejected": True}, {})
    assert not matches_outcome({}, {"broadcasts": [{}]})


def test_signals_that_are_not_given_are_left_out() -> None:
    outcome = {"broadcasts": [{}], "events": [{"delivered": "x", "content": ""}, {"missing": ["y"]}]}
    assert without_events(outcome, {"missing"})["events"] == [{"delivered": "x", "content": ""}]
    assert without_events(outcome, {"missing", "delivered"}) == {"broadcasts": [{}]}
    assert without_events({"rejected": True}, {"missing"}) == {"rejected": True}


# ---- asking ----------------------------------------------------------------------------------------------------------


def _asked(transcript: dict[str, Any], **options: Any) -> VectorResult:
    session = open_session(lambda: LocalLink(reference(**options)), Limits(), CURRENT)
    return ask_transcript(SdsSubject(session, CURRENT), transcript)


def test_an_outcome_that_is_not_listed_is_judged_by_the_checks() -> None:
    transcript = TRANSCRIPTS["a-chain-in-reverse"]
    assert _asked(transcript).status is Status.PASS
    emptied = {**transcript, "steps": [{**step, "outcomes": [{"rejected": True}]} for step in transcript["steps"]]}
    answer = _asked(emptied)
    assert answer.status is Status.ACCEPTABLE
    assert answer.reason == "not listed, no requirement violated"
    assert answer.seen.startswith("step 1 (receive): ")


def test_another_listed_outcome_is_acceptable() -> None:
    transcript = TRANSCRIPTS["a-chain-in-reverse"]
    turned = {**transcript, "steps": [{**s, "outcomes": s["outcomes"][::-1]} for s in transcript["steps"]]}
    assert _asked(turned).reason == "another listed outcome"


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("two-channels", pb.CAPABILITY_CHANNELS),
        ("nothing-to-ask-for", pb.CAPABILITY_SDS_R),
        ("own-ephemerals", pb.CAPABILITY_EPHEMERAL),
        ("ties", pb.CAPABILITY_VIRTUAL_CLOCK),
    ],
)
def test_what_a_transcript_needs_and_is_not_declared_is_named(name: str, lacking: int) -> None:
    with pytest.raises(VectorSkippedError, match="needs the capability"):
        _asked(TRANSCRIPTS[name], without=[lacking])


def test_a_need_that_nobody_knows_and_a_message_that_was_never_sent() -> None:
    transcript = TRANSCRIPTS["ties"]
    with pytest.raises(VectorSkippedError, match="needs the capability wings"):
        _asked({**transcript, "needs": ["wings"]})
    step = {"at_ms": 0, "do": "receive", "outcomes": [{}]}
    message = {"sender_id": "b", "message_id": "$m9", "channel_id": "c1", "causal_history": [], "repair_request": []}
    with pytest.raises(StepNotPlayedError, match="never sent"):
        list(TranscriptPlayer(stage(), {**transcript, "steps": [{**step, "message": message}]}).play())


def test_the_edition_of_a_scenario_is_in_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EDITIONS, "ties", 2)
    ids = {vector["id"] for vector in transcripts(REVISIONS[FORUM])}
    assert "ties-2" in ids
    assert "ties" not in ids
