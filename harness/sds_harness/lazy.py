"""A property that is computed at first access and cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Owner = TypeVar("Owner")
T = TypeVar("T")


class LazyProperty(Generic[Owner, T]):
    """`functools.cached_property` without its lock. On Python 3.11 the lock costs more than most properties of
    a step."""

    def __init__(self, function: Callable[[Owner], T]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> LazyProperty[Owner, T]: ...

    @overload
    def __get__(self, instance: Owner, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: Owner | None, owner: type[Any] | None = None) -> LazyProperty[Owner, T] | T:
        if instance is None:
            return self
        # Python finds the attribute on the instance from now on and does not call the descriptor again.
        answer = instance.__dict__[self._name] = self._function(instance)
        return answer
