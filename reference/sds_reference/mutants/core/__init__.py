"""Faults in SDS itself."""
