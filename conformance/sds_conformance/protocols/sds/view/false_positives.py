"""False positives of bloom filters: how often a filter takes IDs that it never met for its own, and how often is too
often to be chance.

Two things are random. Which IDs hit a given filter is, to all that is known of it, a row of independent trials, so the
number of hits has the binomial distribution. And filters differ: how many bits the members happen to set makes one
filter of a size better than another. Both are in ``too_many``.
"""

from __future__ import annotations

import math
from array import array
from functools import cache, lru_cache

from sds_harness.sds.stage import bloom_parameters
from sds_harness.trace import Party
from sds_reference import PROFILES, BloomParameters, ForeignFilter

from .channel_view import ChannelView

FALSE_ALARM = 1e-6
"""Probability with which an implementation that keeps to a limit may be said to exceed it, per filter judged."""

UNDECLARED_RATE = 0.01
"""The rate that is tolerated at capacity where none is declared."""
ASKED_AFTER_ROLL_OVER = 5_000
"""Enough for a filter that was never rolled over: at three times its capacity it takes every fourth ID for its own."""


def asked_at_capacity(rate: float) -> int:
    """How many strangers are asked of a full filter of that rate.

    At 1 % and over, of 20,000 there are 300 hits if the rate is half as much again, and chance ends at twice the rate.
    At lower rates more are needed for as many hits to count.
    """
    return 20_000 if rate >= UNDECLARED_RATE else 100_000


_STRANGERS_FROM = 10_000_000
_WIDEST = 6.5
"""Standard deviations to either side within which the spread of filters is summed up; 1e-10 of it lies beyond."""
_STEPS_PER_DEVIATION = 10


@cache
def strangers(count: int) -> tuple[str, ...]:
    """IDs that nobody uses and that look like those of scripted peers: only the number at their end is another."""
    return tuple(f"bob-{number}" for number in range(_STRANGERS_FROM, _STRANGERS_FROM + count))


def reads_filters(view: ChannelView) -> bool:
    """Can the participant's filters be read, whatever size was asked for? The codec only knows its own size."""
    known = view.trace.declaration.profile("bloom") in PROFILES and bloom_parameters(view.party) is not None
    return known or size_is_its_own(view.party)


def size_is_its_own(party: Party) -> bool:
    """Was the size of its filter left to the implementation?"""
    return not (party.asked.HasField("bloom_capacity") or party.asked.HasField("bloom_error_rate"))


def false_hits(view: ChannelView, bloom_filter: bytes, count: int) -> tuple[int, int] | None:
    """How many of ``count`` strangers a filter of the participant holds, and of how many that is known.

    None where nothing tells, or where the strangers are none here.
    """
    if not reads_filters(view) or not view.known_ids.isdisjoint(strangers(count)):
        return None
    parameters = bloom_parameters(view.party)
    profile = view.trace.declaration.profile("bloom")
    if profile in PROFILES and parameters is not None:
        return _hits(profile, parameters, bloom_filter, count)
    holds = view.filter_of(bloom_filter)
    answers = [holds(stranger) for stranger in strangers(count)] if holds is not None else []
    known = len(answers) - answers.count(None)
    return (answers.count(True), known) if known else None


@lru_cache(maxsize=256)
def _hits(profile: str, parameters: BloomParameters, bloom_filter: bytes, count: int) -> tuple[int, int] | None:
    """A self-test meets the same filter in almost every of its runs."""
    try:
        view = PROFILES[profile].read(bloom_filter, parameters)
    except ForeignFilter:
        return None
    bits, held = view.bits, list(range(count))
    for places, masks in _positions(profile, view.parameters, count):
        held = [stranger for stranger in held if bits[places[stranger]] & masks[stranger]]
    return len(held), count


@lru_cache(maxsize=4)
def _positions(profile: str, parameters: BloomParameters, count: int) -> list[tuple[array[int], bytearray]]:
    """The bytes and the masks of the first bits of all strangers, those of their second ones, and so on.

    Twenty thousand take 50 ms, and schedules know few sizes of filters; as tuples a hundred thousand took 100 MB.
    """
    columns: list[tuple[array[int], bytearray]] = [(array("L"), bytearray()) for _ in range(parameters.hashes)]
    for stranger in strangers(count):
        for (places, masks), (place, mask) in zip(
            columns, PROFILES[profile].positions(stranger, parameters), strict=True
        ):
            places.append(place)
            masks.append(mask)
    return columns


def spread(capacity: int, rate: float) -> float:
    """Relative standard deviation of the rates of filters of that size, full: 4 % for 1,000 IDs at 1 %, 17 % for 50.

    With m bits, k hashes and n members, best for a rate p (m/n = log2(1/p)/ln 2, k = log2(1/p), half of the bits set),
    the share of set bits has the variance (1/4 - ln 2/4) / m, as of balls thrown into bins, and the rate is its k-th
    power.
    """
    hashes = -math.log2(rate)
    bits = capacity * hashes / math.log(2)
    return hashes * 2 * math.sqrt((1 - math.log(2)) / 4 / bits)


def rate_at(load: float, rate: float) -> float:
    """The rate of a filter with ``load`` times the IDs that it has ``rate`` with: 0.15 for 1 % at twice those."""
    return math.pow(1 - math.pow(2, -load), -math.log2(rate))


def degenerate_share(capacity: int, rate: float) -> float:
    """The share of strangers that ask a filter of that size for one bit alone.

    Published filters step through their m bits by double hashing. Of the strangers about one in m steps on the same bit
    each time, and as many on no more than two or three, which may all be set. Of 3,000 full filters for 10 IDs at
    0.1 %, 1.3 % of strangers hit one in the mean, and 3.7 % the worst; for 50 IDs 0.27 % and 0.9 %.
    """
    return math.log(2) ** 2 / (capacity * -math.log(rate))


@cache
def too_many(limit: float, asked: int, deviation: float, degenerate: float = 0.0) -> int:
    """The least number of hits among ``asked`` strangers that is no chance.

    A filter of a design whose rate is ``limit`` reaches it with a probability below FALSE_ALARM: the exact tail of the
    binomial distribution, averaged over the rates of single filters, whose logarithms are normal with ``deviation``.
    A share of ``degenerate`` hits besides, by a few bits each, which makes the spread of that share half as wide.
    """
    low, high = min(asked, math.ceil((limit + degenerate) * asked)), asked + 1
    while low < high:
        middle = (low + high) // 2
        if _tail_of_designs(limit, asked, deviation, degenerate, middle) < FALSE_ALARM:
            high = middle
        else:
            low = middle + 1
    return low


def _tail_of_designs(limit: float, asked: int, deviation: float, degenerate: float, hits: int) -> float:
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
    """Probability of ``hits`` or more in ``trials`` that succeed with ``rate``: exact above the mean, 1 up to it."""
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
        if term <= total * 1e-16:  # also when it is too small for a number
            break
    return total
