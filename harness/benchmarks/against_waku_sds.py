"""Compares how fast the reference model and @waku/sds receive messages in a growing channel.

Both receive the same bytes: content messages that a participant of the reference sent, each with a full-size filter and
with its dependencies met. Only the library is timed, from wire bytes to the delivered event. Needs Node. Install
@waku/sds with

    npm ci --prefix harness/adapters/waku-sds
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import IO, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the package `benchmarks` is not installed

from benchmarks.model_throughput import CHANNEL, START_MS, member
from sds_reference import HistoryEntry, Message, decode, encode

HERE = Path(__file__).resolve().parent
ADAPTER = HERE.parent / "adapters" / "waku-sds"


def write_messages(count: int, to: IO[bytes]) -> None:
    """Write the messages of bob, each with its length in front. Alice acknowledges them, so that bob's outgoing buffer
    stays small."""
    bob = member("bob")
    for number in range(count):
        (wire,) = bob.send(CHANNEL, b"message %d" % number, START_MS + number).broadcasts
        to.write(len(wire).to_bytes(4, "big") + wire)
        seen = HistoryEntry(decode(wire).message_id)
        bob.receive(encode(Message("alice", f"sync-{number}", CHANNEL, START_MS, (seen,))), START_MS + number)


def read_messages(source: IO[bytes]) -> Iterator[bytes]:
    while length := source.read(4):
        yield source.read(int.from_bytes(length, "big"))


def receive_with_reference(source: IO[bytes]) -> dict[str, Any]:
    """Seconds in which a new participant receives the messages (the median of three runs), and number of deliveries."""
    runs = [receive_once(source) for _ in range(3)]
    return sorted(runs, key=lambda run: float(run["seconds"]))[1]


def receive_once(source: IO[bytes]) -> dict[str, Any]:
    source.seek(0)
    alice = member("alice")
    seconds, delivered = 0.0, 0
    for wire in read_messages(source):
        started = perf_counter()
        effects = alice.receive(wire, START_MS)
        seconds += perf_counter() - started
        delivered += len(effects.events)
    return {"delivered": delivered, "seconds": seconds}


def receive_with_waku_sds(source: IO[bytes], folder: Path) -> dict[str, Any]:
    """Seconds, deliveries and version of @waku/sds, in its own Node process."""
    command = ["node", str(HERE / "model_waku.mjs"), str(folder), CHANNEL]
    done = subprocess.run(command, stdin=source, stdout=subprocess.PIPE, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(count: int, folder: Path) -> dict[str, Any]:
    """Measure ``count`` messages: both implementations receive the messages of one file, one after the other."""
    with tempfile.TemporaryFile() as messages:
        write_messages(count, messages)
        reference = receive_with_reference(messages)
        messages.seek(0)
        waku = receive_with_waku_sds(messages, folder)
    for name, result in (("the reference", reference), ("@waku/sds", waku)):
        if result["delivered"] != count:
            raise SystemExit(
                f"{name} delivered {result['delivered']} of {count} messages: the results cannot be compared"
            )
    return {
        "messages": count,
        "version": waku["version"],
        "reference_per_second": round(count / reference["seconds"]),
        "waku_sds_per_second": round(count / waku["seconds"]),
        "times_as_fast": round(waku["seconds"] / reference["seconds"], 1),
    }


def missing(folder: Path) -> str:
    """The missing software and how to install it; "" if none is missing."""
    if shutil.which("node") is None:
        return "node is not on the PATH: install Node 20 or newer"
    if not (folder / "node_modules" / "@waku" / "sds" / "package.json").is_file():
        return f"@waku/sds is not installed in {folder}: npm ci --prefix {folder}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], metavar="N")
    parser.add_argument(
        "--waku",
        type=Path,
        default=ADAPTER,
        metavar="FOLDER",
        help="folder whose node_modules has @waku/sds (default: harness/adapters/waku-sds)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    if problem := missing(arguments.waku):
        parser.error(problem)
    rows = [measure(count, arguments.waku) for count in arguments.sizes]
    if arguments.json:
        print(json.dumps({"benchmark": "against_waku_sds", "rows": rows}, indent=2))
        return 0
    print(f"messages received per second, @waku/sds {rows[0]['version']}")
    print(f"{'messages':>10}{'reference':>12}{'@waku/sds':>12}{'times as fast':>15}")
    for row in rows:
        print(f"{row['messages']:>10,}{row['reference_per_second']:>12,}", end="")
        print(f"{row['waku_sds_per_second']:>12,}{row['times_as_fast']:>15,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
