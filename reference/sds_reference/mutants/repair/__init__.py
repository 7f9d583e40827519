"""Faults in the repair extension SDS-R. Importing this package registers them."""

from . import arguments, everyday, request_fields, requests, responses, restarts, room, sweeps  # noqa: F401
