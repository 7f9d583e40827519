"""Every schedule of a small world: which are played, what they find, and how to go on from where it ended."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from played import Handle, reference
from sds_conformance.exploration import exhausting, exhaustion
from sds_conformance.exploration.campaign import Tally
from sds_conformance.exploration.casting import Casting, Company
from sds_conformance.exploration.exhausting import Coverage, exhaust
from sds_conformance.exploration.exhaustion import Exhaustion, Prober, Share
from sds_conformance.exploration.judging import BREAKDOWN
from sds_conformance.exploration.resuming import ResumeError, load, save
from sds_conformance.judging.exercise import NOTHING
from sds_conformance.protocols import default
from sds_harness.link import Link, LocalLink
from sds_harness.schedules.worlds import Word
from sds_proto.testee.v1 import testee_pb2 as pb

CORE = ("send", "sync", "time", "arrive")


def begun(handle: Handle | None = None, mutant: str = "", **rest: Any) -> tuple[Exhaustion, Company, Coverage]:
    """A small world of the reference, a mutant of it, or what ``handle`` is."""

    def connect(_: object) -> Link:
        return default().model.mutant(mutant, NOTHING) if mutant else LocalLink(handle or reference())

    asked: dict[str, Any] = {"alphabet": CORE, "profile": "core", "jobs": 1} | rest
    order = Exhaustion(connect, **asked)
    company = order.company()
    order = order.for_whom(company.start())
    return order, company, Coverage(order, Tally(company.declaration))


def exhausted(last: int, mutant: str = "", handle: Handle | None = None, **rest: Any) -> Coverage:
    order, company, coverage = begun(handle, mutant, **rest)
    exhaust(order, company, coverage, last)
    return coverage


def said(coverage: Coverage) -> dict[str, Any]:
    """All that does not depend on how long it took."""
    tally = coverage.tally
    bounds = [(b.events, b.schedules, b.played, b.impossible, b.renamed, sorted(b.chunks)) for b in coverage.bounds]
    counters = (tally.found_at, tally.found_in, tally.exercised, tally.situations, tally.steps, tally.schedules)
    return {"bounds": bounds, "tally": [dict(c) if isinstance(c, dict) else c for c in counters]}


@pytest.mark.parametrize("casting", list(Casting))
def test_the_reference_is_left_in_peace_and_every_schedule_is_settled(casting: Casting) -> None:
    coverage = exhausted(2, casting=casting, participants=3, alphabet=(*CORE, "repair"), profile="full")
    assert not coverage.tally.found
    assert not coverage.tally.errors
    assert [bound.schedules for bound in coverage.bounds] == [7, 55]
    assert all(bound.whole and bound.percent == 100 for bound in coverage.bounds)
    assert coverage.finished is coverage.bounds[-1]
    assert coverage.schedules == 62
    assert coverage.tally.exercised


def test_what_cannot_happen_is_left_out_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of a beginning says of each word what playing it would say."""
    knowing = exhausted(3)
    assert knowing.bounds[-1].impossible > knowing.bounds[-1].schedules // 20

    def forgetful(prober: Prober, word: Word) -> None:
        prober._silent = {}

    monkeypatch.setattr(Prober, "_keep", forgetful)
    assert said(exhausted(3)) == said(knowing)


def test_other_names_are_another_schedule_where_names_matter() -> None:
    assert sum(bound.renamed for bound in exhausted(3).bounds) > 10
    repairs = exhausted(3, alphabet=(*CORE, "repair"), profile="full")
    assert sum(bound.renamed for bound in repairs.bounds) == 0
    assert sum(bound.renamed for bound in exhausted(2, casting=Casting.AMONG).bounds) == 0


def test_what_is_not_declared_is_no_part_of_the_alphabet() -> None:
    without = frozenset({pb.CAPABILITY_SYNC, pb.CAPABILITY_SDS_R})
    order, company, _ = begun(reference(without=without), profile="full", alphabet=(*CORE, "repair"))
    company.kill()
    assert order.alphabet == ("send", "time", "arrive")
    order, company, _ = begun(profile="core", alphabet=(*CORE, "repair"))
    company.kill()
    assert order.alphabet == CORE


