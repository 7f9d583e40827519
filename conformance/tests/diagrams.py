"""Helpers for tests of diagrams and proofs: group traces, and diagrams that are read back as XML."""

from __future__ import annotations

import random
from xml.etree import ElementTree

from player_helpers import reference, shown
from sds_harness.sds import operations
from sds_harness.sds.group_trace import Act, GroupTrace
from sds_harness.sds.operations import Member, Operation, Route
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Kind, decode

SVG = "{http://www.w3.org/2000/svg}"
NOT_BOB = Route(lost=("bob",))
EIGHT = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi")


def impatient(request: pb.Request, reply: pb.Reply) -> None:
    """Content is delivered as soon as it arrives, whatever it depends on."""
    if request.WhichOneof("command") != "receive" or reply.WhichOneof("answer") != "effects":
        return
    message = decode(request.receive.wire)
    if message.kind is Kind.CONTENT and not any(event.HasField("delivered") for event in reply.effects.events):
        event = reply.effects.events.add(channel_id=message.channel_id)
        event.delivered.message_id, event.delivered.content = message.message_id, message.content or b""


CAUSES: tuple[Operation, ...] = (
    operations.Send("alice", "m1", route=NOT_BOB),
    operations.Wait(10),
    operations.Send("carol", "m2"),
    operations.Look(),
)
"""bob gets m2 and not m1, on which it depends."""


def unordered() -> tuple[GroupTrace, Act]:
    """An implementation that delivers m2 before m1, and the step where it does."""
    group_trace = shown(*CAUSES, handle=reference(impatient))
    return group_trace, arrival(group_trace, "bob")


def arrival(group_trace: GroupTrace, who: str, number: int = 0) -> Act:
    return [act for act in group_trace.acts if act.who == who and act.step.command == "receive"][number]


def crowd() -> GroupTrace:
    """Eight participants and 60 messages on bad links, with a partition, a crash and a scripted peer."""
    chance = random.Random(3)
    steps: list[Operation] = [operations.Links(loss_percent=12, duplicate_percent=5, delay_ms=(0, 40))]
    for number in range(60):
        if number == 20:
            steps.append(operations.Cut(EIGHT[:3], EIGHT[3:]))
        if number == 30:
            steps += [operations.Heal(), operations.Say("xavier", "x1", after=("m1", "zz"))]
        if number == 50:
            steps.append(operations.Crash("heidi"))
        who = chance.choice(EIGHT[:-1])
        steps.append(operations.Send(who, f"m{number + 1}"))
        if number % 7 == 0:
            steps += [operations.Sync(who), operations.Ephemeral(who)]
        steps.append(operations.Wait(chance.choice([1, 50, 900, 16_000])))
    steps += [operations.Calm(rounds=8, store=True), operations.Look()]
    members = tuple(Member(name, clock_ms=300 if name == "carol" else 0) for name in EIGHT)
    return shown(*steps, members=members, configuration=(("sds_r", True),), seed=5)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def of_class(svg: ElementTree.Element, *classes: str) -> list[ElementTree.Element]:
    """Elements of all these classes, without those of the legend."""
    legend = {id(child) for group in svg.iter(f"{SVG}g") if group.get("class") == "legend" for child in group.iter()}
    return [e for e in svg.iter() if id(e) not in legend and set(classes) <= set((e.get("class") or "").split())]


def texts(svg: ElementTree.Element, css: str = "") -> list[str]:
    """The text, or the text in one class."""
    return [e.text or "" for e in svg.iter(f"{SVG}text") if not css or e.get("class") == css]
