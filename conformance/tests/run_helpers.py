"""Helpers for tests of the suite: implementations in this process, stages, and views of traces.

The participant under test is "alice" in the channel "c1" unless a test needs more, and T is the start of virtual time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from sds_conformance.judging import exercise
from sds_conformance.judging.catalogue import Catalogue
from sds_conformance.judging.certification import Certification, certify
from sds_conformance.judging.judgement import Observation, Outcome
from sds_conformance.judging.plan import plan as plan_of
from sds_conformance.judging.registry import CheckFunction, Scenario
from sds_conformance.judging.verdict import RequirementVerdict, Verdict
from sds_conformance.protocols.sds import rules
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.register import CHECKS, COUNTERPARTS, REGISTER, SCENARIOS
from sds_conformance.protocols.sds.rules import SdsRules
from sds_conformance.protocols.sds.scenarios.core import endurance
from sds_conformance.protocols.sds.scenarios.repair.participants import repair_configuration
from sds_conformance.protocols.sds.view.channel_view import ChannelView
from sds_harness.environment import PLAIN
from sds_harness.link import Limits, LocalLink
from sds_harness.sds.actor import Actor
from sds_harness.sds.language import open_session
from sds_harness.sds.stage import Stage
from sds_harness.stage import START_MS
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Channel, Config, HistoryEntry, Message, Participant
from sds_reference.testee.dialect import load_dialect
from sds_reference.testee.server import Testee, TesteeOptions
from sds_reference.variants import VARIANTS

T = START_MS
REPOSITORY = Path(__file__).parents[2]
BROKEN_ADAPTERS = REPOSITORY / "harness" / "tests" / "broken_adapters.py"
ODD_ADAPTERS = Path(__file__).with_name("odd_adapters.py")
AMENDED = "sds-2025-10-amended"
"""The other revision that can be judged."""
ALL_CAPABILITIES = frozenset(pb.Capability.values()) - {pb.CAPABILITY_UNSPECIFIED}

OF_SDS = {name: s for name, s in SCENARIOS.items() if any(requirement.startswith("SDS-") for requirement in s.declared)}
"""The scenarios that are played for SDS; the others are about what only the proposal of 2024 says."""
SHORT = tuple(s.name for s in OF_SDS.values() if not s.long and s.function.__module__ != endurance.__name__)
"""Those of them that do not play thousands of steps."""
CHECKS_OF_SDS = {requirement: checks for requirement, checks in CHECKS.items() if requirement.startswith("SDS-")}

plan = partial(plan_of, rules.RULES)
certify_reference = partial(exercise.certify_reference, rules.RULES)
certify_every_revision = partial(exercise.certify_every_revision, rules.RULES)
examine_mutant = partial(exercise.examine_mutant, rules.RULES, rules.MODEL)
examine_variant = partial(exercise.examine_variant, rules.RULES, rules.MODEL)
unproven = partial(exercise.unproven_checks, rules.RULES)

Handle = Callable[[pb.Request], pb.Reply]
Change = Callable[[pb.Request, pb.Reply], None]


def reference(
    config: Config | None = None,
    *,
    without: Iterable[int] = (),
    dialect: str = "",
    name: str = "the reference",
    participant: type[Participant] = Participant,
) -> Handle:
    """A fresh reference model, behind the testee protocol."""
    return Testee(
        TesteeOptions(
            "1",
            config or Config(),
            participant,
            name,
            load_dialect(dialect) if dialect else None,
            frozenset(without),
        )
    ).handle


def participant_of(channel: type[Channel]) -> type[Participant]:
    return type("ParticipantOfATest", (Participant,), {"channel_class": channel})


def of_channel(channel: type[Channel], config: Config | None = None) -> Handle:
    """The reference with another class of channels."""
    return reference(config, participant=participant_of(channel))


def variant(name: str, *, without: Iterable[int] = ()) -> Handle:
    """A legal variant of the model, behind the testee protocol."""
    chosen = VARIANTS[name]
    return reference(chosen.configure(Config()), participant=chosen.participant_class, without=without)


def altered(change: Change, handle: Handle | None = None) -> Handle:
    """The reference, with ``change`` applied to each of its replies."""
    inner = handle or reference()

    def answer(request: pb.Request) -> pb.Reply:
        reply = inner(request)
        change(request, reply)
        return reply

    return answer


def certified(
    start: Callable[[], Handle],
    *,
    select: Iterable[str] = (),
    scenarios: Iterable[str] = (),
    environments: Iterable[str] = (PLAIN.name,),
    dialect: str | None = None,
    strict: bool = False,
    profile: str = "full",
    revision: str = CURRENT,
) -> Certification:
    """The outcome for an implementation in this process; ``start`` makes a fresh one.

    Without ``scenarios`` the short ones are played.
    """
    what = plan(select, profile=profile, revision=revision, scenarios=scenarios or SHORT, environments=environments)
    return certify(lambda _: LocalLink(start()), what, Limits(), dialect=dialect, strict=strict)


def stage(handle: Handle | None = None, name: str = "by-hand", dialect: str = "", revision: str = CURRENT) -> Stage:
    """A stage with the reference on it, or with what ``handle`` is."""
    session = open_session(lambda: LocalLink(handle or reference()), Limits(), revision)
    return Stage(session, name, load_dialect(dialect) if dialect else None)


def view(played: Stage, participant: str = "alice", channel: str = "c1") -> ChannelView:
    """The facts of one participant in one channel."""
    return ChannelView(played.trace, played.trace.parties[participant], channel)


def outcomes(check: CheckFunction, seen: ChannelView) -> set[Outcome]:
    """The observations of a check; empty if its situation did not arise."""
    return {observation.outcome for observation in check(seen)}


def rows(requirement: str) -> CheckFunction:
    """The rows of a requirement in all tables, as one check."""

    def check(seen: ChannelView) -> Iterator[Observation]:
        for one in REGISTER.of_tables[requirement]:
            yield from one.function(seen)

    check.__name__ = requirement
    return check


def scenario(name: str, function: Callable[[Stage], None], *exercises: str) -> Scenario:
    return Scenario(name, function, exercises, counterparts=COUNTERPARTS)


def rules_with(catalogue: Catalogue) -> SdsRules:
    """The rules of SDS with another catalogue."""

    class Other(SdsRules):
        @property
        def catalogue(self) -> Catalogue:
            return given

    given = catalogue
    return Other()


def with_verdict(outcome: Certification, *verdicts: Verdict) -> set[str]:
    """IDs of the requirements with one of the verdicts."""
    return {v.requirement.id for v in outcome.verdicts if v.verdict in verdicts}


def verdict_on(outcome: Certification, requirement: str) -> RequirementVerdict:
    return next(v for v in outcome.verdicts if v.requirement.id == requirement)


def reference_command(*arguments: str) -> list[str]:
    """The reference as a process of its own."""
    return [sys.executable, "-m", "sds_reference", *arguments]


def broken_adapter(*arguments: str) -> list[str]:
    """One of the harness's broken adapters, as a process of its own."""
    return [sys.executable, str(BROKEN_ADAPTERS), *arguments]


def odd_adapter(*arguments: str) -> list[str]:
    """An adapter of ``odd_adapters.py``, as a process of its own."""
    return [sys.executable, str(ODD_ADAPTERS), *arguments]


def open_with_repairs(on: Stage, configuration: pb.Configuration | None = None) -> Actor:
    """A participant that uses SDS-R."""
    return on.open(configuration=repair_configuration(configuration))


def entries_with_senders(*messages: Message) -> tuple[HistoryEntry, ...]:
    """Entries that name the senders of the messages, as participants with SDS-R write them."""
    return tuple(HistoryEntry(message.message_id, None, message.sender_id) for message in messages)
