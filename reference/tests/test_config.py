"""Config: its defaults, its errors, and the effect of each field."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from scripted_peers import T, content, ephemeral, holding, sync
from sds_reference import (
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    AfterRequest,
    Config,
    ConfigurationError,
    Effects,
    HistoryEntry,
    MalformedMessageError,
    Message,
    OwnIds,
    Participant,
    RepairConfig,
    bloom_profile,
    decode,
    default_response_groups,
    encode,
    hash_profile,
)


def test_the_defaults_are_the_positions_of_the_suite() -> None:
    assert {field.name: getattr(Config(), field.name) for field in fields(Config)} == {
        "revision": SDS_2026_01,
        "causal_history_size": 2,
        "causal_history_varies": False,
        "causal_history_descending": False,
        "bloom_profile": bloom_profile("waku-sds-js"),
        "bloom_capacity": 10_000,
        "bloom_error_rate": 0.001,
        "bloom_retained": 0.5,
        "own_ids_in_filter": OwnIds.AFTER_SENDING,
        "ephemeral_ids_in_filter": False,
        "resend_unacknowledged_ms": 30_000,
        "resend_possibly_acknowledged_ms": 90_000,
        "possible_ack_threshold": None,
        "review_duplicates": False,
        "cascade_on_receive": True,
        "incoming_sweep_ms": 0,
        "lost_timeout_ms": None,
        "drops_the_lost": False,
        "buffer_syncs": False,
        "sync_interval_ms": 30_000,
        "sync_backoff_ms": 0,
        "sync_only_when_quiet": False,
        "sync_with_empty_log": True,
        "sds_r": False,
        "repair": RepairConfig(),
        "creates_channels": False,
        "max_lamport_ahead_ms": None,
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("causal_history_size", 0),
        ("bloom_retained", 0.0),
        ("bloom_retained", 1.0),
        ("resend_unacknowledged_ms", 0),
        ("resend_unacknowledged_ms", -1),
        ("resend_possibly_acknowledged_ms", 0),
        ("resend_possibly_acknowledged_ms", -1),
        ("possible_ack_threshold", 0),
        ("possible_ack_threshold", 1),
        ("lost_timeout_ms", 0),
        ("lost_timeout_ms", -1),
        ("sync_interval_ms", 0),
        ("sync_interval_ms", -1),
        ("incoming_sweep_ms", -1),
        ("sync_backoff_ms", -1),
    ],
)
def test_a_value_without_meaning_is_refused_by_the_name_of_its_field(field: str, value: float) -> None:
    named = "periods must not be negative" if field in ("incoming_sweep_ms", "sync_backoff_ms") else field
    with pytest.raises(ConfigurationError, match=named):
        Config(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("causal_history_size", 1),
        ("bloom_retained", 0.01),
        ("bloom_retained", 0.99),
        ("resend_unacknowledged_ms", 1),
        ("resend_possibly_acknowledged_ms", 1),
        ("resend_possibly_acknowledged_ms", None),
        ("possible_ack_threshold", 2),
        ("lost_timeout_ms", 1),
        ("sync_interval_ms", 1),
        ("sync_interval_ms", None),
    ],
)
def test_the_outermost_values_with_a_meaning_are_accepted(field: str, value: Any) -> None:
    assert getattr(Config(**{field: value}), field) == value


@pytest.mark.parametrize(
    ("field", "value"), [("bloom_capacity", 0), ("bloom_error_rate", 0.0), ("bloom_error_rate", 1)]
)
def test_a_filter_size_without_meaning_is_refused_at_the_latest_when_a_channel_is_joined(
    field: str, value: float
) -> None:
    with pytest.raises(ConfigurationError, match="bloom filter of"):
        Participant("alice", Config(**{field: value})).join("c", T)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("capacity", "share", "retained"),
    [(10_000, 0.5, 5_000), (10, 0.1, 1), (9, 0.5, 4), (2, 0.99, 1), (5, 0.01, 1), (1, 0.5, 0)],
)
def test_a_roll_over_keeps_a_share_of_the_capacity_and_never_all_of_it(
    capacity: int, share: float, retained: int
) -> None:
    assert Config(bloom_capacity=capacity, bloom_retained=share).bloom_retained_ids == retained


# ---- SDS-R -----------------------------------------------------------------------------------------------------------


def test_the_defaults_of_sds_r_are_what_the_text_recommends_and_the_positions_of_the_suite() -> None:
    assert {field.name: getattr(RepairConfig(), field.name) for field in fields(RepairConfig)} == {
        "t_min_ms": 30_000,
        "t_max_ms": 120_000,
        "num_response_groups": 1,
        "num_participants": None,
        "derive_groups": default_response_groups,
        "hash_profile": hash_profile("sha256-be64"),
        "max_requests": 3,
        "after_request": AfterRequest.KEEP,
        "requests_expire": False,
        "answers_at_once": False,
        "needs_sender": False,
        "pauses_after_answers": False,
        "copies_keep_requests": False,
        "whole_seconds": False,
        "clock_ms": 1,
    }


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"t_min_ms": -1}, "t_min_ms must not be negative"),
        ({"t_min_ms": 120_000}, "t_max_ms must be greater than t_min_ms: T_req is a backoff between them"),
        ({"t_max_ms": 30_000}, "t_max_ms must be greater than t_min_ms: T_req is a backoff between them"),
        ({"t_max_ms": 29_999}, "t_max_ms must be greater than t_min_ms: T_req is a backoff between them"),
        ({"t_max_ms": 0}, "t_max_ms must be greater than t_min_ms: T_req is a backoff between them"),
        (
            {"t_min_ms": 0, "t_max_ms": 0},
            "t_max_ms must be greater than t_min_ms: T_req is a backoff between them",
        ),
        ({"num_response_groups": 0}, "num_response_groups must be at least 1: every message needs responders"),
        ({"num_response_groups": -1}, "num_response_groups must be at least 1: every message needs responders"),
        ({"max_requests": 0}, "max_repair_requests must be at least 1: otherwise nothing is ever requested"),
        ({"max_requests": -1}, "max_repair_requests must be at least 1: otherwise nothing is ever requested"),
    ],
)
def test_a_configuration_of_sds_r_without_meaning_is_refused(changes: dict[str, int], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        RepairConfig(**changes)  # type: ignore[arg-type]
    assert str(refusal.value) == sentence
    with pytest.raises(ConfigurationError):
        replace(RepairConfig(), **changes)  # type: ignore[arg-type]


def test_the_outermost_configuration_of_sds_r_with_a_meaning_works() -> None:
    config = Config(sds_r=True, repair=RepairConfig(t_min_ms=0, t_max_ms=1, num_response_groups=1, max_requests=1))
    printed = repair_story(config)
    assert "m" in [entry.message_id for entry in decode(printed[0].broadcasts[0]).repair_request]


# ---- every field has an effect ---------------------------------------------------------------------------------------

SMALL = Config(bloom_capacity=4, lost_timeout_ms=100_000)

OTHER: dict[str, Any] = {
    "causal_history_size": 3,
    "causal_history_varies": True,
    "causal_history_descending": True,
    "bloom_profile": bloom_profile("nim-sds"),
    "bloom_capacity": 5,
    "bloom_error_rate": 0.01,
    "bloom_retained": 0.25,
    "own_ids_in_filter": OwnIds.NEVER,
    "ephemeral_ids_in_filter": True,
    "resend_unacknowledged_ms": 20_000,
    "resend_possibly_acknowledged_ms": 40_000,
    "possible_ack_threshold": 2,
    "review_duplicates": True,
    "cascade_on_receive": False,
    "incoming_sweep_ms": 150_000,
    "lost_timeout_ms": 60_000,
    "drops_the_lost": True,
    "buffer_syncs": True,
    "sync_interval_ms": 50_000,
    "sync_backoff_ms": 20_000,
    "sync_only_when_quiet": True,
    "sync_with_empty_log": False,
    "sds_r": True,
    "creates_channels": True,
    "max_lamport_ahead_ms": 1_000,
}
"""Another value of every field, except the fields that matter only with SDS-R: ``revision`` and ``repair``."""

REPAIR_OTHER: dict[str, Any] = {
    "t_min_ms": 10_000,
    "t_max_ms": 110_000,
    "num_response_groups": 2,
    "hash_profile": hash_profile("murmur3-32-nim"),
    "max_requests": 1,
    "after_request": AfterRequest.FORGET,
    "requests_expire": True,
    "answers_at_once": True,
    "needs_sender": True,
    "pauses_after_answers": True,
    "copies_keep_requests": True,
    "whole_seconds": True,
    "clock_ms": 7_000,
}
"""Another value of every field of SDS-R, except those from which ``num_response_groups`` is derived."""


def story(config: Config) -> list[Effects | str]:
    """All output of a participant in one run that depends on every setting."""
    alice = Participant("alice", config)
    alice.join("c", T)
    printed: list[Effects | str] = [alice.tick(T + 30_000)]

    def receive(wire: bytes, now_ms: int) -> None:
        try:
            printed.append(alice.receive(wire, now_ms))
        except MalformedMessageError as refusal:
            printed.append(str(refusal))

    printed += [alice.send("c", b"x", T + 35_000, "p"), alice.send("c", b"x", T + 35_000, "q")]
    receive(ephemeral("e"), T + 36_000)
    printed.append(alice.send_sync("c", T + 36_000))
    receive(content("b", "a", at=1), T + 37_000)
    receive(content("a", at=0), T + 37_000)
    for number in range(2):
        receive(sync(f"s{number}", at=1, bloom=holding("p", config=config)), T + 38_000)
    receive(content("blocked", "unknown", at=3), T + 39_000)
    receive(sync("s3", "hidden", at=1), T + 39_000)
    receive(content("a", "q", at=0), T + 40_000)
    receive(content("f", at=T + 10**6), T + 41_000)
    receive(content("g", channel="d"), T + 41_000)
    for number in range(6):
        printed.append(alice.send("c", b"x", T + 42_000, f"m{number}"))
    receive(content("h", at=4), T + 47_000)
    printed += [alice.tick(T + after) for after in range(47_000, 200_000, 5_000)]
    return printed


def test_another_value_is_given_for_every_field() -> None:
    assert sorted([*OTHER, "revision", "repair"]) == sorted(field.name for field in fields(Config))


@pytest.mark.parametrize("field", OTHER)
def test_every_field_changes_what_a_participant_does(field: str) -> None:
    assert story(replace(SMALL, **{field: OTHER[field]})) != story(SMALL)


def test_the_same_config_gives_the_same_run() -> None:
    assert story(SMALL) == story(replace(SMALL))


# ---- every field of SDS-R has an effect ------------------------------------------------------------------------------

REPAIRING = Config(sds_r=True, sync_interval_ms=None, resend_unacknowledged_ms=10**12)


def repair_story(config: Config) -> list[Effects]:
    """All output of a participant in one run that depends on every setting of SDS-R."""
    alice = Participant("alice", config)
    alice.join("c", T)

    def receive(name: str, now_ms: int, *asked: HistoryEntry, causal: tuple[str, ...] = ()) -> Effects:
        entries = tuple(HistoryEntry(message_id, None, "bob") for message_id in causal)
        return alice.receive(encode(Message("bob", name, "c", 1, entries, None, asked, b"x")), now_ms)

    for number in range(10):
        receive(f"held-{number}", T, HistoryEntry("of-old"))
    receive("blocked", T, causal=("m", "n", "o", "p"))
    printed = [alice.send_sync("c", T + after) for after in range(20_000, 400_000, 20_000)]
    printed.append(alice.send("c", b"x", T + 400_000, "own"))
    held = [HistoryEntry(f"held-{number}", None, "bob") for number in range(5)]
    unsigned = [HistoryEntry(f"held-{number}") for number in range(5, 10)]
    for round_ms in (500_000, 620_000):
        printed.append(receive("asks", T + round_ms, HistoryEntry("own", None, "alice"), *held, *unsigned))
        printed += [alice.tick(T + round_ms + after) for after in range(0, 120_001, 1_000)]
    for arriving in ("n", "o"):
        receive(arriving, T + 800_000)
    receive("overheard", T + 800_000, HistoryEntry("m"))
    receive("later", T + 800_001, causal=("p",))
    printed.append(alice.send_sync("c", T + 10**6))
    return printed


def test_another_value_is_given_for_every_field_of_sds_r() -> None:
    others = sorted([*REPAIR_OTHER, "num_participants", "derive_groups"])
    assert others == sorted(field.name for field in fields(RepairConfig))


@pytest.mark.parametrize("field", REPAIR_OTHER)
def test_every_field_of_sds_r_changes_what_a_participant_does(field: str) -> None:
    other = replace(REPAIRING, repair=replace(REPAIRING.repair, **{field: REPAIR_OTHER[field]}))
    assert repair_story(other) != repair_story(REPAIRING)
    without = replace(other, sds_r=False)
    assert repair_story(without) == repair_story(replace(REPAIRING, sds_r=False))


def test_everything_that_can_become_of_a_request_makes_a_difference() -> None:
    configs = [replace(REPAIRING, repair=RepairConfig(after_request=after_request)) for after_request in AfterRequest]
    assert len({repr(repair_story(config)) for config in configs}) == len(AfterRequest)


def test_the_revision_changes_what_a_participant_with_sds_r_does() -> None:
    amended = replace(REPAIRING, revision=SDS_2025_10_AMENDED)
    assert repair_story(amended) != repair_story(REPAIRING)
    assert repair_story(replace(amended, sds_r=False)) == repair_story(replace(REPAIRING, sds_r=False))
    assert story(replace(SMALL, revision=SDS_2025_10_AMENDED)) == story(SMALL)
