"""Holders in several response groups."""

from __future__ import annotations

from sds_harness.sds.peer import signed
from sds_harness.stage import ScheduleStopped
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Message

from ..cast import Actor, Stage, scenario
from .repairing import repairing, t_min
from .responding import ask, holding, wait_out

MANY_GROUPS = (2, 3, 4, 7, 8, 128)


def grouped(stage: Stage, groups: int) -> Actor:
    """A participant in a channel of several response groups."""
    return repairing(
        stage, configuration=pb.Configuration(num_response_groups=groups), instance=f"{groups} response groups"
    )


def of_many(stage: Stage, actor: Actor, number: int) -> list[Message]:
    """Messages of many authors, one of each."""
    return [holding(stage, actor, 1, f"author-{count}")[0] for count in range(number)]


@scenario("R-GROUP-02")
def authors_in_many_groups(stage: Stage) -> None:
    """However many response groups there are, a participant is asked for messages of its own."""
    for groups in MANY_GROUPS:
        alice = grouped(stage, groups)
        own = [alice.send() for _ in range(8)]
        alice.receive(stage.peer("bob").content(stage.now_ms, *signed(*own), message_id=f"acknowledges-{groups}"))
        ask(stage, stage.peer("carol"), alice, *own)
        wait_out(stage, alice)


@scenario("R-GLOBAL-05", "R-GROUP-01")
def members_and_outsiders(stage: Stage) -> None:
    """Participants in channels of two to eight response groups are asked for messages of ten authors."""
    for groups in MANY_GROUPS[:-1]:
        alice = grouped(stage, groups)
        ask(stage, stage.peer("carol"), alice, *of_many(stage, alice, 10))
        alice.observe()
        wait_out(stage, alice)


@scenario("R-GLOBAL-05")
def three_ask_two_groups(stage: Stage) -> None:
    """With two response groups, three participants ask one after the other for the same messages of ten authors."""
    alice = grouped(stage, 2)
    messages = of_many(stage, alice, 10)
    for name in ("carol", "dave", "erin"):
        ask(stage, stage.peer(name), alice, *messages)
        wait_out(stage, alice)
        stage.advance(t_min(alice))


@scenario("R-RECV-11", "R-GROUP-01", long=True)
def a_share_of_many(stage: Stage) -> None:
    """Participants in channels of many response groups are asked for messages of a hundred authors, and their own."""
    for groups in (2, 4, 7, 128):
        alice = grouped(stage, groups)
        own = alice.send()
        alice.receive(stage.peer("bob").content(stage.now_ms, *signed(own), message_id=f"acknowledges-{groups}"))
        ask(stage, stage.peer("carol"), alice, own)
        alice.tick()  # who answers for nothing shows nothing about groups
        messages = of_many(stage, alice, 100)
        for start in (0, 50):
            ask(stage, stage.peer("carol"), alice, *messages[start : start + 50])
            wait_out(stage, alice)


@scenario("R-GROUP-04")
def one_group_for_all(stage: Stage) -> None:
    """With one response group, or none, twelve messages are asked for three times, each time in another order."""
    for groups in (1, 0, -3):
        try:
            alice = grouped(stage, groups)
        except ScheduleStopped:
            continue  # refusing none is legal (AMB-10)
        messages = of_many(stage, alice, 12)
        for name, step in (("carol", 1), ("dave", 5), ("erin", 7)):
            asked = [messages[number * step % 12] for number in range(12)]
            ask(stage, stage.peer(name), alice, *asked)
            wait_out(stage, alice)
            stage.advance(t_min(alice))


@scenario("R-GLOBAL-06", "R-GLOBAL-07")
def groups_from_the_number_of_participants(stage: Stage) -> None:
    """The number of response groups is left to be derived from that of the participants."""
    stage.need(pb.CAPABILITY_SDS_R)
    for participants in (1, 2, 127, 128, 129, 255, 256, 1000):
        asked = pb.Configuration(sds_r=True, num_participants=participants)
        try:
            actor = stage.open(configuration=asked, instance=f"{participants} participants")
        except ScheduleStopped:
            continue  # that it has nothing for so few says nothing of more
        if not actor.party.in_force.HasField("num_participants"):
            raise ScheduleStopped("the number of response groups is not derived from that of the participants")
