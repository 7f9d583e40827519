"""A property that is computed at first access and cached."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    LazyProperty = cached_property
else:

    class LazyProperty(cached_property):
        """`functools.cached_property` without its lock. On Python 3.11 the lock costs more than most properties of
        a step."""

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            # Python finds the attribute on the instance from now on and does not call the descriptor again.
            answer = instance.__dict__[self.attrname] = self.func(instance)
            return answer
