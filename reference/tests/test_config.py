"""Config: its defaults, what it refuses, and that every field of it counts."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from scripted_peers import T, content, ephemeral, holding, sync
from sds_reference import (
    REVISIONS,
    SDS_2025_10_AMENDED,
    SDS_2026_01,
    AfterLoss,
    Config,
    ConfigurationError,
    Effects,
    MalformedMessage,
    OwnIds,
    RepairConfig,
    Participant,
    UnknownChannelPolicy,
    bloom_profile,
)


def test_the_defaults_are_the_positions_of_the_suite() -> None:
    assert {field.name: getattr(Config(), field.name) for field in fields(Config)} == {
        "revision": SDS_2026_01,
        "causal_history_size": 2,
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
        "after_loss": AfterLoss.DELIVER,
        "buffer_syncs": False,
        "sync_interval_ms": 30_000,
        "sync_backoff_ms": 0,
        "sync_only_when_quiet": False,
        "sync_with_empty_log": True,
        "sds_r": False,
        "repair": RepairConfig(),
        "unknown_channel": UnknownChannelPolicy.IGNORE,
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


def test_a_config_cannot_change_under_a_participant() -> None:
    with pytest.raises(AttributeError):
        Config().causal_history_size = 3  # type: ignore[misc]


def test_the_revisions_are_known_by_their_names() -> None:
    assert REVISIONS == {"sds-2026-01": SDS_2026_01, "sds-2025-10-amended": SDS_2025_10_AMENDED}


# ---- every field counts ----------------------------------------------------------------------------------------------

SMALL = Config(bloom_capacity=4, lost_timeout_ms=100_000)

OTHER: dict[str, Any] = {
    "causal_history_size": 3,
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
    "after_loss": AfterLoss.DROP,
    "buffer_syncs": True,
    "sync_interval_ms": 50_000,
    "sync_backoff_ms": 20_000,
    "sync_only_when_quiet": True,
    "sync_with_empty_log": False,
    "sds_r": True,
    "unknown_channel": UnknownChannelPolicy.CREATE,
    "max_lamport_ahead_ms": 1_000,
}
"""Another value of every field but those that count only with SDS-R: the revision, and how to repair."""


def story(config: Config) -> list[Effects | str]:
    """All that a participant gives back in one run that touches everything configurable."""
    alice = Participant("alice", config)
    alice.join("c", T)
    told: list[Effects | str] = [alice.tick(T + 30_000)]

    def receive(wire: bytes, now_ms: int) -> None:
        try:
            told.append(alice.receive(wire, now_ms))
        except MalformedMessage as refusal:
            told.append(str(refusal))

    told += [alice.send("c", b"x", T + 35_000, "p"), alice.send("c", b"x", T + 35_000, "q")]
    receive(ephemeral("e"), T + 36_000)
    told.append(alice.send_sync("c", T + 36_000))
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
        told.append(alice.send("c", b"x", T + 42_000, f"m{number}"))
    receive(content("h", at=4), T + 47_000)
    told += [alice.tick(T + after) for after in range(47_000, 200_000, 5_000)]
    return told


def test_another_value_is_given_for_every_field() -> None:
    assert sorted([*OTHER, "revision", "repair"]) == sorted(field.name for field in fields(Config))


@pytest.mark.parametrize("field", OTHER)
def test_every_field_changes_what_a_participant_does(field: str) -> None:
    assert story(replace(SMALL, **{field: OTHER[field]})) != story(SMALL)


def test_the_same_config_gives_the_same_run() -> None:
    assert story(SMALL) == story(replace(SMALL))
