"""The register of the dimensions of SDS."""

from __future__ import annotations

from functools import partial

from sds_proto.testee.v1 import testee_pb2 as pb

from ...dimensions import Dimensions

DIMENSIONS = Dimensions("SDS-")

MANY = 1_000
"""What `run` demands room for where nothing is declared."""
NO_BOUND = "AMB-96"
"""The position on what is to be kept without end: a thousand and more."""
TOO_MANY = 1 << 18
"""No more is played in one run, all of which is kept until it is judged."""

counting = partial(DIMENSIONS.dimension, demanded=MANY, position=NO_BOUND, most=TOO_MANY)
"""Registers a dimension in which messages are counted."""

SMALL_MESSAGES = pb.Configuration(
    causal_history_size=2, bloom_capacity=1_000, bloom_error_rate=0.01, resend_unacknowledged_ms=30_000
)
"""Who can be had so does not have to copy large messages by the thousand."""
