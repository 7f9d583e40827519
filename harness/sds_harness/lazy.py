"""What is worked out when it is first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Owner = TypeVar("Owner")
T = TypeVar("T")


class lazy(Generic[Owner, T]):
    """`functools.cached_property` without the lock that it takes on Python 3.11, which costs more than most of what is
    asked of the steps of a trace."""

    def __init__(self, function: Callable[[Owner], T]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> lazy[Owner, T]: ...

    @overload
    def __get__(self, instance: Owner, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Owner | None, owner: type[Any] | None = None) -> lazy[Owner, T] | T:
        if instance is None:
            return self
        # From now on Python finds it there, and does not ask here any more.
        answer = instance.__dict__[self._name] = self._function(instance)
        return answer
