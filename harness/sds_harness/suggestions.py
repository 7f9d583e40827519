"""Suggests similar names for an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_ALIKE = 0.75
"""The minimal similarity of two names, from 0 to 1."""
_LONGEST = 80
"""Characters of a word for which names are compared: comparing longer ones takes too long, and no name is longer."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A question to end a complaint with, and a blank before it; "" where no name is like the word."""
    known = list(names) if len(word) <= _LONGEST else []
    # Numbers in IDs have two digits.
    padded = re.sub(r"-(\d)$", r"-0\1", word)
    near = [padded] if padded in known else get_close_matches(word, known, 1, _ALIKE)
    return f" Did you mean {near[0]}?" if near else ""
