"""``selftest``: the verdict, the tables of ``--markdown``, and ``--generated`` at a few places."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from sds_conformance.cli.selftest import SelfTestProof, markdown
from sds_conformance.judging.alterations.source import ModelSource
from sds_conformance.judging.exercise import MutantResult, VariantResult
from sds_conformance.protocols.sds.register import CHECKS
from sds_conformance.protocols.sds.source import SOURCE
from suite_terminal import typed, words


def kill_of(
    name: str, requirement: str, verdict: str = "fail", *, killed: bool = True, skipped: str = ""
) -> MutantResult:
    checks = tuple(check.name for check in CHECKS[requirement])
    return MutantResult(name, requirement, f"what {name} does", verdict, killed, (), 0, checks, skipped)


def proof_of(*kills: MutantResult, refused: tuple[str, ...] = ()) -> SelfTestProof:
    return SelfTestProof(list(kills), [VariantResult("a-variant", "chooses a | b", 99, 0, refused)])


SHY = kill_of("shy", "SDS-STATE-13", "skipped", killed=False, skipped="not declared: observe")
GOOD = proof_of(kill_of("late", "SDS-SEND-01"), kill_of("early", "SDS-MSG-01", "warn"))
BAD = proof_of(kill_of("late", "SDS-SEND-01", "pass", killed=False), refused=("SDS-MSG-01 fail",))


CHECK = CHECKS["SDS-SEND-01"][0]
SLY = replace(kill_of("sly", "SDS-RECV-05", "pass", killed=False), pending="no scenario waits", also=("SDS-X",))
LATE = replace(kill_of("late", "SDS-SEND-01"), also=("SDS-SEND-02", "SDS-SEND-03"), unexplained=("SDS-SEND-03",))
PROOFS = {
    "good": (GOOD, 0, "2 of 2 mutants killed by their requirement, 1 of 1 legal variant accepted."),
    "alive": (BAD, 1, "Alive: late"),
    "pending": (proof_of(SLY), 0, "0 of 1 mutant killed by their requirement, 1 pending, 1 of 1 legal"),
    "killed": (
        proof_of(replace(SLY, verdict="fail", killed=True)),
        1,
        "by the check of its requirement: sly. Remove the mark.",
    ),
    "more": (proof_of(LATE), 1, "late (SDS-SEND-01) also fails SDS-SEND-03, which is not declared as a consequence"),
    "outdated": (replace(GOOD, outdated=["A fails B"]), 1, "Declared consequence that no run shows: A fails B"),
    "unproven": (
        SelfTestProof(GOOD.mutants, GOOD.variants, unguarded=["SDS-MSG-99"], unproven=[CHECK]),
        1,
        f"Requirements without a mutant: SDS-MSG-99 Checks that reject no mutant of their requirement: {CHECK.name}",
    ),
    "skipped": (proof_of(SHY), 0, "0 of 1 mutant killed by their requirement, 1 skipped, 1 of 1 legal"),
}


@pytest.mark.parametrize("name", PROOFS)
def test_the_verdict_says_what_is_wrong_and_its_table_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof, exit_code, said = PROOFS[name]
    # Of the package, the name of this module is that of the command in it.
    module = import_module("sds_conformance.cli.selftest")
    monkeypatch.setattr(module, "run_self_test", lambda *arguments, **options: proof)
    result = typed("selftest", "--markdown", tmp_path / "table.md")
    assert result.exit_code == exit_code
    assert said in words(result.stdout)
    assert (tmp_path / "table.md").read_text("utf-8") == markdown(proof)


def test_the_table_has_a_row_of_each_mutant_variant_and_requirement() -> None:
    text = markdown(GOOD)
    for row in (
        "| `early` | what early does | SDS-MSG-01 | warn |",
        "| `a-variant` | chooses a \\| b | accepted |",
        f"| SDS-SEND-01 | MUST | {len(CHECKS['SDS-SEND-01'])} | 1 |",
        "| SDS-SEND-02 | MUST | 1 | 0 |",
    ):
        assert row in text
    assert "| `sly` | what sly does | SDS-RECV-05 | pass: pending | SDS-X |" in markdown(proof_of(SLY))
    assert "| fail | SDS-SEND-02, **SDS-SEND-03** |" in markdown(proof_of(LATE))
    permission = CHECKS["SDS-ACK-03"][0]
    unproven = markdown(SelfTestProof([], [], unproven=[permission, CHECK]))
    assert f"Checks that reject no mutant of their requirement:\n\n- `{CHECK.name}` of SDS-SEND-01\n" in unproven
    assert f"Permissions, which nothing can violate:\n\n- `{permission.name}` of SDS-ACK-03\n" in unproven


# ---- --generated -----------------------------------------------------------------------------------------------------


COUNTS = "lamport_clock.LamportClock.next: one-more: 1"
ONE_PROCESS = ("selftest", "--generated", "--jobs", "1")


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> ModelSource:
    """The source as it is, in its first configuration alone; the processes that play are forks of this one."""
    few = replace(SOURCE, configurations=SOURCE.configurations[:1], excuses=lambda: "")
    module = import_module("sds_conformance.cli.generated")
    protocol = module.protocol_with_source()[0]
    monkeypatch.setattr(module, "protocol_with_source", lambda: (protocol, few))
    return few


@pytest.mark.usefixtures("source")
def test_the_same_for_programs() -> None:
    result = typed(*ONE_PROCESS, "--only", COUNTS, "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (data["found"], data["foundByRun"], data["counts"]) == (1.0, 1.0, {"fails": 1})
    (fault,) = data["faults"]
    assert (fault["name"], fault["place"]["new"], fault["end"]) == (COUNTS, "2", "fails")
