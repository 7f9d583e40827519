"""Faults in the repair extension SDS-R. Importing this package registers them."""

from . import everyday, request_fields, requests, responses, restarts, room, sweeps  # noqa: F401
