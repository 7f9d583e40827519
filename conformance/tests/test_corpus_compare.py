"""Where two corpora part: every divergence at its schedule, step and participant, and damage under its own name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
from pyarrow import parquet as pq

from sds_conformance.catalogue.positions import load_positions
from sds_conformance.corpus import classifying, freedoms
from sds_conformance.corpus.classifying import Class, Classified, at_sight, judged, where
from sds_conformance.corpus.comparing import divergences
from sds_conformance.corpus.diffing import comparable, stored
from sds_conformance.corpus.freedoms import FREEDOMS
from sds_conformance.corpus.ranges import Corpus, Divergence
from sds_conformance.corpus.samples import sentence
from sds_conformance.exploration.casting import Casting
from sds_conformance.exploration.judging import Scope, assess, in_time, judged_revision
from sds_harness.corpus import shards
from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.manifest import MANIFEST, SUCCESS, read_complete
from sds_harness.corpus.place import Place
from sds_harness.corpus.recording import prepare, record_shard
from sds_harness.corpus.shards import file_name
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.variants import VARIANTS
from stored import Edit, Model, Variants, edited, order_of, record_here, recording_of

pytestmark = pytest.mark.spark

SCHEDULES = 24
SCOPE = Scope.of()


def corpus(folder: Path) -> Corpus:
    place = Place.at(str(folder))
    return Corpus(place, read_complete(place))


def compared(a: Path, b: Path, **options: Any) -> dict[int, Divergence]:
    one, other = corpus(a), corpus(b)
    comparable(one, other)
    most = max(one.manifest.schedules, other.manifest.schedules)
    return {found.schedule: found for found in divergences(one, other, range(most), **options)}


def classified(a: Path, b: Path) -> list[Classified]:
    one, other = corpus(a), corpus(b)
    revisions = (one.manifest.revision, other.manifest.revision)
    out = []
    for number, found in sorted(compared(a, b).items()):
        mine, theirs = (next(stored(c, [number])) for c in (one, other))
        out.append(judged(found, mine, theirs, (SCOPE, SCOPE), revisions))
    return out


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record_here(tmp_path_factory.mktemp("corpora") / "reference", order_of(schedules=SCHEDULES), per_shard=10)


def change(step: int, **values: Any) -> Edit:
    """Other values in one step."""

    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["step"] == step:
                row |= {name: value(row[name]) if callable(value) else value for name, value in values.items()}

    return edit


def flip(value: int) -> int:
    """The last of 64 bits: beyond 2^53 a floating-point number does not have it."""
    return value ^ 1


def gone(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    side.clear()


CHANGES: list[tuple[int, int, dict[str, Any]]] = [
    (0, 9, {"lamport": flip}),
    (1, 5, {"delivered": lambda names: [*names, "nobody#m9"]}),
    (2, 1, {"participant": "mallory"}),
    (3, 12, {"answer": "rejected"}),
    (9, 7, {"at_ms": lambda ms: ms + 1}),
    (10, 20, {"wire": flip, "contents": flip}),
    (11, 3, {"acknowledged": ["a", "b"]}),
    (19, 8, {"log": 2**63 - 1}),
    (20, 4, {"missing": ["x"], "lost": ["y"]}),
    (23, 6, {"repairs": -(2**63)}),
]


@pytest.mark.parametrize("read_all", [False, True])
def test_every_change_is_found_at_its_place(reference: Path, tmp_path: Path, read_all: bool) -> None:
    other = edited(reference, tmp_path / "b", {number: change(step, **new) for number, step, new in CHANGES})
    found = compared(reference, other, read_all=read_all)
    assert {number: (one.step, set(one.fields)) for number, one in found.items()} == {
        number: (step, set(new)) for number, step, new in CHANGES
    }
    assert found[0].row["participant"] in ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"]
    mine, theirs = found[0].values["lamport"]
    assert mine == theirs ^ 1
    assert found[2].b is not None
    assert found[2].b["participant"] == "mallory"


def test_numbers_that_differ_beyond_53_bits_differ(reference: Path, tmp_path: Path) -> None:
    a = edited(reference, tmp_path / "a", {6: change(9, lamport=2**53)})
    b = edited(reference, tmp_path / "b", {6: change(9, lamport=2**53 + 1)})
    assert float(2**53) == float(2**53 + 1)
    assert compared(a, b)[6].values == {"lamport": [2**53, 2**53 + 1]}


def test_the_first_of_several_changes_counts(reference: Path, tmp_path: Path) -> None:
    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        for row in rows[4:]:
            row["at_ms"] += 1

    assert compared(reference, edited(reference, tmp_path / "b", {5: edit}))[5].step == 5


def test_what_is_informative_makes_no_difference(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {3: change(4, filter=1, history=2, message_id="x", due=3)})
    assert compared(reference, other) == {}


def test_shards_of_another_size_are_aligned(reference: Path, tmp_path: Path) -> None:
    whole = record_here(tmp_path / "whole", order_of(schedules=SCHEDULES), per_shard=SCHEDULES)
    assert compared(reference, whole) == {}
    other = edited(whole, tmp_path / "b", {number: change(step, **new) for number, step, new in CHANGES})
    for read_all in (False, True):
        found = compared(reference, other, read_all=read_all)
        assert {number: one.step for number, one in found.items()} == {n: s for n, s, _ in CHANGES}


def fewer(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows[:-2]


def with_gap(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    side["digest"] = b"x" * 16
    return [row for row in rows if row["step"] != 6]


def twice(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    side["digest"] = b"x" * 16
    return [*rows[:4], rows[3], *rows[4:]]


def test_missing_and_extra_schedules(reference: Path, tmp_path: Path) -> None:
    fewer_b = edited(reference, tmp_path / "b", {4: gone, 12: gone})
    kinds = {number: at_sight(one).kind for number, one in compared(reference, fewer_b).items()}
    assert kinds == {4: Class.MISSING, 12: Class.MISSING}
    kinds = {number: at_sight(one).kind for number, one in compared(fewer_b, reference).items()}
    assert kinds == {4: Class.EXTRA, 12: Class.EXTRA}
    with pytest.raises(CorpusError, match="schedule 4 is not in it, although it is complete"):
        compared(fewer_b, fewer_b)


def test_a_longer_corpus_has_extra_schedules(reference: Path, tmp_path: Path) -> None:
    longer = record_here(tmp_path / "longer", order_of(schedules=SCHEDULES + 2), per_shard=10)
    kinds = {number: at_sight(one).kind for number, one in compared(reference, longer).items()}
    assert kinds == {SCHEDULES: Class.EXTRA, SCHEDULES + 1: Class.EXTRA}


def test_steps_that_end_too_soon_are_a_difference(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {7: fewer})
    for read_all in (False, True):
        found = compared(reference, other, read_all=read_all)[7]
        assert (found.fields, found.steps[0] - found.steps[1], found.step) == (("end",), 2, found.steps[1] + 1)
        assert found.b is None


@pytest.mark.parametrize(
    ("edit", "kind", "step"), [(with_gap, Class.TRUNCATED, 6), (twice, Class.DUPLICATE, 4), (fewer, Class.TRUNCATED, 0)]
)
def test_steps_that_are_not_all_there_are_damage(
    reference: Path, tmp_path: Path, edit: Edit, kind: Class, step: int
) -> None:
    def dishonest(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        side["digest"] = b"x" * 16
        return edit(side, rows)

    other = edited(reference, tmp_path / "b", {7: dishonest}, honest=False)
    for read_all in (False, True):
        found = compared(reference, other, read_all=read_all)[7]
        assert (at_sight(found).kind, found.side) == (kind, "B")
        assert found.step == (step or found.steps[1] - 1)


def test_a_digest_that_is_none_is_told(reference: Path, tmp_path: Path) -> None:
    def lies(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["digest"] = b"x" * 16

    found = compared(reference, edited(reference, tmp_path / "b", {7: lies}, honest=False))
    assert {number: at_sight(one).kind for number, one in found.items()} == {7: Class.DAMAGED}


def test_only_digests_that_are_computed_again_see_what_was_changed_behind_them(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {7: change(5, lamport=flip)}, honest=False)
    assert compared(reference, other) == {}
    found = compared(reference, other, verify=True)
    assert [(one.schedule, one.kind, one.step, one.side) for one in found.values()] == [(7, "stale digest", 5, "B")]
    assert compared(reference, reference, verify=True) == {}


def test_who_has_all_read_needs_no_digest(reference: Path, tmp_path: Path) -> None:
    """Rows that were changed behind hash and digest, and others that were not, behind a digest of nothing."""

    def lies(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["digest"] = b"x" * 16

    other = edited(reference, tmp_path / "b", {7: change(5, lamport=flip), 9: lies}, honest=False)
    found = compared(reference, other, read_all=True)
    assert {number: (one.kind, one.step, one.fields) for number, one in found.items()} == {
        7: ("different", 5, ("lamport",)),
    }
    assert compared(reference, reference, read_all=True) == {}


def test_rows_that_were_moved_are_put_in_order(reference: Path, tmp_path: Path) -> None:
    def turned(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rows[::-1]

    other = edited(reference, tmp_path / "b", {7: turned, 8: change(3, log=1)}, honest=False)
    for read_all in (False, True):
        assert set(compared(reference, other, read_all=read_all)) <= {7, 8}
    assert {n: one.step for n, one in compared(reference, other, read_all=True).items()} == {8: 3}


# ---- Damage ----------------------------------------------------------------------------------------------------------


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def removed(file: Path) -> None:
    file.unlink()


def other_columns(file: Path) -> None:
    pq.write_table(pa.table({"schedule": [1]}), file)


def garbled(file: Path) -> None:
    """A few bits, in a column that is read."""
    metadata = pq.read_metadata(file)
    group = metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    column = next(c for c in columns if c.path_in_schema in ("row_hash", "digest"))
    raw = bytearray(file.read_bytes())
    raw[column.data_page_offset + column.total_compressed_size - 3] ^= 0x5A
    file.write_bytes(raw)


@pytest.mark.parametrize("folder", ["steps", "schedules"])
@pytest.mark.parametrize("damage", [cut_short, emptied, removed, other_columns, garbled])
def test_a_damaged_file_is_named(reference: Path, tmp_path: Path, folder: str, damage: Callable[[Path], None]) -> None:
    other = edited(reference, tmp_path / "b", {number: change(5, at_ms=-1) for number in range(10, 20)})
    damage(other / folder / file_name(1))
    with pytest.raises(CorpusError, match=rf"{folder}/{file_name(1)}|shard"):
        compared(reference, other, verify=True)


def test_row_groups_have_a_largest_size(reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_MOST_ROWS", 100)
    with pytest.raises(CorpusError, match=r"steps/part-000000\.parquet has a row group larger"):
        compared(reference, reference)


def test_files_of_two_attempts_are_no_pair(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {})
    again = edited(reference, tmp_path / "c", {11: change(5, at_ms=1)})
    (again / "steps" / file_name(1)).replace(other / "steps" / file_name(1))
    with pytest.raises(CorpusError, match="were not written together"):
        compared(reference, other)


def rewritten(folder: Path, old: str, new: str) -> None:
    file = folder / MANIFEST
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"schema_version": 1', '"schema_version": 2', "is of schema version 2, and this suite reads version 1"),
        ('"seed": 0', '"seed": 5', r"are not of the same schedules.*seed: 0 and 5"),
        ('"most": 8', '"most": 4', r"are not of the same schedules.*grammar"),
        ('"complete": true', '"complete": false', "is not complete"),
        ('"per_shard": 10', '"per_shard": 0', "0 schedules make no shard"),
        ('"seed": 0', '"seed": "0"', "seed is not of type int"),
        ('"seed": 0', '"mood": 0', "has a field 'mood'"),
        ("{", "[", "is no JSON"),
    ],
)
def test_a_manifest_that_does_not_do_is_told(reference: Path, tmp_path: Path, old: str, new: str, why: str) -> None:
    other = edited(reference, tmp_path / "b", {})
    rewritten(other, old, new)
    with pytest.raises(CorpusError, match=why):
        compared(reference, other)


def test_what_is_no_corpus_is_told(reference: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match=r"is no corpus: it has no manifest\.json"):
        compared(reference, tmp_path / "empty")
    with pytest.raises(CorpusError, match="is not there"):
        compared(reference, tmp_path / "nowhere")
    other = edited(reference, tmp_path / "b", {})
    (other / SUCCESS).unlink()
    with pytest.raises(CorpusError, match="is not complete"):
        compared(reference, other)


def test_schedules_that_are_others_are_not_compared(reference: Path, tmp_path: Path) -> None:
    def other_plan(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["plan"] = b"y" * 16

    with pytest.raises(CorpusError, match="different schedules under number 13"):
        compared(reference, edited(reference, tmp_path / "b", {13: other_plan}))


# ---- Classes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["history-of-one", "newest-first", "nim-filter", "slow-resend", "sweep-only", "nim-hash", "quiet-syncs"]
)
def test_legal_differences_are_legal(reference: Path, tmp_path: Path, name: str) -> None:
    assert name in VARIANTS
    other = record_here(tmp_path / "b", order_of(Model(variant=name), SCHEDULES))
    found = classified(reference, other)
    assert {(one.kind, one.cause) for one in found if one.kind is not Class.LEGAL} == set()
    assert all(one.reason for one in found)


@pytest.mark.parametrize(
    ("names", "index"),
    [
        (("drops-the-lost",), 89),
        (("keeps-syncs-waiting",), 79),
        (("answers-at-once", "ack-after-two"), 29),
    ],
)
def test_freedoms_that_meet_in_one_step_are_legal(tmp_path: Path, names: tuple[str, ...], index: int) -> None:
    """One delivers what another one has in its history; one counts hits and answers at once."""
    seed = 2 if len(names) > 1 else 0
    shards = []
    for folder, model in (("a", Model()), ("b", Variants(names))):
        recording = recording_of(tmp_path / folder, order_of(model, index + 1, seed=seed), per_shard=1)
        prepare(recording.place, recording.manifest, overwrite=False)
        record_shard(recording, index)
        shards.append(Corpus(recording.place, recording.manifest))
    a, b = shards
    (found,) = divergences(a, b, range(index, index + 1))
    mine, theirs = (next(stored(c, [index])) for c in (a, b))
    revisions = (a.manifest.revision, b.manifest.revision)
    one = judged(found, mine, theirs, (SCOPE, SCOPE), revisions)
    assert (one.kind, bool(one.reason)) == (Class.LEGAL, True), one.cause


@pytest.mark.parametrize(
    ("name", "requirement"),
    [
        ("sync-does-not-increase", "SDS-SYNC-03"),
        ("ties-by-arrival", "SDS-CONFLICT-03"),
        ("one-level-only", "SDS-INSWEEP-04"),
        ("restamped-copies", "SDS-MSG-21"),
    ],
)
def test_a_fault_is_found_under_its_requirement(reference: Path, tmp_path: Path, name: str, requirement: str) -> None:
    other = record_here(tmp_path / "b", order_of(Model(mutant=name), SCHEDULES))
    found = classified(reference, other)
    blamed = [one for one in found if one.kind is Class.B_VIOLATES]
    assert requirement in {one.cause for one in blamed}
    assert not [one for one in found if one.kind in (Class.A_VIOLATES, Class.BOTH_VIOLATE)]
    turned = classified(other, reference)
    assert {one.kind for one in turned if one.violated_a} == {Class.A_VIOLATES}


def test_what_is_violated_first_is_named_first(tmp_path: Path) -> None:
    """By virtual time: in a cast of several implementations each counts its own steps."""
    order = order_of(Model(mutant="buffer-of-one"), SCHEDULES, casting=Casting.APART)
    folder = corpus(record_here(tmp_path / "a", order))
    otherwise = 0
    for one in stored(folder, range(SCHEDULES)):
        rebuilt = one.performance(folder.manifest.revision)
        performance = rebuilt.performance
        findings = assess(performance, SCOPE, rebuilt.judged).findings
        acts = [(performance.cast[f.participant].steps[f.step - 1], f) for f in findings]
        first = sorted(findings, key=in_time(performance))
        order_of_acts = [id(act.step) for act in performance.acts]
        places = {id(f): order_of_acts.index(id(step)) for step, f in acts}
        assert [places[id(f)] for f in first] == sorted(places.values())
        otherwise += first != sorted(findings, key=lambda f: f.step)
    assert otherwise, "in some of these it makes a difference"


def test_what_both_violate(tmp_path: Path) -> None:
    a = record_here(tmp_path / "a", order_of(Model(mutant="sync-does-not-increase"), 12))
    b = record_here(tmp_path / "b", order_of(Model(mutant="restamped-copies"), 12))
    assert Class.BOTH_VIOLATE in {one.kind for one in classified(a, b)}


@pytest.mark.parametrize("new", [{"lamport": flip}, {"acknowledged": ["alice#m1"]}])
def test_a_change_that_no_reply_shows_is_damage(reference: Path, tmp_path: Path, new: dict[str, Any]) -> None:
    """Whatever the digests say, and although a freedom would cover the second."""
    other = edited(reference, tmp_path / "b", {3: change(12, **new)})
    (one,) = classified(reference, other)
    assert (one.kind, one.cause) == (Class.DAMAGED, "damaged in B")
    assert "normative columns are not what its requests and replies give" in one.reason


def test_what_nothing_explains_is_unexplained(reference: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = record_here(tmp_path / "b", order_of(Model(variant="sweep-only"), SCHEDULES))
    monkeypatch.setattr(freedoms, "FREEDOMS", ())
    monkeypatch.setattr(classifying, "softened", lambda case: None)
    found = classified(reference, other)
    assert {one.kind for one in found} == {Class.UNEXPLAINED}
    assert all(one.cause == where(one.divergence) for one in found)


def test_replies_that_were_changed_are_damage(reference: Path, tmp_path: Path) -> None:
    other = edited(reference, tmp_path / "b", {3: change(8, at_ms=7, reply=b"\xba\x01\x00")})
    (one,) = classified(reference, other)
    assert (one.kind, one.cause) == (Class.DAMAGED, "damaged in B")


def test_what_only_one_declares_is_legal(tmp_path: Path) -> None:
    """Some schedules name no channel."""
    order = order_of(schedules=128)
    less = order_of(Model(without=frozenset({pb.CAPABILITY_UNNAMED_CHANNEL, pb.CAPABILITY_OBSERVE})), schedules=128)
    a, b = record_here(tmp_path / "a", order), record_here(tmp_path / "b", less)
    found = classified(a, b)
    assert {(one.kind, one.cause) for one in found} == {(Class.LEGAL, "undeclared")}
    assert set(compared(a, b, read_all=True)) == {one.divergence.schedule for one in found}


def test_freedoms_cite_positions_that_there_are() -> None:
    known = load_positions()
    cited = {position for freedom in FREEDOMS for position in freedom.positions}
    assert cited - set(known) == set()
    assert len({freedom.name for freedom in FREEDOMS}) == len(FREEDOMS)


# ---- What is forged --------------------------------------------------------------------------------------------------


def test_schedules_outside_of_their_shard_are_damage(reference: Path, tmp_path: Path) -> None:
    """The task that compares the shard would leave them to another one, which does not look there."""

    def moved(number: int) -> Edit:
        def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
            side["schedule"] = number
            for row in rows:
                row["schedule"] = number

        return edit

    for number in (3, 9999):
        other = edited(reference, tmp_path / str(number), {19: moved(number)})
        with pytest.raises(CorpusError, match=r"part-000001\.parquet has schedules .* should have none but 10 to 19"):
            compared(reference, other)


def test_rows_of_no_schedule_are_damage(reference: Path, tmp_path: Path) -> None:
    def more(side: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*rows, rows[0] | {"schedule": 9999, "step": 0}]

    with pytest.raises(CorpusError, match="has schedules 10 to 9999"):
        compared(reference, edited(reference, tmp_path / "b", {19: more}))


@pytest.mark.parametrize("column", ["reply", "json", "rows"])
def test_all_digests_are_computed_again(reference: Path, tmp_path: Path, column: str) -> None:
    """Those of requests, replies and schedules, too."""

    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        if column == "reply":
            rows[5]["reply"], rows[6]["reply"] = b"x", rows[5]["reply"]
        else:
            side[column] = side[column].replace("0", "1") if column == "json" else side[column] + 1

    other = edited(reference, tmp_path / "b", {7: edit}, honest=False)
    assert compared(reference, other) == {}
    found = compared(reference, other, verify=True)
    assert [(one.schedule, one.kind, one.side) for one in found.values()] == [(7, "stale digest", "B")]


def test_a_revision_that_nobody_knows_excuses_nothing() -> None:
    assert Scope.of("full", judged_revision("nonsense")) == Scope.of()
    assert judged_revision("forum-2024") == "forum-2024"


@pytest.mark.parametrize(
    "told", [{"capabilities": 5}, {"capabilities": [["observe"]]}, {"revisions": {"a": 1}}, {"name": ["x"]}]
)
def test_a_declaration_of_other_types_is_told(reference: Path, tmp_path: Path, told: dict[str, Any]) -> None:
    other = edited(reference, tmp_path / "b", {})
    data = json.loads((other / MANIFEST).read_text())
    data["implementation"] |= told
    (other / MANIFEST).write_text(json.dumps(data))
    with pytest.raises(CorpusError, match=f"{next(iter(told))} of the implementation"):
        corpus(other)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("hello", b"", "a stored handshake is none"),
        ("dialect", '{"dialect": "x", "message": {"nothing": 1}}', "its dialect cannot be read"),
        ("dialect", '{"dialect": "x", "message": {"sender_id": -1}}', "its dialect cannot be read"),
        ("dialect", "[" * 100_000, "its dialect cannot be read"),
    ],
)
def test_what_cannot_have_played_is_damage(reference: Path, tmp_path: Path, name: str, value: object, why: str) -> None:
    def edit(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        side["traces"] = [played_by | {name: value} for played_by in side["traces"]]

    other = corpus(edited(reference, tmp_path / "b", {3: edit}))
    with pytest.raises(CorpusError, match=why):
        next(stored(other, [3])).performance(other.manifest.revision)


def test_what_is_told_of_a_difference_is_cleared(reference: Path, tmp_path: Path) -> None:
    hostile = "\x1b[31m\u202e<b>"
    other = edited(reference, tmp_path / "b", {3: change(4, command=hostile, participant=hostile, message=hostile)})
    for found in (compared(reference, other)[3], compared(other, reference)[3]):
        assert (where(found) + sentence(found)).isprintable()
