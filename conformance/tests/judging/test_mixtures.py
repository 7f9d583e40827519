"""Models with several faults at once, by which the self-test measures how well root causes are found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sds_conformance.judging import mixtures
from sds_conformance.protocols.sds.rules import MODEL, RULES


def test_a_new_mutant_changes_only_the_draws_to_which_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    def played(rules: object, model: object, names: list[str], *_: object) -> dict[str, str]:
        return {MODEL.mutants[name].requirement: MODEL.mutants[name].requirement for name in names}

    monkeypatch.setattr(mixtures, "_play_joint_mutant", played)
    drawn = [mixtures.examine_mixture(RULES, MODEL, "SDS", 0, number) for number in range(20)]
    names = {name for one in drawn if one is not None for name in one.mutants}
    assert len(names) > 50
    removed = next(name for name in MODEL.mutants if name not in names)
    fewer = replace(MODEL, mutants={name: one for name, one in MODEL.mutants.items() if name != removed})
    assert [mixtures.examine_mixture(RULES, fewer, "SDS", 0, number) for number in range(20)] == drawn
