"""Hypothesis strategies for schedules, for your own tests: Hypothesis generates and shrinks the schedules.

    from hypothesis import given
    from sds_harness.sds.strategies import schedules

    @given(schedules(fewest=3, most=4))
    def test_my_implementation(schedule):
        ...

The strategies use the same grammar as the command line. They use the current revision of the specification unless you
name another revision: ``schedules(revision="forum-2024")``. Needs the extra ``hypothesis``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from sds_reference import REVISIONS, SDS_2026_01

from ..schedules.choices import DrawnChoices
from .generator import Grammar, draw_schedule, hold_to_text
from .operations import Schedule
from .writer import SDS, Text


def schedules(
    fewest: int = 3,
    most: int = 8,
    *,
    sds_r: bool | None = None,
    scripted: bool = True,
    passages: Sequence[str] = (),
    longest: int = 5,
    revision: str = SDS_2026_01.name,
) -> st.SearchStrategy[Schedule]:
    """Schedules of ``fewest`` to ``most`` participants that use only what the revision has.

    Grammar explains the other parameters. Raises ValueError for a value out of bounds, an unknown revision, or a
    passage that the revision does not have.
    """
    if revision not in REVISIONS:
        raise ValueError(f"unknown revision {revision!r}: revisions are {', '.join(REVISIONS)}")
    grammar, text = Grammar(fewest, most, sds_r, scripted, tuple(passages), longest), Text.of(REVISIONS[revision])
    hold_to_text(grammar, text)
    return grammatical(grammar, text)


@st.composite
def grammatical(draw: st.DrawFn, grammar: Grammar, text: Text = SDS) -> Schedule:
    """Schedules within the limits of ``grammar``, for the revision ``text``."""
    return draw_schedule(DrawnChoices(draw), grammar, text=text)
