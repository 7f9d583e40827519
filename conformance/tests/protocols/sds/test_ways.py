"""Which way an implementation goes where the text leaves a choice: told where a trace proves it, and there alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from goers import MUTANT, ODD, OF_THE_REFERENCE, OTHERS, REFERENCE, RELEASE, Goer
from odd_ways import ODD as ODD_HANDLES
from played import AMENDED, Handle, certified, plan, reference
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.protocols.sds.catalogue import load_catalogue
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.protocols.sds.ways.untold import UNTOLD
from sds_harness.link import Limits, StdioLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from sds_testee.framing import Framing
from waku_adapter import waku_command

ALL_WAYS = {
    (position, way) for position, choices in REGISTER.choices.items() for choice in choices for way in choice.ways
}


def names(outcome: Certification, positions: Iterable[str]) -> dict[str, str]:
    """The ways that were seen, by position."""
    return {position: " ".join(sorted(w.way for w in outcome.ways[position])) for position in positions}


def start(goer: Goer) -> Handle:
    if goer.kind == ODD:
        return ODD_HANDLES[goer.name]()
    if goer.kind == MUTANT:
        mutant = MUTANTS[goer.name]
        return reference(mutant.configure(Config()), participant=mutant.participant_class)
    variant = VARIANTS[goer.name]
    return reference(variant.configure(Config()), participant=variant.participant_class)


def outcome_of(goer: Goer) -> Certification:
    scenarios = goer.scenarios.split()
    if goer.kind != RELEASE:
        return certified(lambda: start(goer), scenarios=scenarios)
    command = [*waku_command(), "--release", goer.name]
    what = plan((), scenarios=scenarios, environments=["plain"])
    return certify(lambda variables: StdioLink(command, Framing.JSON, Limits(), dict(variables)), what, Limits())


def test_every_position_is_told_or_has_a_reason_why_not() -> None:
    positions = set(load_catalogue().positions)
    assert set(REGISTER.choices) | set(UNTOLD) == positions
    assert set(REGISTER.choices) & set(UNTOLD) == set()
    assert len(REGISTER.choices) > 60
    assert all(reason and reason == reason.strip(".") for reason in UNTOLD.values())


def test_every_choice_says_what_proves_it_and_what_there_is_to_choose() -> None:
    for choices in REGISTER.choices.values():
        assert len({way for choice in choices for way in choice.ways}) == sum(len(choice.ways) for choice in choices)
        for choice in choices:
            assert len(choice.ways) > 1
            assert len(choice.function.__doc__ or "") > 50
            assert all(words and words[-1] != "." for words in choice.ways.values())


def test_there_is_somebody_for_every_way() -> None:
    amended = {("AMB-118", "all-that-wait"), ("AMB-118", "of-the-message")}
    gone = {(position, way) for position, ways in OF_THE_REFERENCE.items() for way in ways.split()}
    gone |= {(position, way) for goer in OTHERS for position, ways in goer.ways.items() for way in ways.split()}
    assert gone | amended == ALL_WAYS


def test_the_reference_goes_the_ways_that_it_is_known_for() -> None:
    outcome = certified(reference, scenarios=REFERENCE.split())
    assert names(outcome, OF_THE_REFERENCE) == OF_THE_REFERENCE
    assert outcome.way_errors == {}
    assert {position for position, ways in outcome.ways.items() if not ways} == {"AMB-85", "AMB-118"}


@pytest.mark.parametrize("goer", OTHERS, ids=lambda goer: f"{goer.kind}-{goer.name}")
def test_others_go_others(goer: Goer) -> None:
    outcome = outcome_of(goer)
    assert names(outcome, goer.ways) == goer.ways
    assert outcome.way_errors == {}
    for position in goer.ways:
        for shown in outcome.ways[position]:
            trace = outcome.traces[shown.run]
            assert 1 <= shown.step <= len(trace.steps)
            assert shown.count >= 1


def test_the_amended_text_has_a_choice_of_its_own() -> None:
    def amended(handle: Any) -> dict[str, str]:
        scenarios = ["named-again-after-its-request", "somebody-else-asks-early"]
        return names(certified(handle, scenarios=scenarios, revision=AMENDED), ["AMB-118"])

    narrow = MUTANTS["looks-at-the-message-only"].participant_class
    assert amended(reference) == {"AMB-118": "all-that-wait"}
    assert "of-the-message" in amended(lambda: reference(participant=narrow))["AMB-118"]


def test_who_takes_nothing_goes_no_way() -> None:
    deaf = MUTANTS["refuses-everything"].participant_class
    outcome = certified(lambda: reference(participant=deaf), scenarios=["impossible-dependencies", "hybrids"])
    assert not any(outcome.ways.values())


def test_a_refusal_of_the_odd_tells_nothing_by_who_refuses_the_ordinary_too() -> None:
    def refusing(*kinds: str) -> set[str]:
        handle = reference()

        def answer(request: pb.Request) -> pb.Reply:
            if request.HasField("receive") and any(kind.encode() in request.receive.wire for kind in kinds):
                return pb.Reply(id=request.id, rejected=pb.Rejected(reason="no"))
            return handle(request)

        outcome = certified(lambda: answer, scenarios=["impossible-dependencies"])
        return {shown.way for shown in outcome.ways["AMB-44"]}

    assert refusing("itself") == {"refuses"}
    assert refusing("itself", "bob-") == set()


def _odd_ways(outcome: Certification) -> Iterator[str]:
    for position, ways in outcome.ways.items():
        yield from (f"{position} {shown.way}" for shown in ways)


def test_another_text_has_other_choices() -> None:
    outcome = certified(reference, scenarios=["found-in-filters"], revision="forum-2024")
    assert list(_odd_ways(outcome)) == []
