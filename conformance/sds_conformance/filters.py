"""Membership in bloom filters whose encoding only the implementation itself knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sds_harness.trace import Trace

ENOUGH = 4
"""That many IDs that should not be in a filter, all of them in it, are no chance: false positives are 0.1 % to 1 %."""

Membership = Callable[[str], bool | None]
"""Does a filter hold an ID? None if nothing tells."""


def asked_filters(trace: Trace) -> dict[bytes, Membership]:
    """Filters whose members the implementation's codec told: built over IDs, or queried."""
    answers: dict[bytes, dict[str, bool]] = {}
    built: dict[bytes, Membership] = {}
    for step in trace.steps:
        if step.reply is None:
            continue
        if step.answer == "filter":
            built[step.reply.filter.bloom_filter] = frozenset(step.request.build_filter.message_ids).__contains__
        elif step.answer == "membership":
            query: Any = step.request.query_filter
            hits = zip(query.message_ids, step.reply.membership.hits, strict=False)
            answers.setdefault(query.bloom_filter, {}).update(hits)
    return {bloom_filter: known.get for bloom_filter, known in answers.items()} | built
