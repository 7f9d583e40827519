"""Every schedule of a small world: which are played, what they find, and how to go on from where it ended."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from run_helpers import Handle, reference
from sds_conformance.cli.exhaust import events_left_out, last_line
from sds_conformance.exploration import exhaustion, exhaustion_campaign
from sds_conformance.exploration.assessment import BREAKDOWN
from sds_conformance.exploration.campaign import CampaignTally
from sds_conformance.exploration.cast_under_test import CachingCast, CastKind
from sds_conformance.exploration.checkpoint import ResumeError, load, save
from sds_conformance.exploration.exhaustion import ChunkResults, Exhaustion, Prober
from sds_conformance.exploration.exhaustion_campaign import Coverage, exhaust
from sds_conformance.judging.causes import Root
from sds_conformance.judging.exercise import NOTHING
from sds_conformance.protocols import default
from sds_harness.link import Link, LocalLink
from sds_harness.schedules.worlds import AlphabetPart
from sds_proto.testee.v1 import testee_pb2 as pb

CORE = (AlphabetPart(("send", "sync", "time", "arrive")),)
FULL = (AlphabetPart(("send", "sync", "time", "arrive", "repair")),)


def begun(handle: Handle | None = None, mutant: str = "", **rest: Any) -> tuple[Exhaustion, CachingCast, Coverage]:
    """A small world of the reference, a mutant of it, or what ``handle`` is."""

    def connect(_: object) -> Link:
        return default().model.mutant(mutant, NOTHING) if mutant else LocalLink(handle or reference())

    asked: dict[str, Any] = {"alphabet": CORE, "profile": "core", "jobs": 1} | rest
    order = Exhaustion(connect, **asked)
    cast_under_test = order.make_cast_under_test()
    order = order.restrict_to(cast_under_test.start())
    return order, cast_under_test, Coverage(order, CampaignTally(cast_under_test.declaration))


def exhausted(last: int, mutant: str = "", handle: Handle | None = None, **rest: Any) -> Coverage:
    order, cast_under_test, coverage = begun(handle, mutant, **rest)
    exhaust(order, cast_under_test, coverage, last)
    return coverage


def said(coverage: Coverage) -> dict[str, Any]:
    """All that does not depend on how long it took."""
    tally = coverage.tally
    bounds = [(b.events, b.schedules, b.played, b.impossible, b.renamed, sorted(b.chunks)) for b in coverage.bounds]
    counters = (tally.found_at, tally.found_in, tally.exercised, tally.situations, tally.steps, tally.schedules)
    return {"bounds": bounds, "tally": [dict(c) if isinstance(c, dict) else c for c in counters]}


@pytest.mark.parametrize("casting", list(CastKind))
def test_the_reference_is_left_in_peace_and_every_schedule_is_settled(casting: CastKind) -> None:
    coverage = exhausted(2, casting=casting, participants=3, alphabet=FULL, profile="full")
    assert not coverage.tally.found
    assert not coverage.tally.errors
    assert [bound.schedules for bound in coverage.bounds] == [6, 39]
    assert all(bound.is_complete and bound.percent == 100 for bound in coverage.bounds)
    assert coverage.last_complete is coverage.bounds[-1]
    assert coverage.schedules == 45
    assert coverage.tally.exercised


def test_what_is_not_declared_is_no_part_of_the_alphabet() -> None:
    without = frozenset({pb.CAPABILITY_SYNC, pb.CAPABILITY_SDS_R})
    order, cast_under_test, _ = begun(reference(without=without), profile="full", alphabet=FULL)
    cast_under_test.kill()
    assert order.alphabet == (AlphabetPart(("send", "time", "arrive")),)
    order, cast_under_test, _ = begun(profile="core", alphabet=FULL)
    cast_under_test.kill()
    assert order.alphabet == CORE


def test_a_fault_is_found_in_the_shortest_schedule_that_shows_it() -> None:
    """None of fewer events shows it, and its number is that of its schedule."""
    coverage = exhausted(3, "sync-does-not-increase")
    at = coverage.tally.found_at["SDS-SYNC-03"]
    words = [word for events in (1, 2, 3) for word in coverage.order.world.words(events)]
    assert words[at] == coverage.order.word(at)
    order, cast_under_test, _ = begun(mutant="sync-does-not-increase")
    cast_under_test.start()
    shown = []
    for index, word in enumerate(words[: at + 1]):
        share = ChunkResults(CampaignTally(cast_under_test.declaration), len(word))
        Prober(order, cast_under_test).probe(word, index, share)
        shown += [index] * ("SDS-SYNC-03" in share.tally.found)
    cast_under_test.kill()
    assert shown == [at]
    assert coverage.order.schedule(at).name.startswith(f"schedule {at} (2 participants, {len(words[at])} event")


MUTANTS = ("sync-does-not-increase", "acknowledges-after-one-filter-hit", "content-hash-id", "log-by-arrival")


@pytest.mark.parametrize(
    ("mutant", "participants"),
    [
        ("", 2),
        (MUTANTS[0], 2),
        ("", 3),
        *(pytest.param(mutant, 2, marks=pytest.mark.exhaustive) for mutant in MUTANTS[1:]),
    ],
)
def test_what_is_remembered_says_what_playing_it_says(
    mutant: str, participants: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing taken from memory, and everybody judged in each schedule, the same is found and nothing else."""
    monkeypatch.setattr(exhaustion, "SHORT", 0)
    bound = 4 if participants == 2 and mutant == "acknowledges-after-one-filter-hit" else 3
    some, all_of_it = (
        exhausted(bound, mutant, participants=participants, whole=whole).tally for whole in (False, True)
    )
    assert set(some.found) == set(all_of_it.found)
    assert some.found_at == all_of_it.found_at
    assert set(some.exercised) == set(all_of_it.exercised)
    assert some.schedules == all_of_it.schedules


