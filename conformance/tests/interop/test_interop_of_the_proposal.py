"""Implementations of the proposal of 2024 that meet each other, and who must not be taken for one of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from run_helpers import Handle, altered, odd_adapter, reference, reference_command, variant
from sds_conformance.exploration.assessment import Scope
from sds_conformance.exploration.casts import Cast, Implementation, RevisionMismatchError
from sds_conformance.interop.matrix import Interop, explore
from sds_conformance.interop.mixed import explore_mixed
from sds_conformance.interop.mixed_cast import MixedCast
from sds_conformance.protocols.exchanges import AspectMark
from sds_conformance.protocols.sds.exchanges.aspects import Aspect
from sds_harness.link import LocalLink
from sds_harness.schedules import dumps
from sds_harness.sds.generator import generate_schedule
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import FORUM_2024, Config
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from suite_terminal import typed, words

FORUM = FORUM_2024.name
Start = Callable[[], Handle]


@contextmanager
def cast_of(**starts: Start) -> Iterator[Cast]:
    def implementation(name: str, start: Start) -> Implementation:
        return Implementation(name, lambda _: LocalLink(start()))

    with Cast((implementation(name, start) for name, start in starts.items()), FORUM) as cast:
        yield cast


def met(**starts: Start) -> Interop:
    with cast_of(**starts) as cast:
        return explore(cast)


def misunderstood(outcome: Interop) -> dict[str, str]:
    return {
        f"{sender} to {receiver}, {aspect}": cell.reason
        for (sender, receiver), meeting in outcome.meetings.items()
        for aspect, cell in meeting.cells.items()
        if cell.mark is AspectMark.NO
    }


def speaking(*revisions: str) -> Handle:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.revisions[:] = revisions

    return altered(change)


def mutated(name: str) -> Handle:
    mutant = MUTANTS[name]
    return reference(mutant.configure(Config()), participant=mutant.participant_class)


# ---- The matrix ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n, v in VARIANTS.items() if v.revision == FORUM and not n.endswith("-filter")])
def test_what_the_proposal_leaves_open_is_understood(name: str) -> None:
    assert misunderstood(met(ref=reference, legal=lambda: variant(name))) == {}


@pytest.mark.parametrize(
    ("name", "aspect"),
    [
        ("writes-fields-of-sds", Aspect.WIRE),
        ("forum-ties-by-arrival", Aspect.ORDER),
    ],
)
def test_a_fault_shows_in_its_aspect(name: str, aspect: Aspect) -> None:
    outcome = met(ref=reference, bad=lambda: mutated(name))
    assert any(key.endswith(f", {aspect}") and "bad" in key for key in misunderstood(outcome)), misunderstood(outcome)


# ---- Mixed groups ----------------------------------------------------------------------------------------------------


def test_a_fault_in_a_mixed_group_is_that_of_who_has_it() -> None:
    with cast_of(ref=reference, bad=lambda: mutated("starts-at-the-clock")) as cast, MixedCast(cast) as mixed_cast:
        cast.start()
        mixed = explore_mixed(mixed_cast, 0, 6, Scope.select(revision=FORUM))
    assert {name for name, _ in mixed.discoveries} == {"bad"}
    assert ("bad", "FORUM-09") in mixed.discoveries


# ---- Other texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revisions", [("sds-2026-01", FORUM), ("no-such-revision",)])
def test_who_speaks_the_text_or_names_none_that_is_known_takes_part(revisions: tuple[str, ...]) -> None:
    assert misunderstood(met(ref=reference, other=lambda: speaking(*revisions))) == {}


def test_who_speaks_another_text_does_not() -> None:
    with pytest.raises(
        RevisionMismatchError, match=rf"other speaks sds-2026-01 and sds-2025-10-amended, and not {FORUM}"
    ):
        met(ref=reference, other=lambda: speaking("sds-2026-01", "sds-2025-10-amended"))


# ---- The command line ------------------------------------------------------------------------------------------------


def pair(name: str, command: list[str]) -> str:
    return f"{name}={' '.join(command)}"


REF = pair("ref", reference_command())


def test_2_a_cast_of_two_texts_is_refused_with_what_to_type() -> None:
    other = pair("other", odd_adapter("speaks-one-revision", FORUM))
    refused = typed("interop", "--schedules", "0", REF, other)
    assert refused.exit_code == 2
    text = words(refused.stderr)
    assert f"other speaks {FORUM}, and not sds-2026-01: omit it, or type a --revision that all of them" in text
    agreed = typed("interop", "--revision", FORUM, "--schedules", "2", "--json", REF, other)
    data = json.loads(agreed.stdout)
    assert agreed.exit_code == 0
    assert [aspect["id"] for aspect in data["aspects"]] == [str(a) for a in Aspect if a is not Aspect.REPAIR]
    assert data["mixed_groups"]["schedules"] == 2


def test_a_schedule_of_a_mixed_group_is_played_again_under_its_revision(tmp_path: Path) -> None:
    repertoire_schedule = generate_schedule(0, 3)
    plays = {"cast": "mixed", **{f"plays {name}": "ref" for name in repertoire_schedule.names}}
    noted = {**plays, "revision": FORUM, "shows": "G-F01", "against": "ref"}
    file = tmp_path / "mixed.json"
    file.write_text(dumps(replace(repertoire_schedule, notes=tuple(sorted(noted.items())))))
    again = typed("interop", "--replay", str(file), REF)
    assert again.exit_code == 0
    assert "G-F01 is not violated by ref in this run." in words(again.stdout)
    file.write_text(file.read_text().replace("G-F01", "G-F04"))
    again = typed("interop", "--replay", str(file), REF)
    assert "G-F04 was withdrawn: its faults are judged by FORUM-45, FORUM-22." in words(again.stdout)
    refused = typed("interop", "--revision", "sds-2026-01", "--replay", str(file), REF)
    assert refused.exit_code == 2
    assert f"was made for {FORUM}, not for sds-2026-01" in words(refused.stderr)
