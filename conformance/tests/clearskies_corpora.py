"""The peers of ClearSkies that corpora for tests are recorded of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sds_conformance.exploration.assessment import Scope
from sds_conformance.exploration.campaign import CampaignOrder
from sds_conformance.protocols import protocol_of
from sds_harness.clearskies.generator import ANYTHING, Grammar
from sds_harness.clearskies.trace import CLEARSKIES_DATABASE
from sds_harness.link import Link

REVISION = CLEARSKIES_DATABASE.name
SCOPE = Scope.select(revision=REVISION)


@dataclass(frozen=True)
class LocalModel:
    """The reference in this process: as it is, with a fault, or with another legal choice."""

    mutant: str = ""
    variant: str = ""
    without: frozenset[int] = frozenset()
    """Capabilities that it does not declare."""

    def __call__(self, variables: Mapping[str, str]) -> Link:
        model = protocol_of(REVISION).model
        if self.mutant:
            return model.mutant(self.mutant, self.without)
        return model.variant(self.variant, self.without) if self.variant else model.reference(self.without)


def order_of(
    model: Callable[[Mapping[str, str]], Link] = LocalModel(),
    schedules: int = 24,
    *,
    seed: int = 0,
    grammar: Grammar = ANYTHING,
) -> CampaignOrder:
    return CampaignOrder(model, revision=REVISION, grammar=grammar, seed=seed, examples=schedules)
