"""Mixed groups: generated schedules whose participants are different implementations, all of a cast in one group.

Every requirement is judged on the trace of one implementation alone, so the faults of others do not count against it.
A property of the group is another matter: where two logs differ, one of them may be right. So whoever it accuses plays
the schedule again among references, and is to blame only if it is accused there, too. What nobody is to blame for is a
finding against the group.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sds_harness.declaration import Declaration
from sds_harness.link import Limits, LocalLink
from sds_harness.schedules import Member, Performance, Schedule
from sds_harness.schedules.generator import NAMES, Grammar, generated
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HASH_PROFILES, PROFILES, Config
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.testee.version import suite_version

from ..runner import PATIENCE
from ..verdict import Finding, Verdict
from .campaign import TWINS_EVERY
from .casts import Cast, Implementation, NotPlayed
from .judging import BREAKDOWN, RANK, STORM, Assessment, Replay, Scope, assess
from .properties import PROPERTIES

MIXED = "mixed"
"""The note "cast" of a schedule that was found in a mixed group."""
GROUP = ""
"""Stands for an implementation in what nobody in particular is to blame for."""
STAND_IN = "reference"
_PLAYS = "plays "
_ROOM = "bloom_capacity"
_TRIAL = 24

Roles = Mapping[str, str]
"""The implementation of each participant."""


# ---- Who plays whom --------------------------------------------------------------------------------------------------


def roles_for(schedule: Schedule, names: tuple[str, ...], turn: int) -> dict[str, str]:
    """The implementations in turn; ``turn`` says which is the first."""
    return {member: names[(turn + place) % len(names)] for place, member in enumerate(schedule.names)}


def grammar_for(names: tuple[str, ...]) -> Grammar:
    """Schedules in which there is a place for everybody, as far as there are places."""
    return Grammar(fewest=max(Grammar().fewest, min(len(names), len(NAMES))))


def with_one_capacity(schedule: Schedule, capacity: int | None) -> Schedule:
    """The schedule with filters of a size that all have in common; None, as each is asked to configure it.

    Of another size they are foreign: some drop what carries such a filter, and after that nothing of note happens.
    """
    if capacity is None:
        return schedule
    return replace(schedule, configuration=tuple(sorted((dict(schedule.configuration) | {_ROOM: capacity}).items())))


def noted(roles: Roles) -> dict[str, str]:
    """Roles as notes of a schedule."""
    return {"cast": MIXED, **{f"{_PLAYS}{member}": name for member, name in roles.items()}}


def roles_noted(schedule: Schedule) -> dict[str, str]:
    """The roles that are noted in a schedule; participants of whom nothing is noted are not among them."""
    notes = dict(schedule.notes)
    return {member: notes[f"{_PLAYS}{member}"] for member in schedule.names if f"{_PLAYS}{member}" in notes}


def members_of(name: str, schedule: Schedule, roles: Roles) -> list[str]:
    """The participants that an implementation plays."""
    return [member for member in schedule.names if roles[member] == name]


class Troupe:
    """A cast, and for each of its implementations another one in which it is among references."""

    def __init__(self, cast: Cast) -> None:
        """``cast`` has been started, and whoever started it ends it."""
        self.cast = cast
        self._own: list[Cast] = []
        self._among: dict[str, Cast] = {}

    def __enter__(self) -> Troupe:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def play(self, schedule: Schedule, roles: Roles) -> Performance:
        """Raises NotPlayed."""
        return self.cast.play(schedule, roles)

    def play_afresh(self, schedule: Schedule, roles: Roles) -> Performance:
        """Even if somebody was given up who broke too often: a breakdown that is shrunk does just that."""
        try:
            return self.cast.play(schedule, roles)
        except NotPlayed:
            self.cast.kill()
            self.cast = self._started(Cast(self.cast.implementations.values()))
            return self.cast.play(schedule, roles)

    def play_among_references(self, name: str, schedule: Schedule, roles: Roles) -> Performance:
        """With a reference in place of everybody else, one with the filters and times of ``name``. Raises NotPlayed."""
        if name not in self._among:
            declared = self.cast.declarations[name]
            stand_in = Implementation(f"{STAND_IN} of {name}", lambda _: LocalLink(_reference(declared)), Limits())
            self._among[name] = self._started(Cast([self.cast.implementations[name], stand_in]))
        other = f"{STAND_IN} of {name}"
        return self._among[name].play(schedule, {m: name if r == name else other for m, r in roles.items()})

    def fixed_capacity(self) -> int | None:
        """How many IDs the filters have room for of those who do not let it be configured; None if all do."""
        for name in self.cast.driven:
            schedule = Schedule((Member("alice"),), configuration=((_ROOM, _TRIAL),), name="filters of one size")
            try:
                parties = self.cast.play(schedule, {"alice": name}).parties
            except NotPlayed:
                continue
            capacity = parties["alice"].in_force.bloom_capacity if "alice" in parties else 0
            if capacity not in (0, _TRIAL):
                return capacity
        return None

    def kill(self) -> None:
        """End what was started here."""
        for cast in self._own:
            cast.kill()

    def _started(self, cast: Cast) -> Cast:
        self._own.append(cast)
        cast.start()
        return cast


def _reference(declared: Declaration) -> Callable[[pb.Request], pb.Reply]:
    config = Config()
    if declared.bloom_profile in PROFILES:
        config = replace(config, bloom_profile=PROFILES[declared.bloom_profile])
    if declared.hash_profile in HASH_PROFILES:
        config = replace(config, repair=replace(config.repair, hash_profile=HASH_PROFILES[declared.hash_profile]))
    return Testee(TesteeOptions(suite_version(), config)).handle


# ---- Judging ---------------------------------------------------------------------------------------------------------


def judge(
    troupe: Troupe,
    performance: Performance,
    roles: Roles,
    scope: Scope,
    *,
    twins: bool = False,
    known: Collection[tuple[str, str]] = (),
) -> dict[str, Assessment]:
    """What is to be said of each implementation in a performance, and of the group.

    ``known`` are implementations with what they are known to be to blame for.
    """
    schedule = performance.schedule
    if performance.storm:
        scope = replace(scope, properties=())  # of thousands of messages that mean nothing
    replay = _Replay(lambda changed: troupe.play(changed, roles)) if twins and performance.breakdown is None else None
    out: dict[str, Assessment] = {}
    doubtful: dict[str, Finding] = {}
    for name in dict.fromkeys(roles[member] for member in schedule.names):
        judged = out[name] = assess(performance, scope, members_of(name, schedule, roles), replay)
        if replay is not None and replay.given_up:
            judged.errors.pop("global properties", None)
        of_group = [f for f in judged.findings if _is_of_the_group(f) and (name, f.requirement) not in known]
        doubted = _not_shown_again(troupe, schedule, roles, name, of_group, twins=twins) if of_group else []
        doubtful |= {finding.requirement: finding for finding in doubted}
        breakdowns = [f for f in judged.findings if f.requirement == BREAKDOWN]
        kept = [finding for finding in judged.findings if finding not in doubted and finding not in breakdowns]
        judged.findings = kept + [own for f in breakdowns for own in _own_breakdown(f, performance, name, roles)]
    group = out[GROUP] = Assessment()
    if not any(finding.severity is Verdict.FAIL for judged in out.values() for finding in judged.findings):
        group.findings = list(doubtful.values())
    return out


class _Replay:
    """Plays twins once, whoever asks for them, and remembers whether it was possible."""

    def __init__(self, play: Replay) -> None:
        self._play = play
        self._played: dict[Schedule, Performance] = {}
        self.given_up = False

    def __call__(self, schedule: Schedule) -> Performance:
        if schedule not in self._played:
            try:
                self._played[schedule] = self._play(schedule)
            except NotPlayed:
                self.given_up = True
                raise
        return self._played[schedule]


def _is_of_the_group(finding: Finding) -> bool:
    return finding.requirement in PROPERTIES or finding.requirement == STORM


def _not_shown_again(
    troupe: Troupe, schedule: Schedule, roles: Roles, name: str, findings: list[Finding], *, twins: bool
) -> list[Finding]:
    """Those findings of which an implementation is not accused among references."""
    if set(roles.values()) == {name}:
        return []
    replay = _Replay(lambda changed: troupe.play_among_references(name, changed, roles))
    try:
        performance = replay(schedule)
    except NotPlayed:
        return findings
    properties = tuple(dict.fromkeys(f.requirement for f in findings if f.requirement != STORM))
    whether_twins = replay if twins and performance.breakdown is None else None
    scope = Scope((), () if performance.storm else properties)
    again = assess(performance, scope, members_of(name, schedule, roles), whether_twins)
    return [finding for finding in findings if RANK[again.worst(finding.requirement)] < RANK[finding.severity]]


def _own_breakdown(finding: Finding, performance: Performance, name: str, roles: Roles) -> Iterator[Finding]:
    """The breakdown of an implementation, with its own last step."""
    for member, trace in performance.cast.items():
        if roles[member] == name and trace.breakdown is not None:
            step = trace.steps[-1].index if trace.steps else 0
            yield replace(finding, participant=member, step=step)
            return


# ---- A campaign ------------------------------------------------------------------------------------------------------


@dataclass
class Discovery:
    """What was found against one implementation: the worst of one requirement or property, by the first schedule."""

    name: str
    """The implementation, or ``GROUP``."""
    what: str
    finding: Finding
    index: int
    """The number of that schedule."""
    schedule: Schedule
    roles: Roles
    schedules: int = 0
    """In how many it was found."""


@dataclass
class Mixed:
    """What all schedules say together."""

    names: tuple[str, ...]
    seed: int
    examples: int
    """As many as were asked for."""
    schedules: int = 0
    steps: int = 0
    seconds: float = 0.0
    played: Counter[str] = field(default_factory=Counter)
    """In how many schedules each implementation took part."""
    discoveries: dict[tuple[str, str], Discovery] = field(default_factory=dict)
    """By implementation and requirement or property."""
    exercised: dict[str, Counter[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    """Faults of ours."""
    given_up: dict[str, str] = field(default_factory=dict)
    """Implementations that did not go on, and why."""
    interrupted: bool = False

    @property
    def failing(self) -> bool:
        """Does anything fail?"""
        return bool(self.errors) or any(d.finding.severity is Verdict.FAIL for d in self.discoveries.values())

    @property
    def ordered(self) -> list[Discovery]:
        """Everything that was found: the worst first, requirements before properties, the frequent before the rare."""
        return sorted(
            self.discoveries.values(),
            key=lambda d: (-RANK[d.finding.severity], d.what in PROPERTIES, -d.schedules, d.what, d.name),
        )

    def of(self, name: str) -> list[Discovery]:
        """What was found against one implementation, in the same order."""
        return [discovery for discovery in self.ordered if discovery.name == name]

    def add(self, index: int, performance: Performance, roles: Roles, judged: Mapping[str, Assessment]) -> None:
        """Take in what was found in one schedule."""
        self.schedules += 1
        self.steps += performance.steps
        self.played.update(set(roles.values()))
        for name, assessment in judged.items():
            self.errors |= assessment.errors
            reached = {what: 1 for what, count in assessment.exercised.items() if count}
            self.exercised.setdefault(name, Counter()).update(reached)
            for what in dict.fromkeys(finding.requirement for finding in assessment.findings):
                worst = max((f for f in assessment.findings if f.requirement == what), key=lambda f: RANK[f.severity])
                known = self.discoveries.get((name, what))
                if known is None or RANK[worst.severity] > RANK[known.finding.severity]:
                    new = Discovery(name, what, worst, index, performance.schedule, roles)
                    new.schedules = known.schedules if known is not None else 0
                    known = self.discoveries[name, what] = new
                known.schedules += 1


Progress = Callable[[Mixed], None]


def explore_mixed(
    troupe: Troupe, seed: int, examples: int, scope: Scope, progress: Progress = lambda mixed: None
) -> Mixed:
    """Play generated schedules with all that can be driven, and judge them.

    Whoever was given up is left out of what follows; an interrupt (Ctrl-C) ends the playing, and what was played
    counts.
    """
    began = time.monotonic()
    names = troupe.cast.driven
    mixed = Mixed(names, seed, examples)
    try:
        capacity = troupe.fixed_capacity()
        for index in range(examples):
            # The schedule does not hang on who has been given up, so that its number says which it is.
            schedule = with_one_capacity(generated(seed, index, grammar_for(names)), capacity)
            _play_one(troupe, mixed, index, schedule, scope)
            progress(mixed)
            if len(mixed.given_up) >= len(names) - 1:
                break
    except KeyboardInterrupt:
        mixed.interrupted = True
    mixed.seconds = time.monotonic() - began
    return mixed


def _play_one(troupe: Troupe, mixed: Mixed, index: int, schedule: Schedule, scope: Scope) -> None:
    while len(names := tuple(name for name in mixed.names if name not in mixed.given_up)) > 1:
        roles = roles_for(schedule, names, index)
        try:
            performance = troupe.play(schedule, roles)
        except NotPlayed as reason:
            mixed.given_up[reason.name] = reason.reason
            continue
        judged = judge(troupe, performance, roles, scope, twins=not index % TWINS_EVERY, known=mixed.discoveries)
        mixed.add(index, performance, roles, judged)
        for name in (*names, GROUP):
            storms = mixed.discoveries.get((name, STORM))
            if storms is not None and storms.schedules >= PATIENCE:
                mixed.given_up |= dict.fromkeys([name] if name else names, "sent messages without end again and again")
        return