def test_a_fault_is_found_in_the_shortest_schedule_that_shows_it() -> None:
    """None of fewer events shows it, and its number is that of its schedule."""
    coverage = exhausted(3, "sync-does-not-increase")
    at = coverage.tally.found_at["SDS-SYNC-03"]
    words = [word for events in (1, 2, 3) for word in coverage.order.world.words(events)]
    assert words[at] == coverage.order.word(at)
    order, company, _ = begun(mutant="sync-does-not-increase")
    company.start()
    shown = []
    for index, word in enumerate(words[: at + 1]):
        share = Share(Tally(company.declaration), len(word), 0)
        Prober(order, company).probe(word, index, share)
        shown += [index] * ("SDS-SYNC-03" in share.tally.found)
    company.kill()
    assert shown == [at]
    assert coverage.order.schedule(at).name.startswith(f"schedule {at} (2 participants, {len(words[at])} event")


def test_whoever_always_breaks_is_given_up_and_nothing_is_proved() -> None:
    def breaking(request: pb.Request) -> pb.Reply:
        if request.HasField("send_sync"):
            raise RuntimeError("out of order")
        return inner(request)

    inner = reference()
    coverage = exhausted(4, handle=breaking)
    assert BREAKDOWN in coverage.tally.found
    assert "given up" in coverage.tally.gave_up
    assert not all(bound.whole for bound in coverage.bounds)


def test_the_plan_is_what_the_time_is_expected_to_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhausting, "SAMPLE", 100)
    ticks = itertools.count()  # a schedule takes as long as it is asked for the time, on every machine
    monkeypatch.setattr(exhausting, "time", SimpleNamespace(monotonic=lambda: next(ticks) / 2_000))
    plans = []
    order, company, coverage = begun(time_budget_s=1.5)
    exhaust(order, company, coverage, None, planned=lambda c: plans.append((len(c.bounds), c.expected_s)))
    (bounds, expected_s), *_ = plans
    assert 3 <= bounds == len(coverage.bounds)
    assert expected_s <= 1.5
    assert coverage.finished is not None


def test_an_interrupt_keeps_what_was_finished_and_it_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is said in the end is as if there had been no interrupt, whatever was found before it."""
    monkeypatch.setattr(exhaustion, "CHUNK", 20)
    monkeypatch.setattr(exhausting, "SAMPLE", 10)
    monkeypatch.setattr("sds_conformance.exploration.resuming.CHUNK", 20)
    mutant = "sync-does-not-increase"
    whole = exhausted(3, mutant)
    file, rounds = tmp_path / "covered.json", 0
    while True:
        order, company, coverage = begun(mutant=mutant)
        if file.exists():
            coverage = load(file, order, company)
        left = iter(range(2))

        def progress(_: Coverage, left: Any = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        exhaust(order, company, coverage, 3, progress=progress)
        save(coverage, file)
        rounds += 1
        if not coverage.tally.interrupted:
            break
    assert rounds > 3
    assert said(coverage) == said(whole)


def test_only_what_was_written_of_the_same_world_is_gone_on_from(tmp_path: Path) -> None:
    file = tmp_path / "covered.json"
    coverage = exhausted(2)
    save(coverage, file)
    good = json.loads(file.read_text("utf-8"))
    order, company, _ = begun()
    first = good["bounds"][0]
    wrongs: list[dict[str, Any]] = [
        {"schema": "sds-conformance/exhaustion/0"},
        {"participants": 3},
        {"implementation": "another 1.0"},
        {"digest_of_the_schedules": "0" * 64},
        {"bounds": [{**first, "schedules": 6}]},
        {"bounds": [{**first, "played": first["played"] + 1}]},
        {"bounds": [{**first, "schedules": 1 << 30}]},
        {"bounds": [{**first, "chunks": [[0, 1]]}]},
        {"bounds": [{**first, "chunks": [[0, 0, 0]]}]},
        {"bounds": [{**first, "chunks": 7}]},
        {"bounds": None},
        {"steps": -1},
        {"seconds": "long"},
        {"found": {"SDS-SEND-01": {"first": 10**9, "schedules": 1}}},
        {"found": {"SDS-SEND-01": {"first": 0, "schedules": 1}}},
        {"exercised": [1]},
    ]
    for wrong in wrongs:
        file.write_text(json.dumps({**good, **wrong}), "utf-8")
        with pytest.raises(ResumeError):
            load(file, order, company)
    for text in (
        "",
        "[" * 100_000,
        '{"schema": NaN}',
        "[]",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ):
        file.write_text(text, "utf-8")
        with pytest.raises(ResumeError):
            load(file, order, company)
    with pytest.raises(ResumeError, match=r"file|folder|read"):
        load(tmp_path, order, company)
    file.write_text(json.dumps(good), "utf-8")
    assert said(load(file, order, company)) == said(coverage)
    company.kill()
