"""Bounds of Lamport timestamps: what must work, and where the numbers of a text or of a language end."""

from __future__ import annotations

SAFE = 2**53 + 10
"""Timestamps of SDS up to here are mandatory (AMB-14)."""
SIGNED = 2**63 - 1
LARGEST = 2**64 - 1
"""The greatest timestamp of SDS."""
LARGEST_INT32 = 2**31 - 1
"""The greatest timestamp of the proposal of 2024."""
PLAUSIBLE = 1_000
"""In the proposal, a timestamp that is so much greater than it need be is no count of messages."""
