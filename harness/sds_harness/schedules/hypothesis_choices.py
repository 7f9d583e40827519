"""Choices made by Hypothesis. Needs the extra ``hypothesis``."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st


class DrawnChoices:
    """Choices that Hypothesis makes and shrinks."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def integer(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))
