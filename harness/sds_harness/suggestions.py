"""Suggests similar names for an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from itertools import takewhile

_ALIKE = 0.75
"""Minimum similarity of two names, from 0 to 1."""
_LONGEST = 80
"""Maximum length, in characters, of a word that is compared with names. Comparing longer words takes too long, and no
name is longer."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A question for the end of an error message, with a blank before it; "" if no name is similar to the word."""
    known = list(dict.fromkeys(names)) if len(word) <= _LONGEST else []
    # The numbers in requirement IDs have two digits, and users may leave out the 0.
    padded = re.sub(r"-(\d)$", r"-0\1", word)
    if padded in known:
        return f" Did you mean {padded}?"
    lower = word.lower()
    # In a short name, one wrong letter lowers the similarity below the minimum.
    one_away = [name for name in known if _is_one_edit_away(lower, name.lower())]
    if one_away:
        near = max(one_away, key=lambda name: SequenceMatcher(None, lower, name.lower()).ratio())
        return f" Did you mean {near}?"
    alike = get_close_matches(word, known, 1, _ALIKE)
    return f" Did you mean {alike[0]}?" if alike else ""


def _is_one_edit_away(word: str, name: str) -> bool:
    """Return whether one edit makes the words equal: a wrong, missing or added letter, or two swapped letters."""
    if abs(len(word) - len(name)) > 1:
        return False
    at = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(word, name, strict=False))))
    rest, wanted = word[at:], name[at:]
    same_ends = rest[1:] == wanted[1:] or rest[1:] == wanted or rest == wanted[1:]
    return same_ends or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
