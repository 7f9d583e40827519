"""Faults under the proposal of 2024."""
