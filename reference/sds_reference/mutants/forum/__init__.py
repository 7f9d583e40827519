"""Faults in the proposal of 2024."""
