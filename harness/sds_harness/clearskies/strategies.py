"""Hypothesis strategies for schedules of ClearSkies, for your own tests: Hypothesis generates and shrinks the
schedules.

    from hypothesis import given
    from sds_harness.clearskies.strategies import schedules

    @given(schedules(fewest=3, most=4))
    def test_my_implementation(schedule):
        ...

The strategies use the same grammar as the command line. Needs the extra ``hypothesis``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ..schedules.choices import DrawnChoices
from .generator import Grammar, draw_schedule
from .operations import Schedule


def schedules(
    fewest: int = 3, most: int = 8, *, scripted: bool = True, passages: Sequence[str] = (), longest: int = 4
) -> st.SearchStrategy[Schedule]:
    """Schedules of ``fewest`` to ``most`` participants; Grammar explains the arguments and their bounds.

    Raises ValueError for an argument out of bounds or an unknown passage.
    """
    return grammatical(Grammar(fewest, most, scripted, tuple(passages), longest))


@st.composite
def grammatical(draw: st.DrawFn, grammar: Grammar) -> Schedule:
    """Schedules within the limits of ``grammar``."""
    return draw_schedule(DrawnChoices(draw), grammar)
