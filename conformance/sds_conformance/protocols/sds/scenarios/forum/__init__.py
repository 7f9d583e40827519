"""Scenarios of the proposal of 2024."""
