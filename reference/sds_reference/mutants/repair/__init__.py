"""Faults in the repair extension SDS-R. Importing this package registers them."""

from . import (  # noqa: F401
    arguments,
    edge_cases,
    everyday,
    long_times,
    request_fields,
    requests,
    responses,
    restarts,
    room,
    sweeps,
    twin_ids,
)
