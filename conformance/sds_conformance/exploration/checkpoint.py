"""Stores the progress of an exhaustion in a file, to resume it later.

The file contains the indexes of schedules with findings and the numbers of finished chunks. When it is read, the
schedules with findings are replayed. A file is rejected if an exhaustion with the same parameters cannot have written
it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from sds_harness.declaration import printable
from sds_harness.files import FileError, read_bytes, write_named

from .campaign import CampaignTally
from .cast_under_test import CachingCast
from .exhaustion import CHUNK, Bound, ChunkResults, Exhaustion, Prober, SettledSchedules
from .exhaustion_campaign import Coverage

SCHEMA_ID = "sds-conformance/exhaustion/1"
MAX_BYTES = 4 << 20
MAX_COUNT = 1 << 40
MAX_SCHEDULES = 1 << 24
"""Maximum number of schedules over all bounds. They are counted again when the file is read, which takes up to a
minute.
"""

_SETTLED = tuple(field.name for field in fields(SettledSchedules))


class ResumeError(Exception):
    """An exhaustion cannot be resumed from the file; the message says why."""


def save(coverage: Coverage, path: Path) -> None:
    """Write the progress. Raises OSError."""
    tally = coverage.tally
    write_named(
        path,
        json.dumps(
            {
                "schema": SCHEMA_ID,
                **_parameters_of(coverage.order, tally),
                "bounds": [
                    {
                        "events": bound.events,
                        "schedules": bound.schedules,
                        **{name: getattr(bound, name) for name in _SETTLED},
                        "chunks": _ranges(bound.chunks),
                    }
                    for bound in coverage.bounds
                    if bound.chunks
                ],
                "without": sorted(coverage.without),
                "steps": tally.steps,
                "seconds": round(tally.seconds, 3),
                "found": {
                    what: {"first": tally.found_at[what], "schedules": tally.found_in[what]} for what in tally.found
                },
                "exercised": dict(sorted(tally.exercised.items())),
                "situations": dict(sorted(tally.situations.items())),
            },
            indent=1,
        )
        + "\n",
    )


def load(path: Path, order: Exhaustion, cast_under_test: CachingCast) -> Coverage:
    """Load the progress for ``order``, and replay the schedules with findings. Raises ResumeError and
    NotPlayedError."""
    tally = CampaignTally(cast_under_test.declaration)
    coverage = Coverage(order, tally)
    try:
        data = json.loads(read_bytes(path, MAX_BYTES))
        if not isinstance(data, dict) or data.get("schema") != SCHEMA_ID:
            raise ResumeError("the file was not written by this version of `exhaust`")
        about = _parameters_of(order, tally)
        for key, value in about.items():
            if data[key] != value:
                raise ResumeError(f"the {key.replace('_', ' ')} in the file and in this command differ")
        for number, row in enumerate(data["bounds"], 1):
            if coverage.count_shorter(number) + _count(row["schedules"]) > MAX_SCHEDULES:
                raise ResumeError(f"the file has more than {MAX_SCHEDULES:,} schedules: start again with another file")
            coverage.bounds.append(_read_bound(order, number, row))
        coverage.without = frozenset(map(_count, data.get("without", ())))
        if any(kind >= len(order.world.kinds) for kind in coverage.without):
            raise ResumeError("the file excludes an event that is not in the alphabet")
        tally.steps = _count(data["steps"])
        coverage.earlier_s = tally.seconds = float(_count(int(data["seconds"])))
        tally.exercised = _counter(data["exercised"], [*order.scope.by_id, *order.scope.properties])
        tally.situations = _counter(data["situations"], order.scope.repertoire.situations)
        tally.schedules = sum(bound.played for bound in coverage.bounds)
        found = {_count(row["first"]): None for row in data["found"].values()}
        often = {str(what): _count(row["schedules"]) for what, row in data["found"].items()}
    except FileError as error:
        raise ResumeError(f"the file {error}") from None
    except (ValueError, RecursionError) as error:
        raise ResumeError(f"the file is not JSON that `exhaust` wrote: {error}") from None
    except (KeyError, TypeError, AttributeError, OverflowError):
        raise ResumeError("a field of the file is missing, or has an impossible value") from None
    if any(index >= coverage.count_shorter(len(coverage.bounds) + 1) for index in found):
        raise ResumeError("the file has a finding in a schedule beyond the last schedule of its bounds")
    _replay_findings(coverage, cast_under_test, found)
    if lost := [what for what in often if what not in tally.found]:
        raise ResumeError(f"{printable(lost[0])} was found, but a replay of its schedule does not show it")
    tally.found_in = Counter({what: often.get(what, 1) for what in tally.found})
    return coverage


def _replay_findings(coverage: Coverage, cast_under_test: CachingCast, found: Iterable[int]) -> None:
    """Replay the schedules that had findings, without counting them again."""
    order, tally = coverage.order, coverage.tally
    prober = Prober(order, cast_under_test)
    for index in found:
        share = ChunkResults(CampaignTally(cast_under_test.declaration), 0)
        prober.probe(order.word(index), index, share)
        counted = share.tally
        counted.schedules = counted.steps = 0
        for counter in (counted.exercised, counted.situations, counted.found_in):
            counter.clear()
        tally.join(counted)


def _parameters_of(order: Exhaustion, tally: CampaignTally) -> dict[str, Any]:
    """The parameters that must be equal to resume from a file."""
    return {
        "implementation": f"{tally.declaration.name} {tally.declaration.version}".strip(),
        "revision": order.revision,
        "profile": order.profile,
        "cast": order.casting.value,
        "strict": order.strict,
        "participants": order.participants,
        "alphabet": [str(part) for part in order.alphabet],
        "digest_of_the_schedules": order.digest,
    }


def _read_bound(order: Exhaustion, events: int, row: Any) -> Bound:
    """Parse the progress of a bound. Raises ValueError for an impossible bound."""
    settled = {name: _count({"left_out": 0, **row}[name]) for name in _SETTLED}
    bound = Bound(events, _count(row["schedules"]), **settled)
    chunks = -(-bound.schedules // CHUNK)
    for first, last in row["chunks"]:
        if not 0 <= _count(first) <= _count(last) < chunks:
            raise ValueError(f"chunks {first} to {last} of {events} events do not exist")
        bound.chunks.update(range(first, last + 1))
    short = CHUNK * chunks - bound.schedules if chunks - 1 in bound.chunks else 0
    if row["events"] != events or bound.settled_count != len(bound.chunks) * CHUNK - short:
        raise ValueError(f"the numbers of schedules with {events} events do not add up")
    if bound.schedules != order.world.count(events, bound.schedules + 1):
        raise ValueError(f"the file has a wrong number of schedules with {events} events: {bound.schedules}")
    return bound


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{str(value)[:40]!r} is not a number of schedules or chunks")
    return value


def _counter(counts: dict[str, Any], known: Iterable[str]) -> Counter[str]:
    wanted = set(known)
    return Counter({what: _count(number) for what, number in counts.items() if what in wanted})


def _ranges(chunks: Iterable[int]) -> list[list[int]]:
    """The first and last number of each consecutive range."""
    out: list[list[int]] = []
    for chunk in sorted(chunks):
        if out and out[-1][1] == chunk - 1:
            out[-1][1] = chunk
        else:
            out.append([chunk, chunk])
    return out
