"""Checks of SDS itself."""
