"""SDS-R as it is in force: exact times and groups where the hash is known, bounds where it is not."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest

from run_helpers import Handle, altered, reference, stage, view
from sds_conformance.protocols.sds.scenarios.repair.live import repairing
from sds_conformance.protocols.sds.view.repair_terms import RepairTerms
from sds_conformance.protocols.sds.view.responder import eligible
from sds_conformance.protocols.sds.view.windows import Window
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, Config, HashProfile
from sds_reference.variants import VARIANTS

KNOWN = RepairTerms("alice", 30_000, 120_000, 4, 3, HASH_PROFILES["sha256-be64"])
UNKNOWN = replace(KNOWN, profile=None)
IDS = [f"m-{number}" for number in range(40)]


def digest(text: str) -> int:
    """The hash of @waku/sds, made by hand."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")


def undeclared(*fields: str, handle: Handle | None = None) -> Handle:
    """The reference, which does not say these fields of its configuration."""

    def says_less(request: pb.Request, reply: pb.Reply) -> None:
        for field in fields:
            if reply.HasField("opened"):
                reply.opened.configuration.ClearField(field)

    return altered(says_less, handle)


def in_force(handle: Handle | None = None, configuration: pb.Configuration | None = None) -> RepairTerms:
    """The terms of a participant that was opened with that configuration."""
    on = stage(handle)
    on.open(configuration=configuration or pb.Configuration(sds_r=True, num_response_groups=5))
    return view(on).terms


def test_a_window_holds_both_its_ends() -> None:
    window = Window(3, 5)
    assert [time in window for time in (2, 3, 4, 5, 6)] == [False, True, True, True, False]
    assert window.after(100) == Window(103, 105)
    assert (window.exact, Window(4, 4).exact) == (False, True)


