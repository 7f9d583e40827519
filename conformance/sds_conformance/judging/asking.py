"""Who is asked of a view: not those that are about what is not in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

Facts = Mapping[str, Callable[[Any], object]]
"""What may be in a view, by name: the function says whether it is, and gives what is false if not."""


class About(Protocol):
    """A check, or what tells a way."""

    @property
    def of(self) -> Sequence[str]:
        """The facts without each of which it says nothing."""
        ...


A = TypeVar("A", bound=About)
_MOST = 1_000
"""So many kinds of views are remembered."""


class Asking(Generic[A]):
    """Picks those that have something to look at in a view, in their order."""

    def __init__(self, facts: Facts, those: Iterable[A]) -> None:
        self.those = tuple(those)
        self._names = tuple(dict.fromkeys(name for one in self.those for name in one.of))
        self._facts = [facts[name] for name in self._names]
        self._known: dict[tuple[bool, ...], tuple[tuple[int, A], ...]] = {}
        """By which of the facts there are: most views are alike in that."""

    def of(self, view: Any) -> tuple[tuple[int, A], ...]:
        """Those to be asked of a view, each with its place among all."""
        there = tuple([bool(fact(view)) for fact in self._facts])
        asked = self._known.get(there)
        if asked is None:
            missing = {name for name, is_there in zip(self._names, there, strict=True) if not is_there}
            asked = tuple((place, one) for place, one in enumerate(self.those) if missing.isdisjoint(one.of))
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[there] = asked
        return asked
