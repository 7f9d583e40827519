"""Opens participants with SDS-R for the scenarios of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256

from sds_harness.sds.script import Part, Period, Script
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import DAY_MS, scenario

T_MIN_MS = 30_000
T_MAX_MS = 120_000
T_MIN, T_MAX = Period("t_min_ms"), Period("t_max_ms")
"""The T_min and T_max that the implementation uses, even if others were requested."""
LONGEST_MS = 3_600_000
"""The longest T_max, in milliseconds, with which schedules are played: a longer one would take too long."""
FINE = 20
"""Number of ticks within T_max in scenarios that measure the times of responses."""
NEEDED = (pb.CAPABILITY_SDS_R, pb.CAPABILITY_VIRTUAL_CLOCK)
"""Capabilities without which SDS-R cannot be tested."""


def repair_configuration(configuration: pb.Configuration | None = None) -> pb.Configuration:
    """Configure SDS-R, one response group and no resends for a day, so that every repeated message is a response."""
    asked = pb.Configuration(
        sds_r=True,
        t_min_ms=T_MIN_MS,
        t_max_ms=T_MAX_MS,
        num_response_groups=1,
        resend_unacknowledged_ms=DAY_MS,
        resend_possibly_acknowledged_ms=DAY_MS,
    )
    asked.MergeFrom(configuration or pb.Configuration())
    return asked


def open_with_repairs(
    script: Script,
    name: str = "alice",
    configuration: pb.Configuration | None = None,
    instance: str = "",
    channels: tuple[str, ...] = ("c1",),
) -> Part:
    """Open a participant that uses SDS-R (`repair_configuration`).

    The schedule ends here if SDS-R cannot be used with a T_max of at most ``LONGEST_MS``.
    """
    script.need(*NEEDED)
    asked = repair_configuration(configuration)
    part = script.open(name, channels, asked, instance)
    script.require("sds_r", "SDS-R is declared, but could not be turned on")
    script.require(f"t_max_ms <= {LONGEST_MS}", f"T_max is too long, although {asked.t_max_ms} ms were requested")
    return part


@contextmanager
def optional_participant(
    script: Script,
    name: str = "alice",
    configuration: pb.Configuration | None = None,
    instance: str = "",
    longest_ms: int = LONGEST_MS,
) -> Iterator[Part]:
    """Open a participant that uses SDS-R for a ``with`` block, and let it leave at the end of the block.

    The operations of the block are left out if the participant is refused, cannot use SDS-R, or has a T_max over
    ``longest_ms``.
    """
    script.need(*NEEDED)
    part = script.open(name, ("c1",), repair_configuration(configuration), instance, may_be_refused=True)
    with script.when(f"min(sds_r, t_max_ms <= {longest_ms})"):
        yield part
    part.leave()


repair_scenario = partial(scenario, opening=open_with_repairs)
"""Registers a scenario in which alice uses SDS-R."""


def scattered(name: str, number: int) -> str:
    """Return an ID that ends in hexadecimal digits of a hash, as IDs of applications do.

    IDs such as "bob-1" and "bob-2" may have similar hashes, because the specification does not require a strong hash
    (AMB-01).
    """
    return f"{name}-{sha256(str(number).encode()).hexdigest()[:16]}"
