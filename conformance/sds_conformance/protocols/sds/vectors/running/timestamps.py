"""Bounds of Lamport timestamps: values that must work, and the ends of number ranges."""

from __future__ import annotations

SAFE = 2**53 + 10
"""The largest timestamp of SDS that every implementation must accept (AMB-14)."""
SIGNED = 2**63 - 1
LARGEST = 2**64 - 1
"""The largest timestamp of SDS."""
LARGEST_INT32 = 2**31 - 1
"""The largest timestamp of the proposal of 2024."""
PLAUSIBLE = 1_000
"""In the proposal, a timestamp that exceeds the necessary value by this much cannot be a count of messages."""
