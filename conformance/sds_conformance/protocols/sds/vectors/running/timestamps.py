"""Bounds of Lamport timestamps: values that must work, and the ends of number ranges."""

from __future__ import annotations

SAFE = 2**53 + 10
"""The largest timestamp of SDS that every implementation must accept (AMB-14)."""
SIGNED = 2**63 - 1
LARGEST = 2**64 - 1
"""The largest Lamport timestamp that an SDS message can carry: the field is an unsigned integer of 64 bits."""
LARGEST_INT32 = 2**31 - 1
"""The largest Lamport timestamp in the proposal of 2024: the field is a signed integer of 32 bits."""
PLAUSIBLE = 1_000
"""In the proposal, a timestamp that exceeds the necessary value by this much cannot be a count of messages."""
