"""Faults in the proposal of 2024. Importing this package registers them."""

from . import own  # noqa: F401
