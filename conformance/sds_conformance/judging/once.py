"""What many checks ask of the same view is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import TypeVar

V = TypeVar("V")
T = TypeVar("T")


_NUMBERS = count()


def once(function: Callable[[V], T]) -> Callable[[V], T]:
    """``function`` with its answers kept in the view, which does not change, and for as long as that lives."""
    name = f"{function.__qualname__} #{next(_NUMBERS)}"  # no attribute, and no other function, is called that

    @wraps(function)
    def asked(view: V) -> T:
        kept = view.__dict__
        if name not in kept:
            kept[name] = function(view)
        answer: T = kept[name]
        return answer

    return asked
