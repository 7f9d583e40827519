"""False positives of bloom filters: the share of unknown IDs that a filter holds, and the bound above which it is not
due to chance.

Two things are random. The hits of a filter on unknown IDs are independent trials, so their number has the binomial
distribution. And filters of one size differ in the number of bits that their members set. ``least_implausible_hits``
considers both.
"""

from __future__ import annotations

import math
from array import array
from functools import cache, lru_cache

from sds_harness.sds.peer import unknown_ids
from sds_harness.sds.stage import bloom_parameters
from sds_harness.trace import Party
from sds_reference import PROFILES, BloomParameters, ForeignFilterError

from .channel_view import ChannelView

FALSE_ALARM = 1e-6
"""Probability of a false accusation per judged filter, for an implementation that honours its limit."""

UNDECLARED_RATE = 0.01
"""The tolerated rate at capacity if none is declared."""
QUERIES_AFTER_ROLL_OVER = 5_000
"""Number of unknown IDs to query after a roll-over. A filter that never rolls over holds every fourth of them at three
times its capacity.
"""


def queries_at_capacity(rate: float) -> int:
    """The number of unknown IDs to query at capacity, for a given rate.

    At rates of 1 % or more, 20,000 queries give 300 hits at one and a half times the rate, and the bound is at most
    twice the rate. Lower rates need more queries for the same number of hits.
    """
    return 20_000 if rate >= UNDECLARED_RATE else 100_000


_WIDEST = 6.5
"""Range of the integral over the spread of filters, in standard deviations to either side; 1e-10 of it is outside."""
_STEPS_PER_DEVIATION = 10


def reads_filters(view: ChannelView) -> bool:
    """Can the participant's filters be read for every size? The codec only knows its default size."""
    known = view.trace.declaration.profile("bloom") in PROFILES and bloom_parameters(view.party) is not None
    return known or chose_filter_size(view.party)


def chose_filter_size(party: Party) -> bool:
    """Did the implementation choose the size of its filter?"""
    return not (party.asked.HasField("bloom_capacity") or party.asked.HasField("bloom_error_rate"))


def count_false_hits(view: ChannelView, bloom_filter: bytes, count: int) -> tuple[int, int] | None:
    """The number of hits among ``count`` unknown IDs in a filter of the participant, and the number of answers.

    None if the filter cannot be read, or if some of the IDs are in use.
    """
    if not reads_filters(view) or not view.known_ids.isdisjoint(unknown_ids(count)):
        return None
    parameters = bloom_parameters(view.party)
    profile = view.trace.declaration.profile("bloom")
    if profile in PROFILES and parameters is not None:
        return _count_hits(profile, parameters, bloom_filter, count)
    holds = view.filter_of(bloom_filter)
    answers = [holds(stranger) for stranger in unknown_ids(count)] if holds is not None else []
    known = len(answers) - answers.count(None)
    return (answers.count(True), known) if known else None


@lru_cache(maxsize=256)
def _count_hits(profile: str, parameters: BloomParameters, bloom_filter: bytes, count: int) -> tuple[int, int] | None:
    """Cached: the runs of a self-test have nearly the same filters."""
    try:
        view = PROFILES[profile].read(bloom_filter, parameters)
    except ForeignFilterError:
        return None
    bits, held = view.bits, list(range(count))
    for places, masks in _positions(profile, view.parameters, count):
        held = [stranger for stranger in held if bits[places[stranger]] & masks[stranger]]
    return len(held), count


@lru_cache(maxsize=4)
def _positions(profile: str, parameters: BloomParameters, count: int) -> list[tuple[array[int], bytearray]]:
    """The bytes and masks of the first bits of all unknown IDs, then of their second bits, and so on.

    Cached: 20,000 IDs take 50 ms, and schedules use few sizes. Arrays save memory: 100,000 tuples took 100 MB.
    """
    columns: list[tuple[array[int], bytearray]] = [(array("L"), bytearray()) for _ in range(parameters.hashes)]
    for stranger in unknown_ids(count):
        for (places, masks), (place, mask) in zip(
            columns, PROFILES[profile].positions(stranger, parameters), strict=True
        ):
            places.append(place)
            masks.append(mask)
    return columns


