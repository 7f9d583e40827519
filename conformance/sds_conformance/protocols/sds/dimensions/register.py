"""The register of the dimensions of SDS."""

from __future__ import annotations

from functools import partial

from sds_proto.testee.v1 import testee_pb2 as pb

from ...dimensions import Dimensions

DIMENSIONS = Dimensions("SDS-")

MANY = 1_000
"""The size that `run` demands if no limit is declared."""
NO_BOUND = "AMB-96"
"""The position on state that must be kept without a limit: a thousand items at least."""
TOO_MANY = 1 << 18
"""Largest number of items in one run, which keeps all of them until it is judged."""

counting = partial(DIMENSIONS.dimension, demanded=MANY, position=NO_BOUND, most=TOO_MANY)
"""Registers a dimension that counts messages."""

SMALL_MESSAGES = pb.Configuration(
    causal_history_size=2, bloom_capacity=1_000, bloom_error_rate=0.01, resend_unacknowledged_ms=30_000
)
"""Settings that keep messages small; otherwise thousands of large messages would be copied."""
