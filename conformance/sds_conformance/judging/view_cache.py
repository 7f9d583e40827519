"""Caches results that many checks need of the same view."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any, TypeVar

V = TypeVar("V")
T = TypeVar("T")


_NUMBERS = count()
_UNKNOWN: Any = object()


def cache_per_view(function: Callable[[V], T]) -> Callable[[V], T]:
    """Cache the result of ``function`` in the view. Views are immutable, and the cache lives as long as the view."""
    name = f"{function.__qualname__} #{next(_NUMBERS)}"  # no attribute and no other function has this name

    @wraps(function)
    def cached(view: V) -> T:
        cache = view.__dict__
        answer: T = cache.get(name, _UNKNOWN)
        if answer is _UNKNOWN:
            answer = cache[name] = function(view)
        return answer

    return cached
