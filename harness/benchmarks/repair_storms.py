"""Simulates whether the backoff of SDS-R prevents storms with up to 10,000 participants.

requests   N participants miss the same message and notice it at the same moment. How many of them request it? Each
           requests once, with its first message after T_req, unless it has received another request by then.
responses  N participants hold a message that one participant requests once. How many copies of it are sent? Each
           member of the response group answers at its first sweep after T_resp, unless it has received another copy
           by then.

The formulas and the hash are those of the reference model. Only the moments of the sweeps and of the participants' own
messages are random, determined by the seed. Each trial has another message of another sender, and other moments.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import zip_longest
from math import ceil
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.progress import track

from sds_reference import (
    HASH_PROFILES,
    HashProfile,
    RepairConfig,
    default_response_groups,
    in_response_group,
    t_req_offset,
    t_resp_offset,
)

SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
LARGEST = 10_000
"""Number of participants in a channel for which the specification is designed."""
DEFAULTS = RepairConfig()
T_MIN_MS, T_MAX_MS = DEFAULTS.t_min_ms, DEFAULTS.t_max_ms
EXAMPLE = """example:
  python harness/benchmarks/repair_storms.py --trials 20 --svg storms.svg

prints the tables for twenty messages and draws them. Drawing needs matplotlib:
  pip install --group benchmarks"""


@dataclass(frozen=True)
class Asking:
    """The settings of the participants that miss the message: a column of the table of requests."""

    title: str
    every_ms: int
    """Interval, in milliseconds, at which a participant sends its own messages."""
    t_max_ms: int = T_MAX_MS
    in_step: bool = False
    """Whether all participants send at the same moments. If False, each participant has its own moments."""


@dataclass(frozen=True)
class Answering:
    """The settings of the participants that hold the message: a column of the tables of responses."""

    title: str
    sweep_ms: int = 1_000
    t_max_ms: int = T_MAX_MS
    groups_for: int | None = None
    """The number of participants for which num_response_groups was chosen; None means the number of holders."""
    unit_ms: int = 1
    """The unit of T_resp and T_max in milliseconds: the specification names none (AMB-05)."""
    in_step: bool = False
    """Whether all participants sweep at the same moments. If False, each participant has its own moments."""


ASKING = (
    Asking("sync each 30 s", 30_000),
    Asking("message each 1 s", 1_000),
    Asking("sends at T_req", 1),
    Asking("30 s, all in step", 30_000, in_step=True),
    Asking("30 s, T_max 600 s", 30_000, t_max_ms=600_000),
    Asking("1 s, T_max 600 s", 1_000, t_max_ms=600_000),
)
SPARSE = Answering("of 10,000", groups_for=LARGEST)
ANSWERING = (
    Answering("sweep 1 s"),
    Answering("sweep 5 s", sweep_ms=5_000),
    Answering("5 s in step", sweep_ms=5_000, in_step=True),
    Answering("T_max 600 s", t_max_ms=600_000),
    Answering("1 group", groups_for=1),
    Answering("1 group in step", sweep_ms=5_000, groups_for=1, in_step=True),
    Answering("whole seconds", unit_ms=1_000),
    Answering("1 group whole s", unit_ms=1_000, groups_for=1),
    SPARSE,
)
REQUESTS, ONLINE, GONE = "requests", "responses, sender online", "responses, sender gone"
TABLES: dict[str, tuple[Asking, ...] | tuple[Answering, ...]] = {REQUESTS: ASKING, ONLINE: ANSWERING, GONE: ANSWERING}


def own_moment(due_ms: int, phase_ms: int, period_ms: int) -> int:
    """The first multiple of ``period_ms`` (shifted by the phase) that is not before ``due_ms``."""
    return due_ms + (phase_ms - due_ms) % period_ms


def on_the_wire(planned_ms: Sequence[int], delay_ms: int, unstoppable_ms: int | None = None) -> list[int]:
    """Return the times at which messages are sent, ascending.

    The first message arrives at the others ``delay_ms`` after it was sent. Other messages are sent only if they are
    planned for an earlier time. The message planned at ``unstoppable_ms`` is always sent.
    """
    own = [] if unstoppable_ms is None else [unstoppable_ms]
    first_heard_ms = min([*planned_ms, *own], default=0) + delay_ms
    return sorted(own + [time for time in planned_ms if time < first_heard_ms])


class Trial:
    """One message, and a channel with up to ``participants`` that miss or hold it. Its sender is not one of them."""

    def __init__(self, seed: int, number: int, profile: HashProfile, participants: int) -> None:
        self.profile = profile
        self.message_id = sha256(f"{seed}/{number}".encode()).hexdigest()
        self.sender_id = f"sender-{number}"
        self.ids = [f"participant-{n}" for n in range(1, participants + 1)]
        draw = Random(f"{seed}/{number}").random
        self.phase = draw()
        """The phase of the sender, and of all participants if they are in step, as a fraction of a period."""
        self.phases = [draw() for _ in self.ids]
        self._t_req: dict[int, list[int]] = {}
        self._t_resp: dict[int, list[int]] = {}
        self._members: dict[int, list[bool]] = {}

    def requests(self, setting: Asking, missing: int, delay_ms: int) -> list[int]:
        """The times at which the first ``missing`` participants send a repair request, after all have noticed the
        missing message."""
        every = setting.every_ms
        phases = [self.phase] * missing if setting.in_step else self.phases
        due = zip(self.t_req(setting.t_max_ms)[:missing], phases, strict=False)
        return on_the_wire([own_moment(t_req, int(phase * every), every) for t_req, phase in due], delay_ms)

    def responses(self, setting: Answering, holders: int, delay_ms: int, *, sender_online: bool) -> list[int]:
        """The times at which the first ``holders`` participants, and also the sender with ``sender_online``, answer a
        request sent at time 0."""
        sweep, unit = setting.sweep_ms, setting.unit_ms
        phases = [self.phase] * holders if setting.in_step else self.phases
        members = self.members(default_response_groups(setting.groups_for or holders), holders)
        due = zip(self.t_resp(setting.t_max_ms // unit), phases, members, strict=False)
        planned = [
            own_moment(delay_ms + t_resp * unit, int(phase * sweep), sweep) for t_resp, phase, member in due if member
        ]
        # The sender ignores messages with its own name as the sender, so no response of another participant stops its
        # own response (AMB-22).
        own = own_moment(delay_ms, int(self.phase * sweep), sweep) if sender_online else None
        return on_the_wire(planned, delay_ms, own)

    def t_req(self, t_max_ms: int) -> list[int]:
        """T_req of all participants in milliseconds after they notice the missing message."""
        if t_max_ms not in self._t_req:
            self._t_req[t_max_ms] = [
                t_req_offset(self.profile, each, self.message_id, T_MIN_MS, t_max_ms) for each in self.ids
            ]
        return self._t_req[t_max_ms]

    def t_resp(self, t_max: int) -> list[int]:
        """T_resp of all participants, counted from the moment at which the request is received, in the unit of
        ``t_max``."""
        if t_max not in self._t_resp:
            self._t_resp[t_max] = [
                t_resp_offset(self.profile, each, self.sender_id, self.message_id, t_max) for each in self.ids
            ]
        return self._t_resp[t_max]

    def members(self, groups: int, holders: int) -> list[bool]:
        """Whether each of the first ``holders`` is in the response group of the message."""
        known = self._members.setdefault(groups, [])
        known += [
            in_response_group(self.profile, each, self.sender_id, self.message_id, groups)
            for each in self.ids[len(known) : holders]
        ]
        return known[:holders]


@dataclass(frozen=True)
class Row:
    """The results of one setting with one number of participants, over all trials."""

    table: str
    setting: str
    participants: int
    median: int
    percentile_95: int
    most: int
    nothing: float
    """Share of the trials in which nothing was sent."""
    first_ms: int | None
    """Median time to the first message in milliseconds, over the trials in which a message was sent."""

    @classmethod
    def of(cls, table: str, setting: str, participants: int, trials: Sequence[Sequence[int]]) -> Row:
        counts = [len(times) for times in trials]
        firsts = [times[0] for times in trials if times]
        return cls(
            table,
            setting,
            participants,
            percentile(counts, 0.5),
            percentile(counts, 0.95),
            max(counts),
            counts.count(0) / len(counts),
            percentile(firsts, 0.5) if firsts else None,
        )


def percentile(values: Sequence[int], share: float) -> int:
    """The smallest value that is at least as large as this share of the values."""
    return sorted(values)[ceil(share * len(values)) - 1]


def simulate_trial(
    trial: Trial, sizes: Sequence[int], delay_ms: int
) -> Iterator[tuple[tuple[str, str, int], list[int]]]:
    """Yield (table, setting, size), with the times at which messages were sent in this trial."""
    for size in sizes:
        for asking in ASKING:
            yield (REQUESTS, asking.title, size), trial.requests(asking, size, delay_ms)
        for answering in ANSWERING:
            for table in (ONLINE, GONE):
                times = trial.responses(answering, size, delay_ms, sender_online=table == ONLINE)
                yield (table, answering.title, size), times


def measure(arguments: argparse.Namespace) -> tuple[list[Row], dict[str, float]]:
    """Return all rows and, for each T_max in milliseconds, the share of participants with a T_resp of 0, which answer
    at once."""
    profile, sizes, trials = HASH_PROFILES[arguments.hash_profile], arguments.sizes, arguments.trials
    sent: dict[tuple[str, str, int], list[list[int]]] = {}
    zeros = dict.fromkeys((setting.t_max_ms // setting.unit_ms for setting in ANSWERING), 0)
    err = Console(stderr=True)
    # A progress bar needs escape codes: do not draw it on a terminal without them.
    hidden = not err.is_terminal or err.color_system is None
    for number in track(range(trials), "trials", console=err, transient=True, disable=hidden):
        trial = Trial(arguments.seed, number, profile, max(sizes))
        for key, times in simulate_trial(trial, sizes, arguments.delay):
            sent.setdefault(key, []).append(times)
        for t_max in zeros:
            zeros[t_max] += trial.t_resp(t_max).count(0)
    shares = {f"{t_max:,}": count / (trials * max(sizes)) for t_max, count in zeros.items()}
    return [Row.of(*key, times) for key, times in sent.items()], shares


def cell_text(row: Row, width: int) -> str:
    """Median and percentile, in thousands if the full numbers do not fit into ``width``."""
    numbers = row.median, row.percentile_95
    text = "/".join(map(str, numbers))
    return text if len(text) <= width else "/".join(f"{n / 1_000:.0f}k" if n >= 1_000 else str(n) for n in numbers)


def report(arguments: argparse.Namespace, rows: Sequence[Row], no_backoff: dict[str, float]) -> Iterator[str]:
    """The result as text, 80 columns wide."""
    yield f"seed {arguments.seed}, {arguments.trials} trials, hash {arguments.hash_profile}"
    yield f"number of messages, with a delay of {arguments.delay} ms: median/95th percentile of the trials"
    for table, settings in TABLES.items():
        cells = {(row.setting, row.participants): row for row in rows if row.table == table}
        width = (80 - 6) // len(settings)
        yield f"\n{table}"
        for number, words in enumerate(zip_longest(*(wrap(each.title, width - 1) for each in settings), fillvalue="")):
            yield f"{'' if number else 'N':>6}" + "".join(f"{word:>{width}}" for word in words)
        for size in arguments.sizes:
            line = [cells[setting.title, size] for setting in settings]
            yield f"{size:>6,}" + "".join(f"{cell_text(row, width - 1):>{width}}" for row in line)
    sparse = [row for row in rows if (row.table, row.setting) == (GONE, SPARSE.title)]
    yield "\ntrials without an answer: sender gone, N of 10,000 participants hold the message"
    yield from wrap(", ".join(f"N={row.participants:,}:{row.nothing:.0%}" for row in sparse), 80)
    yield "\nparticipants without a backoff (T_resp = current_time)"
    yield ", ".join(f"T_max={t_max} {share:.2%}" for t_max, share in no_backoff.items())


PANELS = {
    REQUESTS: ("Requests for one message", "", "participants that miss it (N)"),
    GONE: ("Copies sent for one request, sender gone", ", sweep 1 s, 1 group in 128", "participants that hold it (N)"),
}
LINES = [("#000000", "o"), ("#0072b2", "s"), ("#d55e00", "^"), ("#009e73", "v")]
LINES += [("#cc79a7", "D"), ("#e69f00", "X"), ("#56b4e9", "P"), ("#7f3c8d", "*")]
"""Colours and shapes that colour-blind readers can distinguish."""


def draw(arguments: argparse.Namespace, rows: Sequence[Row]) -> None:
    """Draw the 95th percentiles as SVG. Equal rows give the same bytes."""
    # Imported late: the tables, the tests and mypy do not need matplotlib.
    import matplotlib  # type: ignore[import-not-found, unused-ignore]
    from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]

    sizes = arguments.sizes
    frame = {"axes.spines.top": False, "axes.spines.right": False}
    style: Any = {"svg.hashsalt": "repair_storms", "font.size": 12, **frame}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(12, 6.6), layout="constrained")
        for axes, (table, (title, more, across)) in zip(
            figure.subplots(1, 2, sharey=True), PANELS.items(), strict=True
        ):
            axes.plot(sizes, sizes, ":", color="0.5", label="everybody sends")
            # With the setting SPARSE, there may be no response, and a logarithmic axis has no 0.
            drawn = [setting.title for setting in TABLES[table] if setting is not SPARSE]
            for number, (setting, (color, marker)) in enumerate(zip(drawn, LINES, strict=False)):
                line = [row for row in rows if (row.table, row.setting) == (table, setting)]
                counts = [row.percentile_95 for row in line]
                # Many points coincide at 1 and 2. Later markers are smaller, so that all stay visible.
                axes.plot(sizes, counts, color=color, marker=marker, markersize=13 - 1.2 * number, label=setting)
            axes.set(xlabel=across, ylabel="sent, 95th percentile of the trials", xscale="log", yscale="log")
            axes.set_title(f"{title}\n", fontsize=14)
            default = f"T_max {T_MAX_MS // 1_000} s, delay {arguments.delay} ms{more}"
            axes.text(0.5, 1.02, default, ha="center", fontsize=11, transform=axes.transAxes)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter("{x:,.0f}")
            axes.tick_params(labelleft=True)
            axes.grid(color="0.92")
            axes.legend(frameon=False, loc="upper left")
        figure.savefig(arguments.svg, format="svg", metadata={"Date": None, "Creator": None})


def whole(least: int) -> Callable[[str], int]:
    """A converter for arguments that are integers of at least ``least``."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return int(text)

    return number


