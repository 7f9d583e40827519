"""Scenarios of SDS itself."""
