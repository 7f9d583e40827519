"""Mixed groups: generated schedules in which each participant can be a different implementation of a cast.

A requirement is judged on the trace of one implementation, so faults of others do not count against that
implementation. A property of the group is different: if two logs differ, one of them may be correct. So each
implementation with such a violation replays the schedule among references. The violation counts against the
implementation only if it occurs there as well. If it counts against no implementation, it is a finding against the
group.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from sds_harness.schedules import GroupTrace, Member, Schedule
from sds_testee.version import suite_version

from ..exploration.assessment import BREAKDOWN, STORM, Assessment, Scope, assess
from ..exploration.campaign import TWINS_EVERY
from ..exploration.casts import Cast, CastImplementation, NotPlayedError
from ..exploration.counterexample import (
    BROKEN_ATTEMPTS,
    Counterexample,
    find_reproduction,
    make_notes,
    save,
    shrink_to_smallest,
)
from ..exploration.text import plain_story, svg_of
from ..judging.formats import format_count, short
from ..judging.runner import PATIENCE
from ..judging.verdict import RANK, Finding, Verdict
from ..protocols import exchanges_of, property_of, repertoire_of
from ..protocols.exchanges import SENDER
from ..protocols.properties import Replay
from ..scenario_files.expectations import ExpectationResult, check

GROUP = ""
"""Used in place of the name of an implementation in findings against the group."""


# ---- Casts -----------------------------------------------------------------------------------------------------------

MIXED = "mixed"
"""Value of the note "cast" in a schedule of a mixed group."""
SUBSTITUTE = "reference"
_PLAYS = "plays "

Roles = Mapping[str, str]
"""Maps each participant to the name of its implementation."""


def roles_for(schedule: Schedule, names: tuple[str, ...], first: int) -> dict[str, str]:
    """Assign implementations to participants in turn; ``first`` is the index of the first implementation."""
    return {member: names[(first + place) % len(names)] for place, member in enumerate(schedule.names)}


def roles_to_note(roles: Roles) -> dict[str, str]:
    """Format roles as notes of a schedule."""
    return {"cast": MIXED, **{f"{_PLAYS}{member}": name for member, name in roles.items()}}


def roles_noted(schedule: Schedule) -> dict[str, str]:
    """Read the roles from the notes of a schedule; participants without a note are missing."""
    notes = dict(schedule.notes)
    return {member: notes[f"{_PLAYS}{member}"] for member in schedule.names if f"{_PLAYS}{member}" in notes}


def describe_roles(roles: Roles) -> str:
    by_name: dict[str, list[str]] = {}
    for member, name in roles.items():
        by_name.setdefault(name, []).append(short(member))
    return "; ".join(f"{', '.join(members)}: {name}" for name, members in by_name.items())


def members_of(name: str, schedule: Schedule, roles: Roles) -> list[str]:
    """The participants that an implementation plays."""
    return [member for member in schedule.names if roles[member] == name]


class MixedCast:
    """A cast of several implementations and, for each implementation, a second cast in which references play all other
    participants.
    """

    def __init__(self, cast: Cast) -> None:
        """``cast`` must be started; the caller ends it."""
        self.cast = cast
        self._among: dict[str, Cast] = {}

    def __enter__(self) -> MixedCast:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def play_among_references(self, name: str, schedule: Schedule, roles: Roles) -> GroupTrace:
        """Play with references in place of all implementations but ``name``. The references use the bloom filters and
        the times of implementation ``name``. Raises NotPlayedError.
        """
        other = f"{SUBSTITUTE} of {name}"
        if name not in self._among:
            declared = self.cast.declarations[name]
            others = CastImplementation(other, lambda _: repertoire_of(self.cast.revision).make_substitute(declared))
            self._among[name] = Cast([self.cast.implementations[name], others], self.cast.revision)
            self._among[name].start()
        return self._among[name].play(schedule, {m: name if r == name else other for m, r in roles.items()})

    def find_fixed_settings(self) -> dict[str, int]:
        """Return the settings that all implementations must share, because an implementation that is not configurable
        fixes them.
        """
        out: dict[str, int] = {}
        wanted = exchanges_of(self.cast.revision).in_common
        schedule = Schedule((Member(SENDER),), configuration=tuple(sorted(wanted.items())), name="the common settings")
        for name in self.cast.driven:
            try:
                party = self.cast.play(schedule, {SENDER: name}).parties.get(SENDER)
            except NotPlayedError:
                continue
            for key, value in wanted.items():
                found = getattr(party.in_force, key) if party is not None else 0
                if found not in (0, value):
                    out.setdefault(key, found)
        return out

    def kill(self) -> None:
        """Kill the processes of the casts among references."""
        for cast in self._among.values():
            cast.kill()


# ---- Judging ---------------------------------------------------------------------------------------------------------


def judge(
    mixed_cast: MixedCast,
    group_trace: GroupTrace,
    roles: Roles,
    scope: Scope,
    *,
    twins: bool = False,
    known: Collection[tuple[str, str]] = (),
) -> dict[str, Assessment]:
    """Judge each implementation in a group trace, and the group.

    ``known`` has (implementation, requirement or property) for violations found earlier. These are not replayed.
    """
    schedule = group_trace.schedule
    if group_trace.storm:
        scope = replace(scope, properties=())  # endless messages: judging the properties would take too long
    replay = (
        _Replay(lambda changed: mixed_cast.cast.play(changed, roles))
        if twins and group_trace.breakdown is None
        else None
    )
    out: dict[str, Assessment] = {}
    doubtful: dict[str, Finding] = {}
    for name in dict.fromkeys(roles[member] for member in schedule.names):
        judged = out[name] = assess(group_trace, scope, members_of(name, schedule, roles), replay)
        if replay is not None and replay.given_up:
            judged.errors.pop("global properties", None)
        of_group = [f for f in judged.findings if _is_of_the_group(f) and (name, f.requirement) not in known]
        doubted = _find_unreproduced(mixed_cast, schedule, roles, name, of_group, twins=twins) if of_group else []
        doubtful |= {finding.requirement: finding for finding in doubted}
        breakdowns = [f for f in judged.findings if f.requirement == BREAKDOWN]
        kept_findings = [finding for finding in judged.findings if finding not in doubted and finding not in breakdowns]
        judged.findings = kept_findings + [
            own for f in breakdowns for own in _own_breakdown(f, group_trace, name, roles)
        ]
    group = out[GROUP] = Assessment()
    if not any(finding.severity is Verdict.FAIL for judged in out.values() for finding in judged.findings):
        group.findings = list(doubtful.values())
    return out


class _Replay:
    """Plays each schedule only once, although several properties need its trace. Records whether a schedule could not
    be played.
    """

    def __init__(self, play: Replay) -> None:
        self._play = play
        self._played: dict[Schedule, GroupTrace] = {}
        self.given_up = False

    def __call__(self, schedule: Schedule) -> GroupTrace:
        if schedule not in self._played:
            try:
                self._played[schedule] = self._play(schedule)
            except NotPlayedError:
                self.given_up = True
                raise
        return self._played[schedule]


def _is_of_the_group(finding: Finding) -> bool:
    return property_of(finding.requirement) is not None or finding.requirement == STORM


def _find_unreproduced(
    mixed_cast: MixedCast, schedule: Schedule, roles: Roles, name: str, findings: list[Finding], *, twins: bool
) -> list[Finding]:
    """Return the findings that an implementation does not reproduce among references."""
    if set(roles.values()) == {name}:
        return []
    replay = _Replay(lambda changed: mixed_cast.play_among_references(name, changed, roles))
    try:
        group_trace = replay(schedule)
    except NotPlayedError:
        return findings
    properties = tuple(dict.fromkeys(f.requirement for f in findings if f.requirement != STORM))
    whether_twins = replay if twins and group_trace.breakdown is None else None
    scope = Scope(mixed_cast.cast.revision, (), () if group_trace.storm else properties)
    again = assess(group_trace, scope, members_of(name, schedule, roles), whether_twins)
    return [finding for finding in findings if RANK[again.worst(finding.requirement)] < RANK[finding.severity]]


def _own_breakdown(finding: Finding, group_trace: GroupTrace, name: str, roles: Roles) -> Iterator[Finding]:
    """Yield the finding about a breakdown, with the last step of the participant that broke down, if the implementation
    ``name`` plays this participant."""
    for member, trace in group_trace.cast.items():
        if roles[member] == name and trace.breakdown is not None:
            step = trace.steps[-1].index if trace.steps else 0
            yield replace(finding, participant=member, step=step)
            return


# ---- A campaign ------------------------------------------------------------------------------------------------------


@dataclass
class Discovery:
    """The worst finding for one implementation and one requirement or property, in the first schedule that shows it."""

    name: str
    """The implementation, or ``GROUP``."""
    what: str
    finding: Finding
    index: int
    """Index of the first schedule that shows the finding."""
    schedule: Schedule
    roles: Roles
    schedules: int = 0
    """Number of schedules that showed the violation."""
    example: MixedExample | None = None
    """The counterexample; None if the discovery was not shrunk, or not reproduced."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """The files of the counterexample."""


@dataclass
class Mixed:
    """The results of all schedules of mixed groups."""

    names: tuple[str, ...]
    seed: int
    examples: int
    """The requested number of schedules."""
    schedules: int = 0
    steps: int = 0
    seconds: float = 0.0
    played: Counter[str] = field(default_factory=Counter)
    """Maps each implementation to the number of schedules in which it took part."""
    discoveries: dict[tuple[str, str], Discovery] = field(default_factory=dict)
    """The discoveries, by (implementation, requirement or property)."""
    exercised: dict[str, Counter[str]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    """Errors of the suite."""
    expectations: dict[int, dict[str, ExpectationResult]] = field(default_factory=dict)
    """Maps the index of each file of a user, and each cast (as text), to the result of the expectations."""
    given_up: dict[str, str] = field(default_factory=dict)
    """Implementations that were abandoned, each with the reason."""
    interrupted: bool = False

    @property
    def has_failures(self) -> bool:
        """Is an expectation unmet, or is the severity of a discovery a failure?"""
        return self.unmet_count > 0 or any(d.finding.severity is Verdict.FAIL for d in self.discoveries.values())

    @property
    def unmet_count(self) -> int:
        """Number of expectations that at least one cast did not meet."""
        return sum(
            len({index for result in casts.values() for index, _ in result.unmet})
            for casts in self.expectations.values()
        )

    def by_cast(self, file: int) -> dict[str, ExpectationResult]:
        """Return the results of the expectations of a file by cast. Each description says which cast it is about."""
        casts = self.expectations.get(file, {})
        number: Counter[int | str] = Counter()
        for result in casts.values():
            number.update([*(index for index, _ in result.unmet), *([result.unchecked] if result.unchecked else [])])

        def describe_cast(cast: str, what: str, key: int | str) -> str:
            return f"{what} ({cast}; in {number[key]} of {format_count(len(casts), 'cast')})" if what else ""

        return {
            cast: ExpectationResult(
                tuple((index, describe_cast(cast, seen, index)) for index, seen in result.unmet),
                describe_cast(cast, result.unchecked, result.unchecked),
            )
            for cast, result in casts.items()
        }

    @property
    def sorted_discoveries(self) -> list[Discovery]:
        """All discoveries: failures first, requirements before properties, frequent before rare ones."""
        return sorted(
            self.discoveries.values(),
            key=lambda d: (-RANK[d.finding.severity], property_of(d.what) is not None, -d.schedules, d.what, d.name),
        )

    def discoveries_of(self, name: str) -> list[Discovery]:
        """The discoveries against one implementation, in the order of `sorted_discoveries`."""
        return [discovery for discovery in self.sorted_discoveries if discovery.name == name]

    def add(self, index: int, group_trace: GroupTrace, roles: Roles, judged: Mapping[str, Assessment]) -> None:
        self.schedules += 1
        self.steps += group_trace.steps
        self.played.update(set(roles.values()))
        for name, assessment in judged.items():
            self.errors |= assessment.errors
            reached = {what: 1 for what, count in assessment.exercised.items() if count}
            self.exercised.setdefault(name, Counter()).update(reached)
            for what in dict.fromkeys(finding.requirement for finding in assessment.findings):
                worst = max((f for f in assessment.findings if f.requirement == what), key=lambda f: RANK[f.severity])
                known = self.discoveries.get((name, what))
                if known is None or RANK[worst.severity] > RANK[known.finding.severity]:
                    new = Discovery(name, what, worst, index, group_trace.schedule, roles)
                    new.schedules = known.schedules if known is not None else 0
                    known = self.discoveries[name, what] = new
                known.schedules += 1


def explore_mixed(
    mixed_cast: MixedCast,
    seed: int,
    examples: int,
    scope: Scope,
    progress: Callable[[Mixed], None] = lambda mixed: None,
    files: Sequence[Schedule] = (),
) -> Mixed:
    """Play schedules with all implementations that can be tested, and judge them. The ``files`` of users are first:
    each is played once per implementation, so that each implementation plays each participant. The expectations of
    files are checked in each cast. Generated schedules follow.

    Abandoned implementations are left out of later schedules. An interrupt (Ctrl-C) ends the playing; the schedules
    that were played count.
    """
    began = time.monotonic()
    names = mixed_cast.cast.driven
    mixed = Mixed(names, seed, examples)
    try:
        repertoire, in_common = repertoire_of(mixed_cast.cast.revision), mixed_cast.find_fixed_settings()
        # At least one participant per implementation, up to the maximum of the protocol.
        grammar = repertoire.grammar(fewest=max(repertoire.grammar().fewest, min(len(names), len(repertoire.names))))
        first = [file for file in files for _ in names]
        for index in range(len(first) + examples):
            # A schedule depends on its index only, not on which implementations were abandoned.
            own = first[index] if index < len(first) else repertoire.generated(seed, index - len(first), grammar)
            configuration = dict(own.configuration) | in_common
            schedule = replace(own, configuration=tuple(sorted(configuration.items())))
            played = _play_one(mixed_cast, mixed, index, schedule, scope)
            if played is not None and index < len(first):
                group_trace, roles = played
                unchecked = _configuration_conflict(own, schedule)
                result = ExpectationResult(unchecked=unchecked) if unchecked else check(group_trace, repertoire.reading)
                mixed.expectations.setdefault(index // len(names), {})[describe_roles(roles)] = result
            progress(mixed)
            if len(mixed.given_up) >= len(names) - 1:
                break
    except KeyboardInterrupt:
        mixed.interrupted = True
    mixed.seconds = time.monotonic() - began
    return mixed


def _configuration_conflict(own: Schedule, schedule: Schedule) -> str:
    """Return why the expectations of a file (``own``) do not apply to the played ``schedule``, which has another
    configuration. "" if they apply.
    """
    configuration = dict(schedule.configuration)
    for key, value in own.configuration:
        if configuration[key] != value:
            return f"an implementation has {key} fixed at {configuration[key]:,}, and the file asks for {value:,}"
    return ""


def _play_one(
    mixed_cast: MixedCast, mixed: Mixed, index: int, schedule: Schedule, scope: Scope
) -> tuple[GroupTrace, Roles] | None:
    """Play a schedule; None if too few implementations are left."""
    while len(names := tuple(name for name in mixed.names if name not in mixed.given_up)) > 1:
        roles = roles_for(schedule, names, index)
        try:
            group_trace = mixed_cast.cast.play(schedule, roles)
        except NotPlayedError as reason:
            mixed.given_up[reason.name] = reason.reason
            continue
        judged = judge(mixed_cast, group_trace, roles, scope, twins=not index % TWINS_EVERY, known=mixed.discoveries)
        mixed.add(index, group_trace, roles, judged)
        for name in (*names, GROUP):
            storms = mixed.discoveries.get((name, STORM))
            if storms is not None and storms.schedules >= PATIENCE:
                mixed.given_up |= dict.fromkeys([name] if name else names, "repeatedly sent endless messages")
        return group_trace, roles
    return None


# ---- Counterexamples: each participant keeps its implementation ------------------------------------------------------

ATTEMPTS = 1_000
"""Maximum number of schedules that are played to shrink one discovery."""
FEW_ATTEMPTS = 250
"""Maximum number of schedules per discovery if many discoveries must be shrunk."""
STORM_ATTEMPTS = 30
"""Maximum number of schedules to shrink a discovery of endless messages: each schedule has thousands of messages."""


@dataclass(frozen=True)
class MixedExample(Counterexample):
    """A finding against one implementation or the group, in the smallest schedule that shows it."""

    name: str = GROUP
    """Name of the accused implementation; `GROUP` if the finding is against the group."""
    roles: Roles = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """Name of the example, used in the names of its files."""
        return f"{super().slug}-{_safe(self.name) or 'group'}"

    @property
    def fails_alone(self) -> bool:
        """Does the accused implementation play all participants of the shrunk schedule?"""
        return set(self.roles.values()) == {self.name}

    @property
    def parts(self) -> str:
        """The implementations and their participants, as text."""
        return describe_roles(self.roles)


def _safe(name: str) -> str:
    """A name for files: letters, digits and dashes; other characters by their code points."""
    return re.sub(r"[^A-Za-z0-9-]", lambda found: f"u{ord(found.group()):x}", name)


def shrunk(
    mixed_cast: MixedCast, discovery: Discovery, scope: Scope, max_attempts: int = ATTEMPTS
) -> MixedExample | None:
    """Return the smallest schedule that shows the finding; None if it is not reproduced.

    Raises NotPlayedError if an implementation cannot be started again.
    """
    # A finding against the group must count against no implementation, so all findings are judged again.
    narrowed = scope if discovery.name == GROUP else scope.restricted_to(discovery.what)
    held = property_of(discovery.what)
    twins = held is not None and held.twin is not None
    limit = {BREAKDOWN: BROKEN_ATTEMPTS, STORM: STORM_ATTEMPTS}.get(discovery.what, max_attempts)
    cast, best, played_by = mixed_cast.cast, discovery.schedule, discovery.roles

    def roles_in(candidate: Schedule) -> dict[str, str]:
        """Return the implementation of each participant: that of the original participant with the same name, or at the
        same position if participants were renamed.
        """
        if len(candidate.names) == len(best.names):
            return {new: played_by[old] for new, old in zip(candidate.names, best.names, strict=True)}
        return {name: played_by[name] for name in candidate.names}

    def reproduce(candidate: Schedule) -> tuple[GroupTrace, Finding] | None:
        nonlocal best, played_by
        roles = roles_in(candidate)
        if discovery.name not in (GROUP, *roles.values()):
            return None
        group_trace = cast.play_after_breakdowns(candidate, roles)
        judged = judge(mixed_cast, group_trace, roles, narrowed, twins=twins)[discovery.name]
        finding = find_reproduction(discovery.finding, judged.findings)
        if finding is None:
            return None
        best, played_by = candidate, roles
        return group_trace, finding

    def notes(schedule: Schedule) -> tuple[tuple[str, str], ...]:
        roles = roles_in(schedule)
        declared = {name: cast.declarations[name] for name in roles.values()}
        more = {
            **roles_to_note(roles),
            **{f"{name} is": f"{one.name} {one.version}".strip() for name, one in declared.items()},
            "against": discovery.name,
            "suite": suite_version(),
        }
        return make_notes(discovery.finding, discovery.schedule, cast.revision, **more)

    small = shrink_to_smallest(discovery.schedule, reproduce, notes, narrowed.repertoire, min(max_attempts, limit))
    if small is None:
        return None
    parts = {field.name: getattr(small, field.name) for field in fields(Counterexample)}
    return MixedExample(**parts, name=discovery.name, roles=roles_in(small.schedule))


def keep(example: MixedExample, folder: Path) -> Mapping[str, Path]:
    """Write the schedule, its trace, its picture and its story to ``folder``. Raises OSError."""
    text = f"{plain_story(example)}\nPlayed by {example.parts}\n"
    return save(example, folder, svg_of(example), text)
