"""Compare what two states of the suite say of the same implementations.

A change of structure must not change a verdict. ``record`` writes what this state says of the reference models, of
every mutant and legal variant in every scenario, and of some of them in stored schedules. ``compare`` lists what
differs between two such files:

    python conformance/oracle.py schedules schedules.jsonl
    python conformance/oracle.py record schedules.jsonl before.jsonl      (in a worktree of the state before)
    python conformance/oracle.py record schedules.jsonl after.jsonl
    python conformance/oracle.py compare before.jsonl after.jsonl

An adapter is recorded as well if its revision and command are given:
``--adapter "clearskies-database=node harness/adapters/clearskies-js/adapter.mjs"``.

Everything takes about half an hour on two processors.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from sds_conformance.exploration.assessment import assess
from sds_conformance.exploration.campaign import CampaignOrder
from sds_conformance.exploration.casts import NotPlayedError
from sds_conformance.judging.certification import certify
from sds_conformance.judging.exercise import capabilities_left_out
from sds_conformance.judging.known_runs import KnownRuns
from sds_conformance.judging.plan import plan
from sds_conformance.judging.run_player import VERDICTS
from sds_conformance.protocols import protocol_of, protocols, repertoire_of
from sds_harness.link import Limits, Link, StdioLink
from sds_harness.schedules.files import dumps
from sds_testee.framing import Framing

SCHEDULES = {"sds-2026-01": 1_400, "forum-2024": 200, "clearskies-database": 400}
"""By revision: how many are drawn."""
SEED = 20_261_127
CastImplementation = tuple[str, str, str]
"""The revision that it is judged by, its kind (``reference``, ``mutant``, ``variant``) and its name."""
_KNOWN = KnownRuns()
"""In each process: most traces of mutants and variants are those of the reference."""


def implementations() -> list[CastImplementation]:
    """Every model in this process, judged by a revision in which its choice matters."""
    out: list[CastImplementation] = []
    for protocol in protocols():
        model, requirements = protocol.model, protocol.rules.catalogue.requirements
        out += [(revision, "reference", "reference") for revision in protocol.rules.revisions]
        out += [(requirements[m.requirement].revisions[0], "mutant", name) for name, m in model.mutants.items()]
        out += [(revision, "variant", name) for name in model.variants for revision, _ in model.list_choices(name)]
    return out


def started(implementation: CastImplementation, _: Mapping[str, str] | None = None) -> Link:
    """A fresh one."""
    revision, kind, name = implementation
    protocol = protocol_of(revision)
    if kind == "reference":
        return protocol.model.reference(frozenset())
    if kind == "mutant":
        return protocol.model.mutant(name, capabilities_left_out(protocol.rules, protocol.model.mutants[name]))
    return protocol.model.variant(name, frozenset())


def in_scenarios(revision: str, connect: Callable[[Mapping[str, str]], Link]) -> dict[str, Any]:
    """By requirement: the verdict, how often it was exercised, and the violated steps of each run."""
    rules = protocol_of(revision).rules
    outcome = certify(connect, plan(rules, revision=revision), Limits(), keep=VERDICTS, known=_KNOWN)
    said = {
        v.requirement.id: [v.verdict.value, v.exercised, {run: sorted(s) for run, s in sorted(v.tally.places.items())}]
        for v in outcome.verdicts
    }
    return {"verdicts": said, "breakdowns": sorted(broken.breakdown.kind.value for broken in outcome.breakdowns)}


def in_schedule(implementation: CastImplementation, data: object) -> dict[str, Any]:
    """By requirement and property: the severity of its findings, and how often it was exercised."""
    revision = implementation[0]
    schedule = repertoire_of(revision).notation.from_json(data)
    order = CampaignOrder(partial(started, implementation), revision=revision, jobs=1)
    cast_under_test = order.cast_under_test()
    try:
        cast_under_test.start()
        group_trace = cast_under_test.play(schedule)
        assessment = assess(group_trace, order.scope, cast_under_test.participants_under_test(schedule), None)
    except NotPlayedError as reason:
        return {"not played": str(reason)}
    finally:
        cast_under_test.kill()
    found = sorted({(f.requirement, f.severity.value, f.run, f.step) for f in assessment.findings})
    return {"found": found, "exercised": {what: count for what, count in assessment.exercised.items() if count}}


def _scenarios_of(implementation: CastImplementation) -> str:
    said = in_scenarios(implementation[0], partial(started, implementation))
    return json.dumps({"of": ["scenarios", *implementation], **said})


def _schedule_on(play: tuple[int, object, CastImplementation]) -> str:
    number, data, implementation = play
    return json.dumps({"of": ["schedule", number, *implementation], **in_schedule(implementation, data)})


def drawn() -> Iterator[str]:
    """The schedules, one a line."""
    for revision, count in SCHEDULES.items():
        repertoire = repertoire_of(revision)
        for index in range(count):
            schedule = repertoire.generated(SEED, index, repertoire.grammar())
            yield json.dumps({"revision": revision, "schedule": json.loads(dumps(schedule))})


def plays(path: Path) -> Iterator[tuple[int, object, CastImplementation]]:
    """Each schedule on the reference, and on another implementation of the revision, all of them in turn."""
    everybody: dict[str, list[CastImplementation]] = {}
    for implementation in implementations():
        everybody.setdefault(implementation[0], []).append(implementation)
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        row = json.loads(line)
        here = everybody[row["revision"]]
        for implementation in (here[0], here[number % len(here)]):
            yield number, row["schedule"], implementation


def record(schedules: Path, out: Path, adapters: list[tuple[str, list[str]]], jobs: int) -> None:
    """Write what this state says, one line for each implementation and for each play of a schedule."""
    with out.open("w", encoding="utf-8") as file, ProcessPoolExecutor(jobs) as pool:
        for revision, command in adapters:
            connect = partial(StdioLink, command, Framing.JSON, Limits())
            print(json.dumps({"of": ["scenarios", revision, *command], **in_scenarios(revision, connect)}), file=file)
        everybody = implementations()
        for number, line in enumerate(pool.map(_scenarios_of, everybody, chunksize=4), 1):
            print(line, file=file)
            if not number % 100:
                print(f"{number} of {len(everybody)} implementations", file=sys.stderr)
        for line in pool.map(_schedule_on, plays(schedules), chunksize=16):
            print(line, file=file)


def differences(before: Path, after: Path) -> Iterator[str]:
    """The differences of the second state, one line for each implementation and requirement."""
    one, other = (_rows(path) for path in (before, after))
    for of in sorted(one.keys() | other.keys()):
        if of not in one or of not in other:
            yield f"{of}: only in {before if of in one else after}"
            continue
        for part in sorted(one[of].keys() | other[of].keys()):
            was, now = one[of].get(part), other[of].get(part)
            if not isinstance(was, dict) or not isinstance(now, dict):
                was, now = {"": was}, {"": now}
            for what in sorted(was.keys() | now.keys()):
                if was.get(what) != now.get(what):
                    yield f"{of} {part} {what}: {json.dumps(was.get(what))} -> {json.dumps(now.get(what))}"


def _rows(path: Path) -> dict[str, dict[str, Any]]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return {" ".join(map(str, row.pop("of"))): row for row in rows}


def main(arguments: list[str] | None = None) -> int:
    """Exit code 1 if two states differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("schedules", help="draw schedules and store them").add_argument("out", type=Path)
    recording = commands.add_parser("record", help="write what this state says")
    recording.add_argument("schedules", type=Path)
    recording.add_argument("out", type=Path)
    recording.add_argument("--jobs", type=int, default=2)
    recording.add_argument("--adapter", action="append", default=[], metavar="REVISION=COMMAND")
    comparing = commands.add_parser("compare", help="list what two states say otherwise")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "schedules":
        given.out.write_text("".join(f"{line}\n" for line in drawn()), "utf-8")
    elif given.command == "record":
        named = [adapter.partition("=") for adapter in given.adapter]
        adapters = [(revision, shlex.split(command)) for revision, _, command in named]
        record(given.schedules, given.out, adapters, given.jobs)
    else:
        lines = list(differences(given.before, given.after))
        print("\n".join([*lines, f"{len(lines)} difference{'s' * (len(lines) != 1)}"]))
        return bool(lines)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
