"""Checks of the proposal of 2024, an earlier version of SDS."""
