"""Faults in SDS itself. Importing this package registers them."""

from . import (  # noqa: F401
    acknowledge,
    count,
    deliver,
    empty_fields,
    foreign_filters,
    long_times,
    message,
    number_ends,
    receive,
    refusals,
    room,
    send,
    state,
    states,
    subtle,
    sweeps,
    sync,
    twin_ids,
    unseen,
)