def rate_deviation(capacity: int, rate: float) -> float:
    """Relative standard deviation of the rates of full filters of a size: 4 % for 1,000 IDs at 1 %, 17 % for 50.

    With m bits, k hashes and n members, optimal for a rate p (m/n = log2(1/p)/ln 2, k = log2(1/p), half of the bits
    set), the share of set bits has the variance (1/4 - ln 2/4) / m, like balls thrown into bins, and the rate is its
    k-th power.
    """
    hashes = -math.log2(rate)
    bits = capacity * hashes / math.log(2)
    return hashes * 2 * math.sqrt((1 - math.log(2)) / 4 / bits)


def rate_at(load: float, rate: float) -> float:
    """The rate of a filter with ``load`` times the IDs for which it has ``rate``: 0.15 for 1 % at twice the IDs."""
    return math.pow(1 - math.pow(2, -load), -math.log2(rate))


def degenerate_share(capacity: int, rate: float) -> float:
    """The share of unknown IDs that test only a few bits of a filter of that size.

    Published filters step through their m bits by double hashing. About one ID in m steps on the same bit each time,
    and as many on two or three bits, which may all be set. In 3,000 full filters for 10 IDs at 0.1 %, 1.3 % of the IDs
    hit a filter on average, and 3.7 % the worst one; for 50 IDs 0.27 % and 0.9 %.
    """
    return math.log(2) ** 2 / (capacity * -math.log(rate))


@cache
def least_implausible_hits(limit: float, asked: int, deviation: float, degenerate: float = 0.0) -> int:
    """The smallest number of hits among ``asked`` unknown IDs that is not due to chance.

    A filter with the rate ``limit`` reaches it with a probability below FALSE_ALARM. The probability is the exact tail
    of the binomial distribution, averaged over the rates of single filters, whose logarithms are normal with
    ``deviation``. A share of ``degenerate`` IDs adds hits on a few bits each; its own spread is half as wide.
    """
    low, high = min(asked, math.ceil((limit + degenerate) * asked)), asked + 1
    while low < high:
        middle = (low + high) // 2
        if _average_tail(limit, asked, deviation, degenerate, middle) < FALSE_ALARM:
            high = middle
        else:
            low = middle + 1
    return low


def _average_tail(limit: float, asked: int, deviation: float, degenerate: float, hits: int) -> float:
    if not deviation:
        return binomial_tail(asked, limit + degenerate, hits)
    total = weights = 0.0
    for step in range(-int(_WIDEST * _STEPS_PER_DEVIATION), int(_WIDEST * _STEPS_PER_DEVIATION) + 1):
        z = step / _STEPS_PER_DEVIATION
        weight = math.exp(-z * z / 2)
        weights += weight
        rate = limit * math.exp(deviation * z) + degenerate * math.exp(deviation * z / 2)
        total += weight * binomial_tail(asked, rate, hits)
    return total / weights


def binomial_tail(trials: int, rate: float, hits: int) -> float:
    """Probability of at least ``hits`` successes in ``trials`` with ``rate``: exact above the mean, 1 below."""
    if hits <= rate * trials:
        return 1.0
    if hits > trials:
        return 0.0
    term = math.exp(
        math.lgamma(trials + 1)
        - math.lgamma(hits + 1)
        - math.lgamma(trials - hits + 1)
        + hits * math.log(rate)
        + (trials - hits) * math.log1p(-rate)
    )
    total, odds = 0.0, rate / (1 - rate)
    for successes in range(hits, trials + 1):
        total += term
        term *= (trials - successes) / (successes + 1) * odds
        if term <= total * 1e-16:  # also if the term is too small for a float
            break
    return total
