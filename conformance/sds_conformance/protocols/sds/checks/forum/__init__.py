"""Checks of the proposal of 2024."""
