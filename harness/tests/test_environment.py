"""An environment changes one condition. A schedule has the same meaning in every environment."""

from __future__ import annotations

import pytest

from sds_harness.link import Limits, LocalLink
from sds_harness.sds.actor import Actor
from sds_harness.sds.environments import ENVIRONMENTS
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Step
from sds_reference.testee import server


def stage_in(name: str) -> Stage:
    handle = server.Testee(server.TesteeOptions("1")).handle
    session = open_session(lambda: LocalLink(handle), Limits(), "sds-2026-01")
    return Stage(session, "a schedule", environment=ENVIRONMENTS[name])


def short_story(stage: Stage) -> Actor:
    alice, bob = stage.open(), stage.peer("bob")
    alice.receive(bob.content(stage.now_ms))
    alice.send()
    alice.send(channel_id="c1")
    alice.observe()
    alice.tick()
    return alice


def channel_of(step: Step) -> str:
    """The channel that a command names; "" for none."""
    message = step.received.message if step.command == "receive" else None
    return message.channel_id if message is not None else step.channel_id


def in_main_channel(stage: Stage) -> list[Step]:
    return [s for s in stage.trace.steps if channel_of(s) in ("", stage.label("c1"))]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_schedule_does_the_same_commands_in_every_environment(name: str) -> None:
    stage, plain = stage_in(name), stage_in("plain")
    short_story(stage)
    short_story(plain)
    assert [s.command for s in in_main_channel(stage)] == [s.command for s in plain.trace.steps]
    assert {step.answer for step in stage.trace.steps} <= {"opened", "effects", "state"}
    assert stage.trace.environment == name
