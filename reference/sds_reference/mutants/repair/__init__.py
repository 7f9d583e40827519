"""Faults in the repair extension SDS-R. Importing this package registers them."""

from . import everyday, long_times, request_fields, requests, responses, room, sweeps, twin_ids  # noqa: F401
