"""False positives of bloom filters: the share of unknown IDs that a filter holds, and the bound above which this share
is not due to chance.

The number of false positives is random for two reasons. Queries of unknown IDs in a filter are independent trials, so
the number of hits has the binomial distribution. In addition, filters of one size differ in the number of bits that
their members set. ``least_implausible_hits`` considers both.
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
"""Maximum probability, for each judged filter, that an implementation fails although its rate of false positives is
within the limit.
"""

UNDECLARED_RATE = 0.01
"""The tolerated rate of false positives at capacity, if no rate is declared."""
QUERIES_AFTER_ROLL_OVER = 5_000
"""Number of unknown IDs to query after a roll-over. A filter that never rolls over holds every fourth unknown ID at
three times its capacity.
"""


def queries_at_capacity(rate: float) -> int:
    """The number of unknown IDs to query in a filter at capacity, for a given rate of false positives.

    20,000 queries are enough for rates of 1 % or more: a filter with 1.5 % then has 300 hits, and the bound
    (`least_implausible_hits`) is at most twice the rate. Lower rates need more queries for as many hits.
    """
    return 20_000 if rate >= UNDECLARED_RATE else 100_000


_WIDEST = 6.5
"""Range of the integral over the rates of single filters, in standard deviations on either side of the mean. The share
of filters outside of this range is 1e-10.
"""
_STEPS_PER_DEVIATION = 10


def reads_filters(view: ChannelView) -> bool:
    """Can the participant's filters be read? Without a known profile, the codec reads only filters of default size."""
    known = view.trace.declaration.profile("bloom") in PROFILES and bloom_parameters(view.party) is not None
    return known or chose_filter_size(view.party)


def chose_filter_size(party: Party) -> bool:
    """Did the implementation choose the capacity and the error rate of its filter?"""
    return not (party.asked.HasField("bloom_capacity") or party.asked.HasField("bloom_error_rate"))


def count_false_hits(view: ChannelView, bloom_filter: bytes, count: int) -> tuple[int, int] | None:
    """Query ``count`` unknown IDs in a filter of the participant. Returns (number of hits, number of answered queries).

    None if the filter cannot be read, or if some of the IDs are in use.
    """
    if not reads_filters(view) or not view.known_ids.isdisjoint(unknown_ids(count)):
        return None
    parameters = bloom_parameters(view.party)
    profile = view.trace.declaration.profile("bloom")
    if profile in PROFILES and parameters is not None:
        return _count_hits(profile, parameters, bloom_filter, count)
    holds = view.filter_of(bloom_filter)
    answers = [holds(unknown_id) for unknown_id in unknown_ids(count)] if holds is not None else []
    known = len(answers) - answers.count(None)
    return (answers.count(True), known) if known else None


@lru_cache(maxsize=256)
def _count_hits(profile: str, parameters: BloomParameters, bloom_filter: bytes, count: int) -> tuple[int, int] | None:
    """Count the hits with a known profile. Cached, because the runs of a self-test have nearly the same filters."""
    try:
        view = PROFILES[profile].read(bloom_filter, parameters)
    except ForeignFilterError:
        return None
    bits, held = view.bits, list(range(count))
    for places, masks in _positions(profile, view.parameters, count):
        held = [index for index in held if bits[places[index]] & masks[index]]
    return len(held), count


@lru_cache(maxsize=4)
def _positions(profile: str, parameters: BloomParameters, count: int) -> list[tuple[array[int], bytearray]]:
    """For each hash function, two arrays over the unknown IDs: the index of the tested byte, and the mask of the bit.

    Cached: 20,000 IDs take 50 ms, and schedules use few sizes. Arrays save memory: 100,000 tuples took 100 MB.
    """
    columns: list[tuple[array[int], bytearray]] = [(array("L"), bytearray()) for _ in range(parameters.hashes)]
    for unknown_id in unknown_ids(count):
        for (places, masks), (place, mask) in zip(
            columns, PROFILES[profile].positions(unknown_id, parameters), strict=True
        ):
            places.append(place)
            masks.append(mask)
    return columns


def rate_deviation(capacity: int, rate: float) -> float:
    """The relative standard deviation of the rates of false positives of full filters of one size.

    At a rate of 1 %, it is 4 % for filters of 1,000 IDs, and 17 % for filters of 50 IDs.

    With m bits, k hashes and n members, optimal for a rate p (m/n = log2(1/p)/ln 2, k = log2(1/p), half of the bits
    set), the share of set bits has the variance (1/4 - ln 2/4) / m, like balls thrown into bins, and the rate is its
    k-th power.
    """
    hashes = -math.log2(rate)
    bits = capacity * hashes / math.log(2)
    return hashes * 2 * math.sqrt((1 - math.log(2)) / 4 / bits)


def rate_at(load: float, rate: float) -> float:
    """The rate of false positives of a filter that holds ``load`` times its capacity; at capacity, it is ``rate``.

    For example, a filter with 1 % at its capacity has 15 % at twice its capacity.
    """
    return math.pow(1 - math.pow(2, -load), -math.log2(rate))


def degenerate_share(capacity: int, rate: float) -> float:
    """The share of unknown IDs that test only a few bits of a filter with this capacity and rate of false positives.

    Published filters choose their bits, among m, by double hashing. About one ID in m tests the same bit each time, and
    as many IDs test only two or three bits, which may all be set. In 3,000 full filters for 10 IDs at 0.1 %, 1.3 % of
    the unknown IDs were false positives on average, and 3.7 % in the worst filter; for 50 IDs 0.27 % and 0.9 %.
    """
    return math.log(2) ** 2 / (capacity * -math.log(rate))


@cache
def least_implausible_hits(limit: float, asked: int, deviation: float, degenerate: float = 0.0) -> int:
    """The smallest number of hits among ``asked`` unknown IDs that is not due to chance.

    A filter with the rate ``limit`` reaches this number with a probability below FALSE_ALARM. The probability is the
    exact tail of the binomial distribution, averaged over the rates of single filters. The logarithms of these rates
    have a normal distribution with the standard deviation ``deviation``. ``degenerate`` is the share of IDs that test
    only a few bits (`degenerate_share`); the deviation of this share is half of ``deviation``.
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
    """The probability of at least ``hits`` successes in ``trials`` trials, each with the probability ``rate``.

    If ``hits`` is not above the expected number of successes, returns 1 as an upper bound.
    """
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
        if term <= total * 1e-16:  # this condition also ends the loop if the term has become zero
            break
    return total
