"""Checks are not asked of views that lack what they are about: with it or without, what comes out is the same."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from run_helpers import stage
from sds_conformance.exploration.assessment import Scope, assess
from sds_conformance.exploration.campaign import CampaignOrder
from sds_conformance.judging.check_selection import CheckSelection
from sds_conformance.judging.garbage import PIECES, garbage_at_the_end, garbage_waits
from sds_conformance.judging.judgement import Observation
from sds_conformance.judging.observations import Applicable, looked
from sds_conformance.judging.plan import plan
from sds_conformance.judging.registry import Register
from sds_conformance.judging.rules import View
from sds_conformance.judging.runner import Runner
from sds_conformance.protocols.sds.register import REGISTER
from sds_conformance.protocols.sds.rules import MODEL, RULES
from sds_conformance.protocols.sds.view.present import PRESENT
from sds_harness.link import Limits
from sds_harness.sds.generator import generated
from sds_harness.trace import Trace

NOTHING: frozenset[int] = frozenset()
A_FEW = ("ties", "a-diamond", "received-syncs", "asks-for-what-is-missing", "every-kind-of-message")
"""With and without SDS-R, and of every kind."""

Said = list[tuple[str, str, str, str, list[Observation]]]


def traces(*scenarios: str, mutant: str = "", revision: str = RULES.current) -> list[Trace[Any]]:
    start = MODEL.reference(NOTHING) if not mutant else MODEL.mutant(mutant, NOTHING)
    runner = Runner(lambda _: start, Limits(), RULES, revision)
    runner.start()
    return [trace for _, trace in runner.play(plan(RULES, scenarios=scenarios, revision=revision).runs)]


def generated_traces(count: int) -> list[Trace[Any]]:
    order = CampaignOrder(lambda _: MODEL.reference(NOTHING), examples=count)
    company = order.company()
    company.start()
    try:
        return [trace for index in range(count) for trace in company.play(generated(order.seed, index)).traces]
    finally:
        company.kill()


def by_asking_all(views: Sequence[View], applicable: Applicable) -> Said:
    return [
        (check.requirement, check.name, view.party.name, view.channel_id, said)
        for checks in applicable.values()
        for check in checks
        for view in views
        if (said := list(check.function(view)))
    ]


def compare(played: Iterable[Any]) -> Counter[str]:
    """Hold both ways of asking equal; gives how often each check said anything."""
    exercised: Counter[str] = Counter()
    for trace in played:
        applicable = Applicable(REGISTER, REGISTER.checks, trace.declaration)
        views = [*RULES.views(trace)]
        whole = by_asking_all(views, applicable)
        seen = looked(applicable, [(view, None) for view in RULES.views(trace)])
        assert [(s.check.requirement, s.check.name, s.participant, s.channel_id, s.places, s.told) for s in seen] == [
            (*where, len(said), [one for one in said if one.outcome.value != "held"]) for *where, said in whole
        ]
        exercised.update(name for _, name, *_ in whole)
        showing = [one for many in REGISTER.shown.values() for one in many]
        asking = CheckSelection(REGISTER.facts, showing)
        for view in views:
            asked = {place for place, _ in asking.of(view)}
            for place, one in enumerate(showing):
                assert place in asked or not list(one.function(view)), one.position
    return exercised


def test_what_is_left_out_had_nothing_to_say() -> None:
    exercised = compare([*traces(*A_FEW), *traces("ties", mutant="log-by-arrival"), *generated_traces(3)])
    assert len(exercised) > 120


@pytest.mark.exhaustive
@pytest.mark.parametrize("revision", RULES.revisions)
def test_what_is_left_out_had_nothing_to_say_in_any_scenario(revision: str) -> None:
    exercised = compare(traces(revision=revision))
    assert len(exercised) > 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("which", range(4))
def test_what_is_left_out_had_nothing_to_say_of_mutants(which: int) -> None:
    for name in sorted(MODEL.mutants)[which * 95 :: 400]:
        violated = RULES.catalogue.requirements[MODEL.mutants[name].requirement]
        compare(traces(mutant=name, revision=violated.revisions[0]))


@pytest.mark.exhaustive
def test_what_is_left_out_had_nothing_to_say_in_generated_schedules() -> None:
    compare(generated_traces(120))


def test_whoever_is_about_something_is_asked_where_it_is() -> None:
    on = stage()
    alice = on.open()
    asking = CheckSelection(REGISTER.facts, [check for checks in REGISTER.checks.values() for check in checks])

    def asked() -> set[str]:
        (view,) = RULES.views(on.trace)
        return {check.name for _, check in asking.of(view)}

    assert "sender_in_field_1" not in asked()
    alice.send()
    assert "sender_in_field_1" in asked()
    assert "no_acknowledgement_out_of_the_blue" not in asked()


def test_every_fact_is_what_some_check_is_about() -> None:
    about = [one.of for those in (REGISTER.checks, REGISTER.shown) for many in those.values() for one in many]
    assert {name for of in about for name in of} == set(PRESENT)


def test_a_fact_that_nobody_knows_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="there is no fact 'sends'; there are sent"):
        Register("X-", facts={"sent": lambda view: view.sent}).check("X-1", of="sends")


def test_who_is_asked_of_one_kind_of_view_is_not_asked_of_another() -> None:
    those = Register("X-", facts={"big": lambda n: n > 9, "even": lambda n: n % 2 == 0})
    those.check("X-1")(_silent)
    those.check("X-2", of="big")(_silent)
    those.check("X-3", of="big even")(_silent)
    asking = CheckSelection(those.facts, [check for checks in those.checks.values() for check in checks])
    asked = [[(place, check.requirement) for place, check in asking.of(n)] for n in (2, 11, 12, 3, 13, 12)]
    small, big, both = [(0, "X-1")], [(0, "X-1"), (1, "X-2")], [(0, "X-1"), (1, "X-2"), (2, "X-3")]
    assert asked == [small, big, both, small, big, both]


def _silent(_: object) -> Iterator[Observation]:
    return iter(())


def _fail_meanwhile() -> None:
    with garbage_waits():
        assert not gc.isenabled()
        raise KeyError


def test_garbage_is_looked_for_again_whatever_happens() -> None:
    with pytest.raises(KeyError):
        _fail_meanwhile()
    assert gc.isenabled()


class _Circle:
    """Objects that only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


def test_what_a_piece_of_work_leaves_is_gone_when_it_ends() -> None:
    def work() -> weakref.ref[_Circle]:
        return weakref.ref(_Circle())

    with garbage_at_the_end():
        left = work()
        assert left() is not None
    assert left() is None


def test_what_outlived_its_piece_of_work_goes_after_many_more() -> None:
    circle = _Circle()
    left = weakref.ref(circle)
    for _ in range(3):
        with garbage_at_the_end():
            pass
    del circle
    for _ in range(PIECES + 1):
        with garbage_at_the_end():
            pass
    assert left() is None


def test_a_scope_that_was_judged_by_is_sent_to_other_processes() -> None:
    order = CampaignOrder(lambda _: MODEL.reference(NOTHING), examples=1)
    company = order.company()
    company.start()
    try:
        performance = company.play(generated(order.seed, 0))
    finally:
        company.kill()
    scope = Scope.of()
    found = assess(performance, scope)
    again = pickle.loads(pickle.dumps(scope))
    assert again == scope
    assert assess(performance, again).exercised == found.exercised
