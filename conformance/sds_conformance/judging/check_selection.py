"""Selects the checks that apply to a view. A check names the facts (such as a kind of event) that a view must have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

Facts = Mapping[str, Callable[[Any], object]]
"""Facts that a view can have, by name. The function returns a false value if the view does not have the fact."""


class FactFunction(Protocol):
    """A function that needs facts: a check, or a function that shows the option of a position."""

    @property
    def of(self) -> Sequence[str]:
        """Names of the facts that a view must have; the function is not called for other views."""
        ...


A = TypeVar("A", bound=FactFunction)
_MOST = 1_000
"""Maximum number of combinations of facts whose selections are cached."""


class CheckSelection(Generic[A]):
    """Selects the functions whose facts a view has, in their order."""

    def __init__(self, facts: Facts, functions: Iterable[A]) -> None:
        self.functions = tuple(functions)
        self._names = tuple(dict.fromkeys(name for one in self.functions for name in one.of))
        self._facts = [facts[name] for name in self._names]
        self._known: dict[tuple[bool, ...], tuple[tuple[int, A], ...]] = {}
        """Cache: maps combinations of facts to the selected functions. Most views have the same combination of facts.
        """

    def select(self, view: Any) -> tuple[tuple[int, A], ...]:
        """Return the functions that apply to a view, each with its index among all functions."""
        present = tuple([bool(fact(view)) for fact in self._facts])
        selected = self._known.get(present)
        if selected is None:
            missing = {name for name, is_there in zip(self._names, present, strict=True) if not is_there}
            selected = tuple((place, one) for place, one in enumerate(self.functions) if missing.isdisjoint(one.of))
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[present] = selected
        return selected