def picture(text: str) -> Path:
    """A file to draw to. It is checked before the long run, not after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise argparse.ArgumentTypeError("drawing needs matplotlib: pip install --group benchmarks")
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not a file in an existing folder")
    return path


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=whole(1), nargs="+", default=SIZES, metavar="N", help="1 to 10,000 by default")
    parser.add_argument("--trials", type=whole(1), default=100, help="number of messages per point (%(default)s)")
    parser.add_argument("--seed", type=whole(0), default=1, help="seed of message IDs and moments (%(default)s)")
    parser.add_argument(
        "--delay", type=whole(1), default=200, metavar="MS", help="delay until others receive a message (%(default)s)"
    )
    parser.add_argument("--hash-profile", choices=HASH_PROFILES, default=DEFAULTS.hash_profile.name)
    parser.add_argument("--svg", type=picture, metavar="FILE", help="draw the result")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parsed = parser.parse_args(arguments)
    parsed.sizes = sorted(set(parsed.sizes))
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = parse(arguments)
    try:
        rows, no_backoff = measure(parsed)
        if parsed.svg:
            draw(parsed, rows)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    if parsed.json:
        settings = {key: value for key, value in vars(parsed).items() if key not in ("json", "svg")}
        result = {"benchmark": "repair_storms", **settings, "no_backoff": no_backoff, "rows": [*map(asdict, rows)]}
        print(json.dumps(result, indent=2))
    else:
        print("\n".join(report(parsed, rows, no_backoff)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
