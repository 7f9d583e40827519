"""Counterexamples: faults are found soon, counterexamples are small, and their files show the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from run_helpers import reference
from sds_conformance.exploration.assessment import BREAKDOWN, Assessment, assess
from sds_conformance.exploration.campaign import CampaignOrder, explore
from sds_conformance.exploration.cast_under_test import CastKind, CastUnderTest
from sds_conformance.exploration.counterexample import Counterexample, save, shrink_finding
from sds_conformance.exploration.hunt import order_for
from sds_conformance.exploration.text import plain_story, proof_of, svg_of
from sds_conformance.judging.verdict import Finding
from sds_conformance.scenario_files.reader import load_one
from sds_harness.link import LocalLink
from sds_harness.schedules import Schedule
from sds_harness.sds.generator import Grammar, generate_schedule
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config
from sds_reference.mutants import MUTANTS

EXAMPLES = 60
SMALL = 10
"""Operations."""
KILLED = {
    "buffered-is-met": ("SDS-RECV-06", "chain-in-reverse"),
    "delivers-children-first": ("SDS-DELIVER-07", "chain-in-reverse"),
    "sync-does-not-increase": ("SDS-SYNC-03", "syncs"),
    "rebroadcasts-once": ("SDS-OUTSWEEP-01", "resends"),
    "asks-in-content-only": ("SDS-R-SEND-01", "gap"),
}
"""Mutants, with what each of them violates and a passage that leads to it."""


def order_against(name: str, casting: CastKind = CastKind.TOGETHER) -> CampaignOrder:
    """A campaign against a mutant, of schedules in which its passage is one of several."""
    what, passage = KILLED[name]
    sds_r = what.startswith("SDS-R-")
    passages = tuple(dict.fromkeys((passage, "chatter", "asked" if sds_r else "syncs")))
    grammar = Grammar(most=4, longest=4, sds_r=sds_r, passages=passages)
    return replace(order_for(MUTANTS[name], casting), grammar=grammar, twins=False)


def cast_under_test_of(order: CampaignOrder) -> CastUnderTest:
    cast_under_test = order.cast_under_test()
    cast_under_test.start()
    return cast_under_test


def first_finding(order: CampaignOrder, what: str) -> tuple[int, Finding]:
    """The first schedule on which it is found, and the finding."""
    cast_under_test, scope = cast_under_test_of(order), order.scope.restricted_to(what)
    for index in range(EXAMPLES):
        schedule = generate_schedule(order.seed, index, order.grammar)
        for finding in assess(
            cast_under_test.play(schedule), scope, cast_under_test.participants_under_test(schedule)
        ).findings:
            if finding.requirement == what:
                return index, finding
    raise AssertionError(f"{what} was not found within {EXAMPLES} schedules")


def judged(order: CampaignOrder, schedule: Schedule) -> Assessment:
    cast_under_test = cast_under_test_of(order)
    return assess(
        cast_under_test.play(schedule),
        order.scope,
        cast_under_test.participants_under_test(schedule),
        cast_under_test.play,
    )


@pytest.fixture(scope="module", params=KILLED)
def shrunk(request: pytest.FixtureRequest) -> tuple[CampaignOrder, Counterexample]:
    """A campaign against a mutant, and the counterexample that it gives."""
    order = order_against(request.param)
    index, finding = first_finding(order, KILLED[request.param][0])
    example = shrink_finding(order, cast_under_test_of(order), index, finding)
    assert isinstance(example, Counterexample)
    return order, example


def broken(command: str) -> CampaignOrder:
    """A campaign against the reference, which crashes whenever it gets a command."""

    def connect(_: object) -> LocalLink:
        inner = reference()

        def handle(request: pb.Request) -> pb.Reply:
            if request.WhichOneof("command") == command:
                raise RuntimeError("out of order")
            return inner(request)

        return LocalLink(handle)

    return CampaignOrder(connect, examples=20)


# ---- Shrunk ----------------------------------------------------------------------------------------------------------


def test_what_is_found_is_small(shrunk: tuple[CampaignOrder, Counterexample]) -> None:
    _, example = shrunk
    assert 1 <= len(example.schedule.operations) <= SMALL
    assert len(example.schedule.operations) < len(example.original.operations)
    assert len(example.schedule.members) <= len(example.original.members)
    assert example.attempts > 0
    assert example.finding.requirement == example.what
    assert example.act is not None
    assert example.act.who == example.finding.participant


def test_files_show_the_same_again(shrunk: tuple[CampaignOrder, Counterexample], tmp_path: Path) -> None:
    order, example = shrunk
    files = save(example, tmp_path / "a" / "b", svg_of(example), plain_story(example))
    assert set(files) == {"schedule", "trace", "picture", "story"}
    assert sorted(files.values()) == sorted((tmp_path / "a" / "b").iterdir())

    schedule = load_one(files["schedule"]).schedule
    assert schedule == example.schedule
    notes = dict(schedule.notes)
    assert notes["shows"] == example.what
    assert (notes["cast"], notes["revision"]) == (order.casting.value, order.revision)
    again = [finding for finding in judged(order, schedule).findings if finding.requirement == example.what]
    assert example.finding in again

    lines = [json.loads(line) for line in files["trace"].read_text("utf-8").splitlines()]
    assert lines[0]["schedule"] == example.schedule.name
    assert lines[0]["steps"] == len(lines) - 1 > 0
    picture = ElementTree.parse(files["picture"]).getroot()
    assert picture.tag.endswith("svg")
    assert example.what in "".join(picture.itertext())
    story = files["story"].read_text("utf-8")
    assert story.startswith(f"{example.finding.severity.value.upper()} {example.finding.full_code} ")
    assert all(line in story for line in proof_of(example))


# ---- Of other kinds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["send_sync", "send"])
def test_a_breakdown_is_shrunk_however_often_it_breaks(command: str) -> None:
    order = broken(command)
    tally = explore(order)
    cast_under_test = cast_under_test_of(order)
    example = shrink_finding(order, cast_under_test, tally.found_at[BREAKDOWN], tally.found[BREAKDOWN])
    assert isinstance(example, Counterexample)
    assert [operation.op for operation in example.schedule.operations] == [command.removeprefix("send_")]
    assert len(example.schedule.members) == 1
    assert "out of order" in example.finding.seen


# ---- Files -----------------------------------------------------------------------------------------------------------


def test_texts_have_the_step_numbers_of_the_story() -> None:
    """Participants in processes of their own have traces of their own, which count only their own steps."""
    order = order_against("buffered-is-met", CastKind.APART)
    index, finding = first_finding(order, "SDS-RECV-06")
    example = shrink_finding(order, cast_under_test_of(order), index, finding)
    assert isinstance(example, Counterexample)
    assert example.act is not None
    assert example.act.number != example.finding.step
    assert example.seen == f"delivered at step {example.act.number}"
    assert f"seen: delivered at step {example.act.number}" in "\n".join(proof_of(example))


def small_example(name: str = "sloppy") -> Counterexample:
    mutant = MUTANTS["sync-does-not-increase"]
    order = CampaignOrder(
        lambda _: LocalLink(reference(mutant.configure(Config()), participant=mutant.participant_class, name=name)),
        grammar=Grammar(passages=("syncs",)),
        twins=False,
    )
    index, finding = first_finding(order, "SDS-SYNC-03")
    example = shrink_finding(order, cast_under_test_of(order), index, finding)
    assert isinstance(example, Counterexample)
    return example


@pytest.mark.parametrize("what", ["../../etc/passwd", "a/b\\c:d", "Grüße 🦊\n", "G-01"])
def test_names_of_files_are_safe(what: str, tmp_path: Path) -> None:
    example = replace(small_example(), what=what)
    files = save(example, tmp_path / "kept", "<svg/>", "story")
    for path in files.values():
        assert path.parent == tmp_path / "kept"
        assert set(path.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")
        assert path.is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("name", ["x" * 5_000, "\x1b[31mred\n\u202e\ud7ff", "Ж" * 300])
def test_whatever_an_implementation_calls_itself_its_schedules_can_be_read(name: str, tmp_path: Path) -> None:
    example = small_example(name)
    files = save(example, tmp_path, svg_of(example), plain_story(example))
    assert load_one(files["schedule"]).schedule == example.schedule
    ElementTree.parse(files["picture"])


def test_what_cannot_be_written_is_an_error_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    example = small_example()
    (tmp_path / "file").write_text("I am no folder")
    with pytest.raises(OSError, match="file"):
        save(example, tmp_path / "file", "<svg/>", "story")
    kept = tmp_path / "kept"
    for text in ("first", "second"):
        files = save(example, kept, "<svg/>", text)
    assert files["story"].read_text("utf-8") == "second"
    assert not list(kept.glob("*.tmp"))
