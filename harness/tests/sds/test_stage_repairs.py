"""SDS-R on a stage and in scripted peers: which participants use it, equal names, and requests."""

from __future__ import annotations

import pytest

from sds_harness.link import Limits, LocalLink
from sds_harness.sds.environments import ENVIRONMENTS
from sds_harness.sds.language import open_session
from sds_harness.sds.peer import Dependency, ScriptedPeer, history, signed
from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry, Kind, Message, decode, encode
from sds_reference.testee import server


def stage_in(environment: str = "plain", *without: int) -> Stage:
    handle = server.Testee(server.TesteeOptions("1", without=frozenset(without))).handle
    session = open_session(lambda: LocalLink(handle), Limits(), "sds-2026-01")
    return Stage(session, "a schedule", environment=ENVIRONMENTS[environment])


# ---- Who uses SDS-R --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("environment", "expected"), [("plain", False), ("unsteady-clock", False), ("sds-r", True)])
def test_the_environment_says_whether_sds_r_is_used(environment: str, expected: bool) -> None:
    party = stage_in(environment).open().party
    assert party.asked.HasField("sds_r")
    assert (party.asked.sds_r, party.in_force.sds_r) == (expected, expected)


@pytest.mark.parametrize("environment", ["plain", "sds-r"])
@pytest.mark.parametrize("wanted", [True, False])
def test_a_schedule_that_says_whether_it_is_used_has_the_last_word(environment: str, wanted: bool) -> None:
    party = stage_in(environment).open(configuration=pb.Configuration(sds_r=wanted, t_max_ms=60_000)).party
    assert (party.asked.sds_r, party.asked.t_max_ms, party.asked.sync_interval_ms) == (wanted, 60_000, 0)
    assert party.in_force.sds_r is wanted


@pytest.mark.parametrize("environment", ["plain", "sds-r"])
def test_who_does_not_declare_it_is_never_asked_about_it(environment: str) -> None:
    stage = stage_in(environment, pb.CAPABILITY_SDS_R)
    party = stage.open().party
    assert not party.asked.HasField("sds_r")
    assert not stage.trace.steps[0].request.open.configuration.HasField("sds_r")
    assert not party.in_force.sds_r


# ---- Several of one name ---------------------------------------------------------------------------------------------


def test_participants_of_one_name_are_told_apart_by_the_instance_and_only_here() -> None:
    stage = stage_in()
    first, second = stage.open("alice"), stage.open("alice", instance="an hour later")
    assert list(stage.trace.parties) == ["alice", "alice (an hour later)"]
    assert [actor.name for actor in (first, second)] == list(stage.trace.parties)
    assert [party.participant_id for party in stage.trace.parties.values()] == ["alice", "alice"]
    assert first.party.handle != second.party.handle
    opened = [step for step in stage.trace.steps if step.command == "open"]
    assert [step.request.open.participant_id for step in opened] == ["alice", "alice"]
    assert [step.participant for step in opened] == list(stage.trace.parties)


def test_each_instance_has_its_own_steps_and_its_own_state() -> None:
    stage = stage_in()
    first, second = stage.open("alice"), stage.open("alice", instance="again")
    sent = second.send()
    assert sent.sender_id == "alice"
    assert [step.command for step in stage.trace.of("alice")] == ["open"]
    assert [step.command for step in stage.trace.of("alice (again)")] == ["open", "send"]
    states = [actor.observe() for actor in (first, second)]
    assert [len(state.log.entries) for state in states if state is not None] == [0, 1]


def test_an_instance_is_told_apart_where_names_are_of_all_scripts_too() -> None:
    stage = stage_in("all-scripts")
    actor = stage.open("alice", instance="again")
    assert actor.party.participant_id == stage.label("alice") != "alice"
    assert actor.name == f"{stage.label('alice')} (again)"


# ---- Scripted peers --------------------------------------------------------------------------------------------------


def test_entries_are_signed_with_the_sender_of_each_message() -> None:
    bob, carol = ScriptedPeer("bob", "c1"), ScriptedPeer("carol", "c1")
    messages = bob.content(START_MS), carol.sync(START_MS)
    assert signed(*messages) == (
        HistoryEntry("bob-1", None, "bob"),
        HistoryEntry("sync-carol-1", None, "carol"),
    )
    assert signed() == ()


def test_a_history_of_anything_is_unsigned_unless_the_entries_are_ready() -> None:
    bob = ScriptedPeer("bob", "c1")
    ready = HistoryEntry("ready", b"hint", "zoe")
    assert history(["an-id", bob.content(START_MS), ready]) == (HistoryEntry("an-id"), HistoryEntry("bob-1"), ready)


@pytest.mark.parametrize("kind", [Kind.CONTENT, Kind.SYNC])
def test_a_peer_asks_in_content_and_in_sync_messages(kind: Kind) -> None:
    bob = ScriptedPeer("bob", "c1")
    lost = bob.content(START_MS)
    wanted: list[Dependency] = [*signed(lost), "unknown"]
    say = bob.content if kind is Kind.CONTENT else bob.sync
    message: Message = say(START_MS + 1, lost, requests=wanted)
    assert message.kind is kind
    assert message.causal_history == (HistoryEntry("bob-1"),)
    assert message.repair_request == (HistoryEntry("bob-1", None, "bob"), HistoryEntry("unknown"))
    assert decode(encode(message)) == message


def test_a_peer_asks_for_nothing_unless_told_to() -> None:
    bob = ScriptedPeer("bob", "c1")
    assert [m.repair_request for m in (bob.content(START_MS), bob.sync(START_MS), bob.ephemeral(b"x"))] == [()] * 3
