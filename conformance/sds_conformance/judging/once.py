"""What many checks ask of the same view is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any, TypeVar

V = TypeVar("V")
T = TypeVar("T")


_NUMBERS = count()
_UNKNOWN: Any = object()


def once(function: Callable[[V], T]) -> Callable[[V], T]:
    """``function`` with its answers kept in the view, which does not change, and for as long as that lives."""
    name = f"{function.__qualname__} #{next(_NUMBERS)}"  # no attribute, and no other function, is called that

    @wraps(function)
    def asked(view: V) -> T:
        kept = view.__dict__
        answer: T = kept.get(name, _UNKNOWN)
        if answer is _UNKNOWN:
            answer = kept[name] = function(view)
        return answer

    return asked
