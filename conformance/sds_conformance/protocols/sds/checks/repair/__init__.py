"""Checks of the repair extension SDS-R."""
