"""Text of stories and proofs: stored snapshots, read by eye once, and names that are the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from diagrams import CAUSES, NOT_BOB, arrival, parsed, texts, unordered
from player_helpers import message, shown
from sds_conformance.drawing import proof as module
from sds_conformance.drawing.proof import proof, story
from sds_conformance.drawing.spacetime import spacetime_svg
from sds_harness.sds import operations as ops
from sds_harness.sds.group_trace import Act, GroupTrace
from sds_harness.sds.operations import Member, Route

Told = tuple[GroupTrace, Act, str, str]
"""A group trace, the violating step, and what was expected and seen there."""


def ids(group_trace: GroupTrace, *labels: str) -> str:
    return " and ".join(repr(message(group_trace, label).message_id) for label in labels)


def cause_that_was_not_waited_for() -> Told:
    group_trace, act = unordered()
    return (
        group_trace,
        act,
        f"{ids(group_trace, 'm1')} delivered before {ids(group_trace, 'm2')}, which names it",
        "after it",
    )


def acknowledgements_copies_and_messages_that_wait() -> Told:
    group_trace = shown(*CAUSES, ops.Wait(30_000), ops.Tick("carol"), ops.Sync("alice"))
    return group_trace, group_trace.acts[-1], f"something of {ids(group_trace, 'm1')}", ids(group_trace, "m2")


def copies_that_did_not_arrive() -> Told:
    group_trace = shown(
        ops.Cut(("alice",), ("bob",)),
        ops.Send("alice", "m1", route=Route(lost=("carol",))),
        ops.Heal(),
        ops.Send("alice", "m2", route=Route(late=(("bob", 50),))),
        ops.Crash("bob"),
        ops.Wait(100),
    )
    act = next(act for act in group_trace.acts if act.step.command == "send")
    return group_trace, act, ids(group_trace, "m1", "m2"), ""


def all_kinds_of_operations() -> Told:
    group_trace = shown(
        ops.Cut(("alice",), ("bob",)),
        ops.Ephemeral("alice"),
        ops.Heal(),
        ops.Links(loss_percent=100, sender="carol"),
        ops.Sync("carol"),
        ops.StepClock("bob", -5),
        ops.Say("eve", "x1", after=("zz",)),
        ops.Again("x1", "bob"),
        ops.Say("eve", "x2", channel=1, id_of="x1"),
        *(ops.Garble("bob", wire) for wire in ("00ff", "ff" * 70)),
        ops.Join("dora"),
        ops.Crash("bob"),
        ops.Lookup("alice"),
        ops.Calm(rounds=3),
        members=(Member("alice"), Member("bob"), Member("carol"), Member("dora", late=True)),
        channels=("c1", "c2"),
    )
    return group_trace, group_trace.acts[-1], f"{ids(group_trace, 'x1')} once", "twice"


def repair_and_resend() -> Told:
    repairing = (("sds_r", True), ("t_min_ms", 1_000), ("t_max_ms", 3_000), ("num_response_groups", 1))
    group_trace = shown(
        ops.Send("alice", "m1", route=NOT_BOB),
        ops.Send("carol", "m2"),
        ops.Wait(5_000),
        ops.Sync("bob"),
        ops.Tick("alice"),
        ops.Wait(40_000),
        ops.Tick("carol"),
        configuration=repairing,
    )
    return group_trace, group_trace.acts[-1], f"no copy of {ids(group_trace, 'm2')}", "one"


STORIES: tuple[Callable[[], Told], ...] = (
    cause_that_was_not_waited_for,
    acknowledgements_copies_and_messages_that_wait,
    copies_that_did_not_arrive,
    all_kinds_of_operations,
    repair_and_resend,
)


@pytest.mark.parametrize("output", STORIES, ids=lambda output: output.__name__)
def test_a_counterexample_is_reported_as_a_story_with_a_proof(
    output: Callable[[], Told], snapshot: SnapshotAssertion
) -> None:
    group_trace, act, expected, seen = output()
    lines = [*story(group_trace, act, expected), "", *proof(group_trace, act, expected, seen)]
    # The reason is that of the library of protobuf.
    assert re.sub(r"(refuses: ).*", r"\1…", "\n".join(lines)) == snapshot


def test_names_are_the_same_in_proof_story_and_diagram() -> None:
    group_trace = shown(
        ops.Send("alice", "m1", route=NOT_BOB), ops.Sync("carol"), ops.Ephemeral("bob"), ops.Sync("carol")
    )
    act = arrival(group_trace, "bob")
    sync = act.packet.wire.message if act.packet is not None else None
    assert sync is not None
    written = " ".join(texts(parsed(spacetime_svg(group_trace, act))))
    output = "\n".join([*story(group_trace, act), *proof(group_trace, act, repr(sync.message_id), "")])
    for name in ("m1", "s1", "e1"):
        assert name in written
        assert name in output
    assert "- s1: sync, sent by carol" in output
    assert sync.message_id not in output


def test_hostile_texts_are_cut_and_cleared() -> None:
    group_trace = shown(ops.Say("e\x1b[31mve" * 99, "x\n" * 3000, content="\x07" * 5000))
    lines = [
        *story(group_trace, group_trace.acts[-1]),
        *proof(group_trace, group_trace.acts[-1], "y" * 9000, "\x1b[31m"),
    ]
    assert all(line.isprintable() and len(line) <= module.LONGEST_LINE + 1 for line in lines)
