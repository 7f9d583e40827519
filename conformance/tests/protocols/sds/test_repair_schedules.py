"""Random schedules of SDS-R: no legal implementation fails."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from run_helpers import AMENDED, Handle, open_with_repairs, plan, reference, stage
from sds_conformance.judging.verdict import Judge, RequirementVerdict, Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.rules import RULES
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import ScriptedPeer
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Trace
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, HistoryEntry, Message
from sds_reference.variants import VARIANTS

pytestmark = pytest.mark.exhaustive

BLIND = (pb.CAPABILITY_OBSERVE,)
SCHEDULES = 5
"""For each implementation, seen and unseen."""


class Schedule:
    """One schedule: what happens depends on the seed alone."""

    def __init__(self, seed: int, stage: Stage) -> None:
        self.dice = Random(seed)
        self.stage = stage
        self.alice = self._participant()
        self.peers = [stage.peer(name) for name in ("bob", "carol", "dave", "erin")]
        self.known: list[Message] = []
        self.steady = self.dice.random() < 0.7
        """Does the clock only go forward?"""

    def _participant(self) -> Actor:
        asked = pb.Configuration(
            num_response_groups=self.dice.choice([1, 1, 2, 3]), t_max_ms=self.dice.choice([T_MAX_MS, 5 * T_MAX_MS])
        )
        if self.dice.random() < 0.3:
            asked.resend_unacknowledged_ms, asked.resend_possibly_acknowledged_ms = T_MIN_MS, 3 * T_MIN_MS
        if self.dice.random() < 0.3:
            asked.sync_interval_ms = T_MIN_MS
        return open_with_repairs(self.stage, configuration=asked)

    def play(self, steps: int) -> Trace:
        """Anything, in any order; then time enough for all that is pending."""
        for _ in range(steps):
            does = self.dice.choices(
                (
                    self.hear_content,
                    self.hear_sync,
                    self.hear_a_copy,
                    self.hear_anything_odd,
                    self.say,
                    self.look,
                    self.wait,
                ),
                (25, 10, 5, 4, 10, 10, 36),
            )
            does[0]()
        for _ in range(6):
            self.stage.advance(T_MAX_MS)
            self.alice.tick()
        return self.stage.trace

    # ---- what happens ----------------------------------------------------------------------------------------------

    def hear_content(self) -> None:
        message = self.peer().content(
            self.stage.now_ms + self.dice.randrange(1_000), *self.dependencies(), requests=self.requests()
        )
        self.known.append(message)
        if self.dice.random() < 0.8:  # else it is lost, and named by others
            self.alice.receive(message)

    def hear_sync(self) -> None:
        taken = [message.message_id for message in self.known[:1]]
        named = self.dice.choice([None, None, *taken])
        self.alice.receive(
            self.peer().sync(self.stage.now_ms, *self.dependencies(), message_id=named, requests=self.requests())
        )

    def hear_a_copy(self) -> None:
        if self.known:
            copy = self.dice.choice(self.known)
            asks = self.dice.random() < 0.5
            self.alice.receive(replace(copy, repair_request=tuple(self.requests())) if asks else copy)

    def hear_anything_odd(self) -> None:
        if self.known and self.dice.random() < 0.2:
            self.alice.receive(replace(self.dice.choice(self.known), content=b"another of the same ID"))
        else:
            self.alice.receive(replace(self.peer().ephemeral(b"typing"), repair_request=tuple(self.requests())))

    def say(self) -> None:
        if self.dice.random() < 0.6:
            self.known.append(self.alice.send())
        else:
            self.alice.send_sync()

    def look(self) -> None:
        self.alice.observe()

    def wait(self) -> None:
        if self.steady or self.dice.random() < 0.95:
            self.stage.advance(self.dice.choice([1, 1_000, 6_000, 6_000, 30_000, 30_000, 61_000, 120_000]))
        else:
            self.stage.advance(-self.dice.choice([1_000, 100_000]))
        self.alice.tick()

    # ---- what is in it ---------------------------------------------------------------------------------------------

    def peer(self) -> ScriptedPeer:
        return self.dice.choice(self.peers)

    def some(self, *counts: int) -> list[Message]:
        return self.dice.sample(self.known, min(len(self.known), self.dice.choice(counts)))

    def ghost(self) -> list[HistoryEntry]:
        """Sometimes a message that was never sent."""
        return [HistoryEntry(f"ghost-{self.dice.randrange(5)}", None, "zed")] if self.dice.random() < 0.15 else []

    def dependencies(self) -> list[HistoryEntry]:
        signed = [
            HistoryEntry(message.message_id, None, message.sender_id if self.dice.random() < 0.8 else None)
            for message in self.some(0, 0, 1, 2)
        ]
        return signed + self.ghost()

    def requests(self) -> list[HistoryEntry]:
        """A request of a peer: mostly valid, sometimes without a sender, or with a wrong one."""
        if self.dice.random() < 0.5:
            return []
        senders = [None, "bob", "carol", "zed", self.alice.party.participant_id]
        return [
            HistoryEntry(
                message.message_id,
                None,
                message.sender_id if self.dice.random() < 0.8 else self.dice.choice(senders),
            )
            for message in self.some(1, 1, 2, 4)
        ] + self.ghost()


def judged(handle: Handle, seeds: range, revision: str = CURRENT) -> list[RequirementVerdict]:
    """The observations of all checks of SDS-R in these schedules."""
    judge = Judge(RULES, plan(profile="sds-r", revision=revision).requirements)
    for seed in seeds:
        judge.add(Schedule(seed, stage(handle, f"schedule-{seed}", revision=revision)).play(60))
    return judge.verdicts()


def blamed(verdicts: list[RequirementVerdict]) -> list[tuple[str, ...]]:
    wrong = [v for v in verdicts if v.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)]
    return [
        (v.requirement.id, v.reason, *(f"{f.run}, step {f.step}: {f.expected}; {f.seen}" for f in v.findings))
        for v in wrong
    ]


CHOICES = {"as it is": Config()} | {
    name: variant.configure(Config()) for name, variant in VARIANTS.items() if "repair" in dict(variant.config)
}


@pytest.mark.parametrize("revision", [CURRENT, AMENDED])
@pytest.mark.parametrize("without", [(), BLIND], ids=["observed", "unseen"])
@pytest.mark.parametrize("name", CHOICES)
def test_no_schedule_finds_fault_with_a_legal_choice(name: str, without: tuple[int, ...], revision: str) -> None:
    first = 1_000 * (2 * list(CHOICES).index(name) + len(without))
    assert blamed(judged(reference(CHOICES[name], without=without), range(first, first + SCHEDULES), revision)) == []


@pytest.mark.parametrize(
    ("name", "seed", "without", "revision"),
    [
        ("copies-keep-requests", 323_014, BLIND, CURRENT),
        ("copies-keep-requests", 422_136, (), AMENDED),
        ("lets-requests-expire", 414_104, (), AMENDED),
        ("lets-requests-expire", 414_133, (), AMENDED),
    ],
)
def test_what_was_once_held_against_a_legal_choice_is_so_no_more(
    name: str, seed: int, without: tuple[int, ...], revision: str
) -> None:
    assert blamed(judged(reference(CHOICES[name], without=without), range(seed, seed + 1), revision)) == []
