"""Sums of a diff do not depend on the distribution over tasks, and never exceed the reported number."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from sds_conformance.corpus import difference
from sds_conformance.corpus.classes import Class, Classified
from sds_conformance.corpus.difference import MOST_CAUSES, Sum
from sds_conformance.corpus.divergences import DIFFERENT, Divergence

pytestmark = pytest.mark.spark


def added(those: list[Classified]) -> Sum:
    out = Sum()
    for one in those:
        out.add(one)
    return out


def test_a_sum_does_not_grow_with_the_ways_to_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_HELD", MOST_CAUSES + 5)
    several = [
        Classified(Divergence(n, DIFFERENT, 1), Class.UNEXPLAINED, f"cause {n}") for n in range(MOST_CAUSES + 50)
    ]
    out = added([*several, several[0]])
    assert len(out.alike) == MOST_CAUSES + 5
    assert len(out.causes) == MOST_CAUSES
    assert out.causes[0].schedules == 2
    assert out.classes[Class.UNEXPLAINED] == MOST_CAUSES + 51
