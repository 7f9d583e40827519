"""Scenarios of the repair extension SDS-R."""
