"""Peers, records and messages in vectors. A value that may exceed a double is a decimal string."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sds_harness.clearskies.frames import UPDATE

Fields = dict[str, Any]


def numbers(texts: Mapping[str, str]) -> dict[str, int]:
    """Convert the decimal strings of a vector to integers; the keys are peer IDs."""
    return {peer: int(number) for peer, number in texts.items()}


def update_members(fields: Fields) -> Fields:
    """The members of the body of an update, in the order of the specification."""
    known = {name: value for name, value in fields.items() if name != "seen"}
    return {
        "type": UPDATE,
        **known,
        "value": json.loads(fields["value"]),
        "last_updated_rev": int(fields["last_updated_rev"]),
        "vector_clock": numbers(fields["vector_clock"]),
    }


def is_wide(*parts: Any) -> bool:
    """Do the values contain, at any depth, an integer that a double cannot hold?"""
    for part in parts:
        if isinstance(part, dict):
            if is_wide(*part.values()):
                return True
        elif isinstance(part, list):
            if is_wide(*part):
                return True
        elif isinstance(part, str) and part.isdecimal() and (1 << 53) < int(part) < 1 << 64:
            return True
    return False
