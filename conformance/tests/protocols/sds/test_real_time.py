"""An implementation that goes by its own clock is judged by what no clock can change, however wrong that may be."""

from __future__ import annotations

import random
import re
import time

import pytest

from run_helpers import Handle, certified, reference, reference_command, verdict_on, with_verdict
from sds_conformance.judging.certification import Certification
from sds_conformance.judging.verdict import Verdict
from sds_conformance.protocols.sds.catalogue import CURRENT
from sds_conformance.protocols.sds.register import REGISTER
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import Config, Participant
from sds_reference.mutants import MUTANTS
from sds_reference.variants import VARIANTS
from suite_terminal import typed, words

OPEN = {
    "SDS-STATE-01",
    "SDS-STATE-02",
    "SDS-SEND-01",
    "SDS-SEND-03",
    "SDS-DELIVER-01",
    "SDS-DELIVER-02",
    "SDS-DELIVER-03",
    "SDS-SYNC-03",
    "SDS-SYNC-14",
    "SDS-SYNC-15",
    "SDS-EPHEMERAL-07",
}
"""Requirements on Lamport timestamps that are judged anyway."""
JUDGED = OPEN | {"SDS-RECV-01"}
SCENARIOS = [s.name for s in REGISTER.scenarios.values() if JUDGED.intersection(s.exercises) and not s.long]
WRONG_MS = 1_200_000
"""By so much is a clock wrong, at random and each time otherwise: twenty minutes."""


def in_real_time(config: Config, participant: type[Participant], wrong_ms: int) -> Handle:
    """The model with the clock of the system, which may be wrong."""
    inner = reference(config, participant=participant, without=[pb.CAPABILITY_VIRTUAL_CLOCK])
    chance = random.Random(1)

    def answer(request: pb.Request) -> pb.Reply:
        name = request.WhichOneof("command") or ""
        output = pb.Request()
        output.CopyFrom(request)
        command = getattr(output, name, None)
        if command is not None and "now_ms" in command.DESCRIPTOR.fields_by_name:
            command.now_ms = time.time_ns() // 1_000_000 + chance.randint(-wrong_ms, wrong_ms)
        return inner(output)

    return answer


def judged(config: Config, participant: type[Participant] = Participant, wrong_ms: int = 0) -> Certification:
    return certified(lambda: in_real_time(config, participant, wrong_ms), scenarios=SCENARIOS, revision=CURRENT)


def against(outcome: Certification) -> set[str]:
    return with_verdict(outcome, Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


# ---- Nobody is accused, and faults are found -------------------------------------------------------------------------


def test_the_model_passes_in_real_time() -> None:
    outcome = certified(lambda: in_real_time(Config(), Participant, 0), revision=CURRENT)
    assert against(outcome) == set()
    assert with_verdict(outcome, Verdict.PASS) >= OPEN
    assert verdict_on(outcome, "SDS-STATE-03").reason == "not declared: virtual-clock"


def test_a_clock_that_goes_back_and_forth_is_no_fault() -> None:
    outcome = judged(Config(), wrong_ms=WRONG_MS)
    assert against(outcome) == set()
    assert with_verdict(outcome, Verdict.PASS) >= OPEN - {"SDS-SYNC-14", "SDS-EPHEMERAL-07"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in VARIANTS if not name.startswith("forum-")])
def test_every_legal_variant_passes_with_a_clock_that_is_wrong(name: str) -> None:
    variant = VARIANTS[name]
    outcome = judged(variant.configure(Config()), variant.participant_class, WRONG_MS)
    assert against(outcome) <= set(variant.leaves_out)


@pytest.mark.parametrize(
    "name",
    [
        "keeps-clock-on-delivery",
        "sends-the-old-lamport",
        "one-clock-for-all",
    ],
)
def test_a_fault_is_found_in_real_time(name: str) -> None:
    mutant = MUTANTS[name]
    outcome = judged(mutant.configure(Config()), mutant.participant_class)
    assert mutant.requirement in against(outcome)


def test_times_count_from_the_start_of_a_conversation_in_real_time() -> None:
    out = typed("smoke", "--", *reference_command("--without", "virtual-clock")).stdout
    assert re.search(r"1 alice joins c1 at T$", out, re.MULTILINE)
    assert re.findall(r"T[+-]\d{8,}", out) == []
    out = typed(
        "run",
        "--environment",
        "plain",
        "--scenario",
        "ties",
        "--",
        *reference_command("--without", "virtual-clock", "--mutant", "ties-by-arrival"),
    ).stdout
    assert "T is the start of the conversation." in words(out)
    assert re.findall(r"T[+-]\d{8,}", out) == []
