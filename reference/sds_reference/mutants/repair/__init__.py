"""Faults in the repair extension SDS-R."""

from . import everyday, request_fields, requests, responses, sweeps

__all__ = ["everyday", "request_fields", "requests", "responses", "sweeps"]
