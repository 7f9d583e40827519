"""Implementations that meet each other: what the matrix says of who understands whom, in each protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from clearskies_proto.testee.v1 import testee_pb2 as clearskies_pb
from clearskies_reference import PROFILES as SIGNATURES
from clearskies_reference import Config as ClearSkiesConfig
from interop_casts import CLEARSKIES, FORUM, Start, cast_of, cells_with, clearskies_peer, met, mutant
from run_helpers import Handle, altered, odd_adapter, reference, reference_command, variant
from sds_conformance.exploration.casts import RevisionMismatchError
from sds_conformance.interop.matrix import Interop, explore
from sds_conformance.interop.story import InteropStory
from sds_conformance.judging.exits import Exit
from sds_conformance.judging.runner import PATIENCE
from sds_conformance.protocols import exchanges_of
from sds_conformance.protocols.clearskies.exchanges import MEANINGS as CLEARSKIES_ASPECTS
from sds_conformance.protocols.exchanges import AspectMark
from sds_conformance.protocols.sds.exchanges.aspects import Aspect
from sds_harness.schedules import dumps
from sds_harness.sds.generator import generate_schedule
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import PROFILES, Config
from sds_reference.variants import VARIANTS
from suite_terminal import typed, words


def marked(outcome: Interop, sender: str, receiver: str, mark: AspectMark = AspectMark.NO) -> set[str]:
    return {aspect for aspect, cell in outcome.pair_results[sender, receiver].cells.items() if cell.mark is mark}


def reason(outcome: Interop, sender: str, receiver: str, aspect: Aspect) -> str:
    return outcome.pair_results[sender, receiver].cells[aspect].reason


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


@pytest.mark.parametrize("name", [n for n, v in VARIANTS.items() if v.revision == FORUM and not n.endswith("-filter")])
def test_what_the_proposal_leaves_open_is_understood(name: str) -> None:
    assert cells_with(met(FORUM, ref=reference, legal=lambda: variant(name))) == {}


@pytest.mark.parametrize("name", ["reference", "sends-at-ticks", "spaced-bodies", "losers-of-keys-deleted", "echoes"])
def test_legal_peers_of_clearskies_understand_everything_of_each_other(name: str) -> None:
    outcome = met(CLEARSKIES, ref=clearskies_peer(), other=clearskies_peer(name))
    assert len(cells_with(outcome, AspectMark.YES)) == len(outcome.pair_results) * len(CLEARSKIES_ASPECTS)


# ---- wire layouts and filters --------------------------------------------------------------------------------------


def test_a_private_wire_layout_is_one_fault_and_hides_nothing() -> None:
    outcome = met(ref=reference, nim=lambda: reference(dialect="nim-sds"))
    for names in (("ref", "nim"), ("nim", "ref")):
        assert outcome.pair_results[names].pair.translated
        assert marked(outcome, *names) == {Aspect.WIRE}
        assert marked(outcome, *names, mark=AspectMark.YES) == set(Aspect) - {Aspect.WIRE}
        assert "nim must act" in reason(outcome, *names, Aspect.WIRE)
        assert "refuses the bytes" in reason(outcome, *names, Aspect.WIRE)
    assert outcome.pair_results["nim", "nim"].is_understood
    assert outcome.exit_code == Exit.NON_CONFORMANT


def test_filters_of_another_profile_are_not_understood_and_all_else_is() -> None:
    outcome = met(ref=reference, nim=lambda: reference(Config(bloom_profile=PROFILES["nim-sds"])))
    for names in (("ref", "nim"), ("nim", "ref")):
        assert marked(outcome, *names) == {Aspect.FILTER}
        assert "bloom profiles differ" in reason(outcome, *names, Aspect.FILTER)
    assert outcome.pair_results["nim", "nim"].is_understood
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
    outcome = met(ref=reference, bad=mutant(name))
    assert outcome.breakdowns == []
    assert aspect in marked(outcome, sender, receiver)
    assert "bad" in reason(outcome, sender, receiver, aspect)
    assert outcome.pair_results["ref", "ref"].is_understood
    assert outcome.exit_code == Exit.NON_CONFORMANT


@pytest.mark.parametrize(
    ("name", "aspect"), [("writes-fields-of-sds", Aspect.WIRE), ("forum-ties-by-arrival", Aspect.ORDER)]
)
def test_a_fault_of_the_proposal_is_seen_in_its_aspect(name: str, aspect: Aspect) -> None:
    wrong = cells_with(met(FORUM, ref=reference, bad=mutant(name)))
    assert any(key.endswith(f", {aspect}") and "bad" in key for key in wrong), wrong


@pytest.mark.parametrize(
    ("name", "aspect"),
    [
        ("sends-values-as-strings", "update"),
        ("reader-does-not-answer", "relay"),
        ("ignores-deletions", "deletion"),
        ("keeps-old-keys", "renaming"),
        ("smallest-time-wins", "conflict"),
        ("first-key-wins", "key"),
    ],
)
def test_a_fault_of_a_peer_of_clearskies_is_seen_where_it_is(name: str, aspect: str) -> None:
    wrong = cells_with(met(CLEARSKIES, ref=clearskies_peer(), other=clearskies_peer(name)))
    assert any(key.endswith(f", {aspect}") for key in wrong), wrong
    assert all("other" in reason for key, reason in wrong.items() if key.endswith(f", {aspect}"))
    assert not any(key.startswith("ref to ref") for key in wrong)


def test_another_profile_of_signatures_is_reported_and_only_signatures_are_not_believed() -> None:
    sha1 = replace(ClearSkiesConfig(), signature_profile=SIGNATURES["rsa-pkcs1-sha1"])
    outcome = met(CLEARSKIES, ref=clearskies_peer(), other=clearskies_peer(config=sha1))
    for sender, receiver in (("ref", "other"), ("other", "ref")):
        assert marked(outcome, sender, receiver) == {"signature", "relay"}
    pair = outcome.pair_results["ref", "other"].pair
    assert any("must use the same" in note for note in exchanges_of(CLEARSKIES).notes(pair))


# ---- breakdowns ----------------------------------------------------------------------------------------------------


def crashes(request: pb.Request, reply: pb.Reply) -> None:
    if request.HasField("receive"):
        raise RuntimeError("inside out \x1b[31m")


def test_a_breakdown_is_that_ones_and_the_others_go_on() -> None:
    outcome = met(one=reference, bad=lambda: altered(crashes), two=reference)
    for names in (("one", "one"), ("one", "two"), ("two", "one"), ("two", "two")):
        assert outcome.pair_results[names].is_understood
    assert {name for name, _ in outcome.breakdowns} == {"bad"}
    assert len(outcome.breakdowns) == PATIENCE
    assert "bad must act: it broke down (crash: " in reason(outcome, "one", "bad", Aspect.CONTENT)
    assert "bad broke down 4 times in a row" in reason(outcome, "two", "bad", Aspect.CONTENT)
    assert all("\x1b" not in cell.reason for result in outcome.pair_results.values() for cell in result.cells.values())
    assert outcome.exit_code == Exit.NON_CONFORMANT


def test_a_dialect_that_is_not_known_cannot_be_driven() -> None:
    def declares(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.dialect = "klingon"

    outcome = met(one=reference, odd=lambda: altered(declares))
    assert "klingon" in outcome.undriven["odd"].detail
    assert outcome.exit_code == Exit.NOT_DRIVEN


# ---- what is not declared ------------------------------------------------------------------------------------------


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
    outcome = met(lesser=lambda: reference(without=without), ref=reference)
    assert outcome.misunderstandings == []
    assert (
        marked(outcome, "lesser", "ref", AspectMark.OPEN) | marked(outcome, "ref", "lesser", AspectMark.OPEN) == open_
    )
    for aspect in open_ & marked(outcome, "lesser", "ref", AspectMark.OPEN):
        assert "lesser" in reason(outcome, "lesser", "ref", aspect)
    assert outcome.exit_code == Exit.CONFORMANT


def test_what_a_peer_of_clearskies_does_not_declare_is_left_open() -> None:
    without = frozenset({clearskies_pb.CAPABILITY_READ_ONLY, clearskies_pb.CAPABILITY_RENAME})
    outcome = met(CLEARSKIES, ref=clearskies_peer(), other=clearskies_peer(without=without))
    assert cells_with(outcome) == {}
    left = cells_with(outcome, AspectMark.OPEN)
    assert set(left) == {
        *(f"{who} to other, signature" for who in ("ref", "other")),
        *(f"other to {who}, relay" for who in ("ref", "other")),
        *(f"other to {who}, renaming" for who in ("ref", "other")),
    }
    assert all("does not declare" in reason for reason in left.values())


# ---- interrupts ----------------------------------------------------------------------------------------------------


def test_an_interrupt_keeps_what_was_understood_until_then() -> None:
    played: list[str] = []

    def progress(what: str, number: int, total: int) -> None:
        played.append(what)

    def start() -> Handle:
        return altered(interrupt)

    def interrupt(request: pb.Request, reply: pb.Reply) -> None:
        if len(played) > 2:
            raise KeyboardInterrupt

    with cast_of({"a": start, "b": reference}) as cast:
        outcome = explore(cast, progress)
    assert outcome.interrupted
    assert outcome.exit_code == Exit.INTERRUPTED
    assert marked(outcome, "a", "a", AspectMark.YES)
    assert not marked(outcome, "b", "a", AspectMark.NO)
    assert {cell.reason for cell in outcome.pair_results["b", "a"].cells.values()} == {
        "not played because of an interrupt"
    }
    console = Console(width=200, record=True, file=StringIO())
    story = InteropStory(console, outcome)
    story.show()
    output = console.export_text() + story.verdict(1.0).plain
    assert "no verdict on which implementations understand each other" in output
    assert "Not understood" not in output


# ---- other texts -----------------------------------------------------------------------------------------------------


def speaking(*revisions: str) -> Start:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.revisions[:] = revisions

    return lambda: altered(change)


def test_who_speaks_another_text_does_not_take_part() -> None:
    for revisions in (("sds-2026-01", FORUM), ("no-such-revision",)):
        assert cells_with(met(FORUM, ref=reference, other=speaking(*revisions))) == {}
    with pytest.raises(RevisionMismatchError, match=rf"other speaks sds-2026-01, and not {FORUM}"):
        met(FORUM, ref=reference, other=speaking("sds-2026-01"))


REF = f"ref={' '.join(reference_command())}"


def test_a_cast_of_two_texts_is_refused_with_what_to_type() -> None:
    other = f"other={' '.join(odd_adapter('speaks-one-revision', FORUM))}"
    refused = typed("interop", "--schedules", "0", REF, other)
    assert refused.exit_code == 2
    text = words(refused.stderr)
    assert f"other speaks {FORUM}, and not sds-2026-01: omit this implementation, or type a --revision that all" in text
    agreed = typed("interop", "--revision", FORUM, "--schedules", "2", "--json", REF, other)
    data = json.loads(agreed.stdout)
    assert agreed.exit_code == 0
    assert [aspect["id"] for aspect in data["aspects"]] == [str(a) for a in Aspect if a is not Aspect.REPAIR]
    assert data["mixed_groups"]["schedules"] == 2


def test_a_schedule_of_a_mixed_group_is_played_again_under_its_revision(tmp_path: Path) -> None:
    schedule = generate_schedule(0, 3)
    plays = {"cast": "mixed", **{f"plays {name}": "ref" for name in schedule.names}}
    noted = {**plays, "revision": FORUM, "shows": "G-F01", "against": "ref"}
    file = tmp_path / "mixed.json"
    file.write_text(dumps(replace(schedule, notes=tuple(sorted(noted.items())))))
    again = typed("interop", "--replay", str(file), REF)
    assert again.exit_code == 0
    assert "G-F01 is not violated by ref in this run." in words(again.stdout)
    file.write_text(file.read_text().replace("G-F01", "G-F04"))
    again = typed("interop", "--replay", str(file), REF)
    assert "G-F04 was withdrawn: the same faults are judged by FORUM-45, FORUM-22." in words(again.stdout)
    refused = typed("interop", "--revision", "sds-2026-01", "--replay", str(file), REF)
    assert refused.exit_code == 2
    assert f"was made for {FORUM}, not for sds-2026-01" in words(refused.stderr)
