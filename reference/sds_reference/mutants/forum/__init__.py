"""Faults in the proposal of 2024."""

from . import own

__all__ = ["own"]
