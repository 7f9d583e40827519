"""Faults in SDS itself. Importing this package registers them."""

from . import (  # noqa: F401
    acknowledge,
    count,
    deliver,
    late,
    message,
    receive,
    refusals,
    room,
    send,
    state,
    states,
    subtle,
    sweeps,
    sync,
    unseen,
)
