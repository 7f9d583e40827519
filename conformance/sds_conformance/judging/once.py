"""What many checks ask of the same view is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

V = TypeVar("V")
T = TypeVar("T")


def once(function: Callable[[V], T]) -> Callable[[V], T]:
    """``function`` with its answers kept for as long as the view lives, which does not change."""
    known: WeakKeyDictionary[V, T] = WeakKeyDictionary()

    @wraps(function)
    def asked(view: V) -> T:
        if view not in known:
            known[view] = function(view)
        return known[view]

    return asked
