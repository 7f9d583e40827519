"""Implementations that meet each other: what the matrix says of who understands whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import StringIO

import pytest
from rich.console import Console

from run_helpers import Handle, altered, reference
from sds_conformance.exploration.casts import Cast, Implementation
from sds_conformance.interop.matrix import Interop, explore
from sds_conformance.interop.story import InteropStory
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.runner import PATIENCE
from sds_conformance.protocols.exchanges import AspectMark
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.exchanges.aspects import Aspect
from sds_harness.link import LocalLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS

Start = Callable[[], Handle]


def implementation(name: str, start: Start) -> Implementation:
    return Implementation(name, lambda _: LocalLink(start()))


def met(**starts: Start) -> Interop:
    with Cast((implementation(name, start) for name, start in starts.items()), CURRENT) as cast:
        return explore(cast)


def marked(outcome: Interop, sender: str, receiver: str, mark: AspectMark = AspectMark.NO) -> set[str]:
    return {aspect for aspect, cell in outcome.meetings[sender, receiver].cells.items() if cell.mark is mark}


def reason(outcome: Interop, sender: str, receiver: str, aspect: Aspect) -> str:
    return outcome.meetings[sender, receiver].cells[aspect].reason


def mutant(name: str) -> Handle:
    return reference(participant=MUTANTS[name].participant_class)


def crashing(command: str, times: int = 1_000) -> Start:
    """Starts references of which the first so many commands of one kind are the last."""
    left = [times]

    def change(request: pb.Request, reply: pb.Reply) -> None:
        if request.WhichOneof("command") == command and left[0]:
            left[0] -= 1
            raise RuntimeError(f"inside out \x1b[31m after {command}")

    return lambda: altered(change)


# ---- those who understand each other -------------------------------------------------------------------------------


LEGAL = [name for name in VARIANTS if "filter" not in name]
SOME = [*LEGAL[::8], "lets-requests-expire"]
"""Every eighth, and one that asks for a repair only in the second schedule of its exchange."""


@pytest.mark.parametrize("names", [SOME, pytest.param(LEGAL, marks=pytest.mark.exhaustive)], ids=["some", "all"])
def test_a_legal_choice_is_understood(names: list[str]) -> None:
    for name in names:
        configuration = VARIANTS[name].configure(Config())
        outcome = met(ref=reference, other=lambda: reference(configuration))  # noqa: B023 - called in this pass
        assert outcome.misunderstandings == [], name
        assert outcome.exit_code == Exit.CONFORMANT, name


# ---- wire layouts and filters --------------------------------------------------------------------------------------


def test_a_private_wire_layout_is_one_fault_and_hides_nothing() -> None:
    outcome = met(ref=reference, nim=lambda: reference(dialect="nim-sds"))
    for names in (("ref", "nim"), ("nim", "ref")):
        assert outcome.meetings[names].pair.translated
        assert marked(outcome, *names) == {Aspect.WIRE}
        assert marked(outcome, *names, mark=AspectMark.YES) == set(Aspect) - {Aspect.WIRE}
        assert "nim must act" in reason(outcome, *names, Aspect.WIRE)
        assert "refuses the bytes" in reason(outcome, *names, Aspect.WIRE)
    assert outcome.meetings["nim", "nim"].is_understood
    assert outcome.exit_code == Exit.NON_CONFORMANT


def test_filters_of_another_profile_are_not_understood_and_all_else_is() -> None:
    outcome = met(ref=reference, nim=lambda: reference(Config(bloom_profile=PROFILES["nim-sds"])))
    for names in (("ref", "nim"), ("nim", "ref")):
        assert marked(outcome, *names) == {Aspect.FILTER}
        assert "bloom profiles differ" in reason(outcome, *names, Aspect.FILTER)
    assert outcome.meetings["nim", "nim"].is_understood
    [note] = outcome.notes
    assert "ref declares waku-sds-js, nim nim-sds. The specification leaves hash and encoding open" in note


# ---- faults --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sender", "receiver", "aspect"),
    [
        ("entry-id-in-field4", "bad", "ref", Aspect.WIRE),
        ("delivers-children-first", "ref", "bad", Aspect.DEPENDENCIES),
        ("acknowledges-the-first", "bad", "ref", Aspect.ACKNOWLEDGED),
        ("ignores-filters", "bad", "ref", Aspect.FILTER),
        ("syncs-do-not-acknowledge", "ref", "bad", Aspect.SYNC),
        ("refuses-ephemerals", "ref", "bad", Aspect.EPHEMERAL),
        ("ties-by-arrival", "bad", "ref", Aspect.ORDER),
        ("never-requests", "ref", "bad", Aspect.REPAIR),
        ("never-answers", "bad", "ref", Aspect.REPAIR),
    ],
)
def test_a_fault_is_seen_where_it_is(name: str, sender: str, receiver: str, aspect: Aspect) -> None:
    outcome = met(ref=reference, bad=lambda: mutant(name))
    assert outcome.breakdowns == []
    assert aspect in marked(outcome, sender, receiver)
    assert "bad" in reason(outcome, sender, receiver, aspect)
    assert outcome.meetings["ref", "ref"].is_understood
    assert outcome.exit_code == Exit.NON_CONFORMANT


# ---- breakdowns ----------------------------------------------------------------------------------------------------


def test_a_breakdown_is_that_ones_and_the_others_go_on() -> None:
    outcome = met(one=reference, bad=crashing("receive"), two=reference)
    for names in (("one", "one"), ("one", "two"), ("two", "one"), ("two", "two")):
        assert outcome.meetings[names].is_understood
    assert {name for name, _ in outcome.breakdowns} == {"bad"}
    assert len(outcome.breakdowns) == PATIENCE
    assert "bad must act: it broke down (crash: " in reason(outcome, "one", "bad", Aspect.CONTENT)
    assert "bad broke down 4 times in a row" in reason(outcome, "two", "bad", Aspect.CONTENT)
    assert all("\x1b" not in cell.reason for meeting in outcome.meetings.values() for cell in meeting.cells.values())
    assert outcome.exit_code == Exit.NON_CONFORMANT


def test_a_dialect_that_is_not_known_cannot_be_driven() -> None:
    def declares(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.dialect = "klingon"

    outcome = met(one=reference, odd=lambda: altered(declares))
    assert "klingon" in outcome.undriven["odd"].detail
    assert outcome.exit_code == Exit.NOT_DRIVEN


# ---- what is not declared ------------------------------------------------------------------------------------------


def lesser(*without: int) -> Start:
    return lambda: reference(without=without)


@pytest.mark.parametrize(
    ("without", "open_"),
    [
        ((pb.CAPABILITY_SDS_R,), {Aspect.REPAIR}),
        ((pb.CAPABILITY_OBSERVE,), set()),
        (
            (pb.CAPABILITY_ACKNOWLEDGED, pb.CAPABILITY_POSSIBLY_ACKNOWLEDGED, pb.CAPABILITY_OBSERVE),
            {Aspect.ACKNOWLEDGED, Aspect.FILTER},
        ),
        ((pb.CAPABILITY_DELIVERED,), {Aspect.EPHEMERAL}),
    ],
)
def test_what_is_not_declared_is_left_open_and_no_fault(without: Iterable[int], open_: set[Aspect]) -> None:
    outcome = met(lesser=lesser(*without), ref=reference)
    assert outcome.misunderstandings == []
    assert (
        marked(outcome, "lesser", "ref", AspectMark.OPEN) | marked(outcome, "ref", "lesser", AspectMark.OPEN) == open_
    )
    for aspect in open_ & marked(outcome, "lesser", "ref", AspectMark.OPEN):
        assert "lesser" in reason(outcome, "lesser", "ref", aspect)
    assert outcome.exit_code == Exit.CONFORMANT


# ---- casts ---------------------------------------------------------------------------------------------------------


def test_an_interrupt_keeps_what_was_understood_until_then() -> None:
    played: list[str] = []

    def progress(what: str, number: int, total: int) -> None:
        played.append(what)

    def start() -> Handle:
        return altered(interrupt)

    def interrupt(request: pb.Request, reply: pb.Reply) -> None:
        if len(played) > 2:
            raise KeyboardInterrupt

    with Cast([implementation("a", start), implementation("b", reference)], CURRENT) as cast:
        outcome = explore(cast, progress)
    assert outcome.interrupted
    assert outcome.exit_code == Exit.INTERRUPTED
    assert marked(outcome, "a", "a", AspectMark.YES)
    assert not marked(outcome, "b", "a", AspectMark.NO)
    assert {cell.reason for cell in outcome.meetings["b", "a"].cells.values()} == {"not played because of an interrupt"}
    console = Console(width=200, record=True, file=StringIO())
    story = InteropStory(console, outcome)
    story.show()
    output = console.export_text() + story.verdict(1.0).plain
    assert "no verdict on which implementations understand each other" in output
    assert "Not understood" not in output