@pytest.mark.parametrize(("declared", "taken"), [(None, 0), (0, 0), (16, 16), (1_000, 1_000), (2**63, 1_000)])
def test_a_clock_is_as_coarse_as_it_is_declared_but_for_more_than_a_second(declared: int | None, taken: int) -> None:
    def says_so(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello") and declared is not None:
            reply.hello.limits.repair_clock_ms = declared

    assert in_force(altered(says_so)).clock_ms == taken


# ---- A known hash ----------------------------------------------------------------------------------------------------


def test_with_a_known_hash_times_and_groups_are_what_the_formulas_give() -> None:
    for message_id in IDS:
        backoff = digest(f"alice{message_id}") % 90_000 + 30_000
        delay = (digest("alice") ^ digest("bob")) * digest(message_id) % 120_000
        same_group = digest(f"alice{message_id}") % 4 == digest(f"bob{message_id}") % 4
        assert KNOWN.t_req(message_id) == Window(backoff, backoff)
        assert KNOWN.t_resp("bob", message_id) == Window(delay, delay)
        assert KNOWN.in_group("bob", message_id) is same_group
    assert {KNOWN.in_group("bob", message_id) for message_id in IDS} == {True, False}


def test_a_known_hash_can_be_left_out_of_account() -> None:
    assert KNOWN.t_req("m", exactly=False) == UNKNOWN.t_req("m")
    assert KNOWN.t_resp("bob", "m", exactly=False) == UNKNOWN.t_resp("bob", "m")


@pytest.mark.parametrize("terms", [KNOWN, UNKNOWN])
def test_the_original_sender_answers_at_once_and_is_always_in_the_group(terms: RepairTerms) -> None:
    for message_id in IDS:
        assert terms.t_resp("alice", message_id) == Window(0, 0)
        assert terms.in_group("alice", message_id) is True


# ---- An unknown one --------------------------------------------------------------------------------------------------


def test_without_a_known_hash_only_the_bounds_are_known() -> None:
    assert UNKNOWN.t_req("m") == Window(30_000, 120_000)
    assert UNKNOWN.t_resp("bob", "m") == Window(0, 120_000)
    assert UNKNOWN.in_group("bob", "m") is None


@pytest.mark.parametrize("terms", [KNOWN, UNKNOWN])
def test_of_one_group_everybody_is_whatever_the_hash(terms: RepairTerms) -> None:
    alone = replace(terms, groups=1)
    assert {alone.in_group("bob", message_id) for message_id in IDS} == {True}


# ---- Terms that make no sense, or are not told -----------------------------------------------------------------------


@pytest.mark.parametrize("terms", [KNOWN, UNKNOWN])
def test_no_request_time_follows_from_times_that_leave_no_room(terms: RepairTerms) -> None:
    for changes in ({"t_max_ms": 30_000}, {"t_max_ms": 29_999}, {"t_min_ms": None}, {"t_max_ms": None}):
        strange = replace(terms, **changes)
        assert (strange.sound, strange.t_req("m")) == (False, None)
    assert terms.sound
    assert replace(terms, t_min_ms=0).sound


@pytest.mark.parametrize("terms", [KNOWN, UNKNOWN])
def test_a_response_time_needs_no_t_min_but_a_t_max(terms: RepairTerms) -> None:
    assert replace(terms, t_min_ms=None).t_resp("bob", "m") == terms.t_resp("bob", "m")
    assert replace(terms, t_min_ms=120_000).t_resp("bob", "m") == terms.t_resp("bob", "m")
    for t_max in (0, None):
        assert replace(terms, t_max_ms=t_max).t_resp("bob", "m") is None
        assert replace(terms, t_max_ms=t_max).t_resp("alice", "m") is None


@pytest.mark.parametrize("terms", [KNOWN, UNKNOWN])
@pytest.mark.parametrize("groups", [0, -3, None])
def test_no_group_follows_from_a_number_that_makes_none(terms: RepairTerms, groups: int | None) -> None:
    strange = replace(terms, groups=groups)
    assert strange.in_group("bob", "m") is None
    assert strange.in_group("alice", "m") is True


def test_with_no_groups_at_all_everybody_answers() -> None:
    for groups, expected in ((0, True), (-3, True), (1, True), (4, KNOWN.in_group("bob", "m"))):
        on = stage()
        on.open(configuration=pb.Configuration(sds_r=True))
        seen = view(on)
        seen.terms = replace(KNOWN, groups=groups)
        assert eligible(seen, "bob", "m") is expected
    seen.terms = replace(UNKNOWN, groups=None)
    assert eligible(seen, "bob", "m") is None
    seen.terms = replace(UNKNOWN, on=False)
    assert eligible(seen, "alice", "m") is None


# ---- What a participant says -----------------------------------------------------------------------------------------


def test_what_is_in_force_counts_and_not_what_was_asked_for() -> None:
    def knows_better(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.t_min_ms = 1_000
            reply.opened.configuration.max_repair_requests = 7

    terms = in_force(altered(knows_better), pb.Configuration(sds_r=True, t_min_ms=40_000, t_max_ms=90_000))
    assert terms == RepairTerms("alice", 1_000, 90_000, 1, 7, HASH_PROFILES["sha256-be64"])


@pytest.mark.parametrize("profile", HASH_PROFILES.values(), ids=HASH_PROFILES)
def test_the_declared_hash_is_used_where_it_is_known(profile: HashProfile) -> None:
    names = {"farmhash64-nim": "nim-hash", "murmur3-32-nim": "nim-murmur-hash"}
    variant = names.get(profile.name)
    terms = in_force(reference(VARIANTS[variant].configure(Config()) if variant else None))
    assert terms.on
    assert terms.profile is profile


def test_a_hash_of_ones_own_is_not_known() -> None:
    terms = in_force(reference(VARIANTS["private-hash"].configure(Config())))
    assert terms.on
    assert terms.profile is None


def test_what_is_not_told_is_not_known() -> None:
    told = ("t_min_ms", "t_max_ms", "num_response_groups", "max_repair_requests")
    terms = in_force(undeclared(*told))
    assert terms == RepairTerms("alice", None, None, None, None, HASH_PROFILES["sha256-be64"])


def test_without_sds_r_there_are_no_terms() -> None:
    asked = pb.Configuration(sds_r=True)
    assert not in_force(reference(without=[pb.CAPABILITY_SDS_R]), asked).on
    assert not in_force(None, pb.Configuration(sds_r=False)).on
    assert not in_force(None, pb.Configuration()).on
    assert in_force(None, asked).on


def test_where_it_is_not_told_whether_sds_r_is_in_use_it_is_what_was_asked_for() -> None:
    silent = undeclared("sds_r")
    assert in_force(silent, pb.Configuration(sds_r=True)).on
    assert not in_force(silent, pb.Configuration(sds_r=False)).on


def test_a_refusal_to_use_it_counts_more_than_the_wish() -> None:
    def refuses(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("opened"):
            reply.opened.configuration.sds_r = False

    assert not in_force(altered(refuses), pb.Configuration(sds_r=True)).on


def test_of_two_of_one_name_both_reckon_with_it() -> None:
    on = stage()
    repairing(on)
    repairing(on, instance="again")
    names = [view(on, key).terms for key in ("alice", "alice (again)")]
    assert [terms.participant_id for terms in names if terms.on] == ["alice", "alice"]
