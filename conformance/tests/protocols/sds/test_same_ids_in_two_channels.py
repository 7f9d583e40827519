"""IDs are unique within a channel at least; an equal ID in two channels must not confuse implementations or checks."""

from __future__ import annotations

from run_helpers import CHECKS_OF_SDS, T, outcomes, reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.core.acknowledgement import channels_are_isolated
from sds_conformance.protocols.sds.checks.core.message import channels_do_not_mix, delivered_in_its_channel
from sds_harness.sds.stage import Stage

HELD = {Outcome.HELD}


def the_same_script_in_both() -> Stage:
    """In two channels a participant sends messages of the same IDs, and bob names them in the one and the other."""
    on = stage()
    alice = on.open(channels=("c1", "c2"))
    for channel in ("c1", "c2"):
        alice.send(channel_id=channel, message_id="one")
        alice.send(channel_id=channel, message_id="two")
    for channel in ("c2", "c1"):
        alice.receive(on.peer("bob", channel).content(T + 5, "one", message_id="bobs"))
        alice.observe(channel_id=channel)
        alice.send(channel_id=channel, message_id="three")
    return on


def test_what_happens_in_one_channel_is_not_held_against_the_other() -> None:
    on = the_same_script_in_both()
    against = {
        requirement
        for channel in ("c1", "c2")
        for requirement, checks in CHECKS_OF_SDS.items()
        for check in checks
        if Outcome.VIOLATED in outcomes(check.function, view(on, channel=channel))
    }
    assert against == set()
    assert outcomes(channels_are_isolated, view(on, channel="c1")) == HELD
    assert outcomes(channels_do_not_mix, view(on, channel="c1")) == HELD


def test_a_message_that_waits_in_one_channel_may_be_delivered_while_its_namesake_arrives_in_the_other() -> None:
    """Waiting messages of all channels are swept when anything arrives."""
    on = stage(reference())
    alice = on.open(channels=("c1", "c2"))
    in_c1, in_c2 = on.peer("bob", "c1"), on.peer("bob", "c2")
    alice.receive(in_c1.content(T + 2, "root", message_id="same"))
    step = alice.receive(in_c2.content(T + 3, message_id="same"))
    assert step.reply is not None
    event = step.reply.effects.events.add(channel_id="c1")
    event.delivered.message_id = "same"
    assert outcomes(delivered_in_its_channel, view(on, channel="c1")) == HELD
