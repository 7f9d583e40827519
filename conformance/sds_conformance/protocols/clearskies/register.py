"""The register of ClearSkies: its checks and scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any

from ...judging.judgement import Observation
from ...judging.registry import CheckFunction, Register
from ...judging.view_cache import cache_per_view
from .view.facts import grouped
from .view.peer_view import FACT_KINDS, PeerView

REGISTER = Register("CSDB-", facts=FACT_KINDS)

check = REGISTER.check
shows = REGISTER.shows

Judgements = Iterator[tuple[str, Observation]]
"""Observations, each with the requirement that it judges."""


def check_several(
    *requirements: str, needs: Mapping[str, tuple[int, ...]] = MappingProxyType({}), of: str = "", **options: Any
) -> Callable[[Callable[..., Judgements]], Any]:
    """Register a function that judges several requirements on the same items, as a check of each requirement.

    ``needs`` has the capabilities that single requirements need, and ``of`` is the same as for a check. ``options`` are
    passed to the function.
    """

    def register(function: Callable[..., Judgements]) -> Any:
        @cache_per_view
        @wraps(function)
        def judge(view: PeerView) -> dict[str, list[tuple[str, Observation]]]:
            return grouped(function(view, **options), lambda judgement: judgement[0])

        for requirement in requirements:
            check(requirement, *needs.get(requirement, ()), of=of)(_check_of(requirement, judge))
        return function

    return register


def _check_of(
    requirement: str, judge: Callable[[PeerView], Mapping[str, list[tuple[str, Observation]]]]
) -> CheckFunction:
    @wraps(judge)
    def judge_one(view: PeerView) -> Iterator[Observation]:
        return (observation for _, observation in judge(view).get(requirement, ()))

    return judge_one
