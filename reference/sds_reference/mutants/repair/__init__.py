"""Faults in the repair extension SDS-R."""
