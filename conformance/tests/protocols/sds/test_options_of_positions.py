"""Which way an implementation goes where the text leaves a choice: told where a trace proves it, and there alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from rich.console import Console

from odd_models import ODD
from position_scenarios import RELEASE, RELEASE_SCENARIOS, SCENARIOS, TAKEN_AS_WELL
from run_helpers import AMENDED, OF_SDS, Handle, certified, plan, reference
from sds_conformance.judging.catalogue import Option
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.registry import Showing
from sds_conformance.presentation.invocation import Invocation
from sds_conformance.protocols.sds.catalogue import load_catalogue
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.reports.document import document
from sds_conformance.reports.report import Report
from sds_conformance.reports.terminal import show_report
from sds_harness.link import Limits, StdioLink
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from sds_testee.framing import Framing
from waku_adapter import waku_command

POSITIONS = load_catalogue().positions
OPTIONS: dict[tuple[str, str], Option] = {
    (position.id, name): option for position in POSITIONS.values() for name, option in position.options.items()
}
ONLY_AMENDED = "AMB-118"
"""The position on a rule that only the amended text has."""


def options_of(taker: str) -> dict[str, str]:
    """The options that a model takes, by position."""
    taken: dict[str, str] = {}
    for (position, name), option in OPTIONS.items():
        if option.taken_by == taker and position != ONLY_AMENDED:
            taken[position] = " ".join(sorted([*taken.get(position, "").split(), name]))
    return taken


def names(outcome: Certification, positions: Iterable[str]) -> dict[str, str]:
    """The options that were seen, by position."""
    return {position: " ".join(sorted(w.way for w in outcome.ways[position])) for position in positions}


def start(taker: str) -> Handle:
    """A variant or a mutant of the model."""
    kind, name = taker.split()
    made = (VARIANTS if kind == "variant" else MUTANTS)[name]
    return reference(made.configure(Config()), participant=made.participant_class)


def holds(outcome: Certification, expected: dict[str, str]) -> None:
    """Were these options seen, and no others of their positions?"""
    assert names(outcome, expected) == expected
    assert outcome.way_errors == {}
    for position in expected:
        for shown in outcome.ways[position]:
            assert 1 <= shown.step <= len(outcome.traces[shown.run].steps)
            assert shown.count >= 1


def test_every_position_has_options_that_a_run_shows_or_a_reason_why_it_has_none() -> None:
    assert set(REGISTER.shown) == {position for position, _ in OPTIONS}
    assert len(REGISTER.shown) > 60
    for position in POSITIONS.values():
        assert bool(position.options) != bool(position.not_shown), position.id
        assert position.not_shown == position.not_shown.strip(".")
        assert len(position.options) != 1
        assert all(option.words and option.words[-1] != "." for option in position.options.values())


def test_every_option_is_taken_by_something_of_the_model_or_has_a_reason_and_somebody_else() -> None:
    others = {pair for odd in ODD.values() for pair in odd.options.items()} | set(RELEASE.items())
    elsewhere = {(position, option) for position, options in others for option in options.split()}
    for place, option in OPTIONS.items():
        assert bool(option.taken_by) != bool(option.reason), place
        assert option.taken_by in ("reference", *SCENARIOS) or place in elsewhere or place[0] == ONLY_AMENDED, place


def test_no_scenario_shows_an_option_that_the_reference_does_not_take() -> None:
    outcome = certified(reference, scenarios=OF_SDS)
    holds(outcome, options_of("reference"))
    assert {position for position, ways in outcome.ways.items() if not ways} == {ONLY_AMENDED}


@pytest.mark.parametrize("taker", SCENARIOS)
def test_others_take_others(taker: str) -> None:
    also = {position: option for (name, position), option in TAKEN_AS_WELL.items() if name == taker}
    expected = {
        position: " ".join(sorted(f"{options} {also.get(position, '')}".split()))
        for position, options in options_of(taker).items()
    }
    assert expected
    holds(certified(lambda: start(taker), scenarios=SCENARIOS[taker].split()), expected)


@pytest.mark.parametrize("name", ODD)
def test_what_nothing_of_the_model_takes_is_shown_by_others(name: str) -> None:
    odd = ODD[name]
    holds(certified(odd.start, scenarios=odd.scenarios.split()), odd.options)


def test_a_release_takes_others() -> None:
    command = [*waku_command(), "--release", "0.0.8"]
    what = plan((), scenarios=RELEASE_SCENARIOS.split(), environments=["plain"])
    holds(
        certify(lambda variables: StdioLink(command, Framing.JSON, Limits(), dict(variables)), what, Limits()), RELEASE
    )


def test_the_amended_text_has_a_choice_of_its_own() -> None:
    def amended(handle: Any) -> dict[str, str]:
        scenarios = ["named-again-after-its-request", "somebody-else-asks-early"]
        return names(certified(handle, scenarios=scenarios, revision=AMENDED), ["AMB-118"])

    narrow = MUTANTS["requests-again-only-if-named-again"].participant_class
    assert amended(reference) == {"AMB-118": "all-that-wait"}
    assert "of-the-message" in amended(lambda: reference(participant=narrow))["AMB-118"]


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


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda view: iter([1 / 0]), "ZeroDivisionError: division by zero"),
        (lambda view: iter([(view.trace.steps[0], "sideways")]), "'sideways' is not an option of the position"),
    ],
)
def test_a_fault_of_ours_is_reported_and_costs_nothing_else(
    broken: Any, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = {"AMB-29": [Showing("AMB-29", broken)], "AMB-19": REGISTER.shown["AMB-19"]}
    monkeypatch.setattr(REGISTER, "shown", shown)
    outcome = certified(reference, scenarios=["acknowledged-by-anything"])
    assert outcome.exit_code == 0
    assert list(outcome.way_errors) == ["AMB-29"]
    assert says in outcome.way_errors["AMB-29"]
    assert "acknowledged-by-anything" in outcome.way_errors["AMB-29"]
    assert [shown.way for shown in outcome.ways["AMB-19"]] == ["in"]
    rows = {row["position"]: row for row in document(outcome, Invocation(("x",)))["ways"]}
    assert says in rows["AMB-29"]["error"]
    assert (rows["AMB-29"]["ways"], rows["AMB-19"]["error"]) == ([], "")
    out = Console(record=True, width=80)
    show_report(out, Report.from_outcome(outcome, Invocation(("x",))), "sds-conformance")
    assert "Fault of the suite: AMB-29" in out.export_text()
