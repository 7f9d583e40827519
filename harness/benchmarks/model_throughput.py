"""Measures messages per second of the reference model as the log of one channel grows.

A log operation whose cost grows with the log would show here. The last column of the table is the throughput of each
size divided by the throughput of the smallest size in the same run. All times are CPU times.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from itertools import count
from statistics import median
from time import process_time

from sds_reference import Config, HistoryEntry, Message, Participant, build_filter, decode, encode

CHANNEL = "c1"
START_MS = 1_800_000_000_000
CONFIG = Config(sync_interval_ms=None)
"""Full-size filters: 10,000 IDs at 0.001."""
TICK_EVERY = 10
LONG_ENOUGH = 10_000
"""Default minimum number of messages in a time measurement: shorter runs are repeated until they have as many."""
RUNS = count()
"""Each run has its own message IDs. The reference caches the filter positions of the last 4,096 IDs, so a repeated
short run would skip work that a long run must do."""


def member(name: str) -> Participant:
    """A new participant of the reference that has joined ``CHANNEL``."""
    participant = Participant(name, CONFIG)
    participant.join(CHANNEL, START_MS)
    return participant


def conversation(messages: int) -> float:
    """CPU seconds for ``messages`` messages, sent in turn by two parties that acknowledge each other's messages."""
    sender, receiver, run = member("alice"), member("bob"), next(RUNS)
    started = process_time()
    for number in range(messages):
        now_ms = START_MS + 100 * number
        (wire,) = sender.send(CHANNEL, b"message %d of run %d" % (number, run), now_ms).broadcasts
        receiver.receive(wire, now_ms + 50)
        if number % TICK_EVERY == 0:
            sender.tick(now_ms)
            receiver.tick(now_ms + 50)
        sender, receiver = receiver, sender
    seconds = process_time() - started
    pending = max(len(party.channel(CHANNEL).outgoing) for party in (sender, receiver))
    assert pending <= 2, f"{pending} messages are unacknowledged: the measured conversation must have at most 2"
    return seconds


def receive_only(messages: int) -> float:
    """CPU seconds to receive ``messages`` messages, each with a full-size filter and two dependencies that are met."""
    receiver, run = member("alice"), next(RUNS)
    bloom_filter = build_filter(CONFIG.bloom_profile, CONFIG.bloom_parameters, (f"other-{n}" for n in range(5_000)))
    history: tuple[HistoryEntry, ...] = ()
    seconds = 0.0
    for number in range(messages):
        message_id = f"{run:032x}{number:032x}"
        message = Message("bob", message_id, CHANNEL, START_MS + number, history, bloom_filter, (), b"hello")
        wire = encode(message)
        started = process_time()
        effects = receiver.receive(wire, START_MS + number)
        seconds += process_time() - started
        assert len(effects.events) == 1, f"message {number} was not delivered at once"
        history = (*history, HistoryEntry(message_id))[-CONFIG.causal_history_size :]
    return seconds


WORKLOADS: dict[str, Callable[[int], float]] = {"conversation": conversation, "receive only": receive_only}


def measure(sizes: Sequence[int], rounds: int, at_least: int) -> list[dict[str, object]]:
    """Medians over ``rounds``. The sizes take turns, so that a busy machine slows all of them equally."""
    rows: list[dict[str, object]] = []
    for name, workload in WORKLOADS.items():
        rates: dict[int, list[float]] = {size: [] for size in sizes}
        for _ in range(rounds):
            for size in sizes:
                times = max(1, at_least // size)
                rates[size].append(size * times / sum(workload(size) for _ in range(times)))
        smallest = median(rates[min(sizes)])
        rows += [
            {
                "workload": name,
                "messages": size,
                "per_second": round(median(rates[size])),
                "relative": round(median(rates[size]) / smallest, 3),
            }
            for size in sizes
        ]
    return rows


def wire_bytes() -> int:
    """Size of one message on the wire."""
    (wire,) = member("alice").send(CHANNEL, b"message 0", START_MS).broadcasts
    assert decode(wire).bloom_filter
    return len(wire)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], metavar="N")
    parser.add_argument(
        "--rounds", type=int, default=3, help="measurements of each workload; the result is their median (%(default)s)"
    )
    parser.add_argument(
        "--at-least",
        type=int,
        default=LONG_ENOUGH,
        metavar="N",
        help="repeat shorter runs until they have N messages (default %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    rows = measure(arguments.sizes, arguments.rounds, arguments.at_least)
    if arguments.json:
        print(json.dumps({"benchmark": "model_throughput", "wire_bytes": wire_bytes(), "rows": rows}, indent=2))
        return 0
    print(f"{wire_bytes():,} bytes a message on the wire; medians of {arguments.rounds} measurements")
    print(f"{'workload':<14}{'messages':>10}{'per second':>12}{'relative':>10}")
    for row in rows:
        print(f"{row['workload']:<14}{row['messages']:>10,}{row['per_second']:>12,}{row['relative']:>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
