"""Config: the values without a meaning, and the sentences that refuse them."""

from __future__ import annotations

from typing import Any

import pytest

from scripted_peers import T
from sds_reference import Config, ConfigurationError, Participant, RepairConfig


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("causal_history_size", 0),
        ("bloom_retained", 0.0),
        ("bloom_retained", 1.0),
        ("resend_unacknowledged_ms", 0),
        ("resend_possibly_acknowledged_ms", 0),
        ("possible_ack_threshold", 1),
        ("lost_timeout_ms", 0),
        ("sync_interval_ms", 0),
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
        ("bloom_retained", 0.99),
        ("resend_unacknowledged_ms", 1),
        ("resend_possibly_acknowledged_ms", None),
        ("possible_ack_threshold", 2),
        ("lost_timeout_ms", 1),
        ("sync_interval_ms", None),
        ("repair", RepairConfig(t_min_ms=0, t_max_ms=1, num_response_groups=1, max_requests=1)),
    ],
)
def test_the_outermost_values_with_a_meaning_are_accepted(field: str, value: Any) -> None:
    assert getattr(Config(**{field: value}), field) == value


@pytest.mark.parametrize(("field", "value"), [("bloom_capacity", 0), ("bloom_error_rate", 0.0)])
def test_a_filter_size_without_meaning_is_refused_at_the_latest_when_a_channel_is_joined(
    field: str, value: float
) -> None:
    with pytest.raises(ConfigurationError, match="bloom filter of"):
        Participant("alice", Config(**{field: value})).join("c", T)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"t_min_ms": -1}, "t_min_ms must not be negative"),
        ({"t_max_ms": 30_000}, "t_max_ms must be greater than t_min_ms: T_req is a backoff between them"),
        ({"num_response_groups": 0}, "num_response_groups must be at least 1: every message needs responders"),
        ({"max_requests": 0}, "max_repair_requests must be at least 1: otherwise nothing is ever requested"),
    ],
)
def test_a_configuration_of_sds_r_without_meaning_is_refused(changes: dict[str, int], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        RepairConfig(**changes)  # type: ignore[arg-type]
    assert str(refusal.value) == sentence
