"""Transcripts: scenarios as steps that anybody can play, outcomes that do not depend on who does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from run_helpers import reference
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.register import SCENARIOS
from sds_conformance.protocols.sds.vectors.conversations.recording import (
    NotRecordableError,
    record,
)
from sds_conformance.protocols.sds.vectors.running.conversations import ask_transcript
from sds_conformance.protocols.sds.vectors.running.subject import SdsSubject
from sds_conformance.protocols.sds.vectors.transcripts import COMMENTS, OF_THE_PROPOSAL
from sds_conformance.vectors.running.subject import Status, VectorResult, VectorSkippedError
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.language import open_session
from sds_proto.testee.v1 import testee_pb2 as pb
from vector_folders import files

FORUM = "forum-2024"


def _of(revision: str) -> dict[str, dict[str, Any]]:
    chosen = [file for file in files() if file["shape"] == "transcript" and revision in file["revisions"]]
    return {test["scenario"]: test for file in chosen for test in file["tests"]}


TRANSCRIPTS = _of(CURRENT)


def test_only_a_scenario_with_a_new_summary_has_its_old_one_as_a_comment() -> None:
    assert set(COMMENTS) <= set(TRANSCRIPTS) | set(_of(FORUM))
    assert [name for name, comment in COMMENTS.items() if comment == SCENARIOS[name].summary] == []


def _told(name: str, revision: str = CURRENT) -> dict[str, Any]:
    return record(SCENARIOS[name], revision)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own-filter-comes-back", "several participants"),
        ("the-unnamed-channel", "has no name"),
        ("waiting-for-an-own-message", "chooses IDs"),
        ("own-messages-come-back", "returns own messages"),
    ],
)
def test_what_cannot_be_reported_as_one_says_why(name: str, why: str) -> None:
    with pytest.raises(NotRecordableError, match=why):
        _told(name)


def test_every_conversation_of_the_proposal_is_reported_by_numbers() -> None:
    of_the_proposal = _of(FORUM)
    assert set(of_the_proposal) == {name for names in OF_THE_PROPOSAL.values() for name in names}
    timestamps = re.findall(r'"lamport_timestamp": "([^"]+)"', json.dumps(of_the_proposal))
    assert len(timestamps) > 500
    assert all(text.isdigit() and int(text) < 2**31 for text in timestamps)


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
    assert answer.reason == "the transcript does not list this outcome, which violates no requirement"
    assert answer.seen.startswith("step 1 (receive): ")


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