def test_of_whoever_does_something_else_the_second_time_nothing_is_remembered() -> None:
    """It may draw its IDs by lot; what would be taken from memory would prove nothing of it."""
    often = itertools.count()

    def fickle(request: pb.Request) -> pb.Reply:
        reply = inner(request)
        if request.HasField("send_sync"):  # an unknown field, which is legal
            reply.effects.broadcasts[0] += b"\x9a\x06\x01" + bytes([65 + next(often) % 26])
        return reply

    inner = reference()
    whole = exhausted(3, handle=fickle, whole=True)
    asked_of_whole = next(often)
    coverage = exhausted(3, handle=fickle)
    asked = next(often) - asked_of_whole
    assert "send_sync was answered differently than before" in coverage.otherwise
    assert (whole.otherwise, exhausted(3).otherwise) == ("", "")
    assert (coverage.tally.gave_up, coverage.tally.errors) == ("", {})
    assert set(coverage.tally.found) == {"SDS-MSG-01"}
    assert said(coverage)["bounds"] == said(whole)["bounds"]
    assert asked > asked_of_whole - 10, "since then it is asked for everything"


def breaking_at(*commands: str) -> Handle:
    inner = reference()

    def breaking(request: pb.Request) -> pb.Reply:
        if request.WhichOneof("command") in commands:
            raise RuntimeError("out of order")
        return inner(request)

    return breaking


def test_an_event_that_it_always_breaks_at_is_left_out_and_the_rest_is_played(tmp_path: Path) -> None:
    alphabet = (AlphabetPart(("send", "sync", "time", "arrive")),)
    coverage = exhausted(4, handle=breaking_at("send_sync"), alphabet=alphabet)
    without = exhausted(4, alphabet=(alphabet[0].without("sync"),))
    assert coverage.tally.gave_up == ""
    assert all(bound.is_complete for bound in coverage.bounds)
    assert events_left_out(coverage) == ["sync: A participant sends a sync message."]
    assert BREAKDOWN in coverage.tally.found
    broken = coverage.tally.found_in[BREAKDOWN]
    assert 4 <= broken <= 8
    for one, other in zip(coverage.bounds, without.bounds, strict=True):
        assert other.played <= one.played <= other.played + broken
    assert coverage.bounds[-1].left_out > 0
    proved = next(bound.events for bound in coverage.bounds if bound.left_out) - 1
    assert coverage.last_proved is coverage.bounds[proved - 1], "no certificate claims what was left out"
    last = last_line(coverage, [Root(BREAKDOWN)], "it").plain
    assert "does not conform" in last
    assert f"except {coverage.left_out:,} with sync in them" in last
    save(coverage, tmp_path / "covered.json")
    order, cast_under_test, _ = begun(breaking_at("send_sync"), alphabet=alphabet)
    again = load(tmp_path / "covered.json", order, cast_under_test)
    assert (again.without, again.left_out) == (coverage.without, coverage.left_out)


def test_whoever_always_breaks_is_given_up_and_nothing_is_proved() -> None:
    coverage = exhausted(4, handle=breaking_at("send", "send_sync", "tick"))
    assert BREAKDOWN in coverage.tally.found
    assert "given up" in coverage.tally.gave_up
    assert not all(bound.is_complete for bound in coverage.bounds)


def test_an_interrupt_keeps_what_was_finished_and_it_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The final result is the same as without the interrupt, whatever was found before."""
    monkeypatch.setattr(exhaustion, "CHUNK", 10)
    monkeypatch.setattr(exhaustion_campaign, "SAMPLE", 10)
    monkeypatch.setattr("sds_conformance.exploration.checkpoint.CHUNK", 10)
    mutant = "sync-does-not-increase"
    whole = exhausted(3, mutant)
    file, rounds = tmp_path / "covered.json", 0
    while True:
        order, cast_under_test, coverage = begun(mutant=mutant)
        if file.exists():
            coverage = load(file, order, cast_under_test)
        left = iter(range(2))

        def progress(_: Coverage, left: Any = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        exhaust(order, cast_under_test, coverage, 3, progress=progress)
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
    order, cast_under_test, _ = begun()
    first = good["bounds"][0]
    wrongs: list[dict[str, Any]] = [
        {"schema": "sds-conformance/exhaustion/0"},
        {"participants": 3},
        {"implementation": "another 1.0"},
        {"digest_of_the_schedules": "0" * 64},
        {"bounds": [{**first, "schedules": 6}]},
        {"bounds": [{**first, "played": first["played"] + 1}]},
        {"bounds": [{**first, "chunks": [[0, 1]]}]},
        {"bounds": [{**first, "chunks": 7}]},
        {"steps": -1},
        {"seconds": "long"},
        {"found": {"SDS-SEND-01": {"first": 10**9, "schedules": 1}}},
        {"exercised": [1]},
    ]
    for wrong in wrongs:
        file.write_text(json.dumps({**good, **wrong}), "utf-8")
        with pytest.raises(ResumeError):
            load(file, order, cast_under_test)
    for text in (
        "",
        "[" * 100_000,
        '{"schema": NaN}',
        "[]",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ):
        file.write_text(text, "utf-8")
        with pytest.raises(ResumeError):
            load(file, order, cast_under_test)
    with pytest.raises(ResumeError, match=r"file|folder|read"):
        load(tmp_path, order, cast_under_test)
    file.write_text(json.dumps(good), "utf-8")
    assert said(load(file, order, cast_under_test)) == said(coverage)
    cast_under_test.kill()
