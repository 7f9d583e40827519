"""The verdict of the self-test and the tables of ``selftest --markdown``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from sds_conformance.cli.selftest import SelfTestProof, markdown
from sds_conformance.judging.exercise import OTHER_SHARE, QUICK_SHARE, MutantResult, VariantResult
from sds_conformance.protocols.sds.register import CHECKS
from suite_terminal import typed, words


def kill_of(
    name: str, requirement: str, verdict: str = "fail", *, killed: bool = True, skipped: str = ""
) -> MutantResult:
    checks = tuple(check.name for check in CHECKS[requirement])
    return MutantResult(name, requirement, f"what {name} does", verdict, killed, (), 0, checks, skipped)


def proof_of(*kills: MutantResult, refused: tuple[str, ...] = ()) -> SelfTestProof:
    return SelfTestProof(list(kills), [VariantResult("a-variant", "chooses a | b", 99, 0, refused)])


GOOD = proof_of(kill_of("late", "SDS-SEND-01"), kill_of("early", "SDS-MSG-01", "warn"))
BAD = proof_of(kill_of("late", "SDS-SEND-01", "pass", killed=False), refused=("SDS-MSG-01 fail",))


@pytest.fixture
def outcome_of_the_run(monkeypatch: pytest.MonkeyPatch) -> list[SelfTestProof]:
    """The results of all mutants and variants, without playing them."""
    proofs = [GOOD]
    # Of the package, the name of this module is that of the command in it.
    module = import_module("sds_conformance.cli.selftest")
    monkeypatch.setattr(module, "run_self_test", lambda *arguments, **options: proofs[-1])
    return proofs


# ---- Content ---------------------------------------------------------------------------------------------------------


def test_a_row_says_what_is_wrong_where_and_what_came_of_it() -> None:
    text = markdown(GOOD)
    assert "| `early` | what early does | SDS-MSG-01 | warn |" in text
    assert "| `a-variant` | chooses a \\| b | accepted |" in text
    assert "**2 of 2 mutants killed by their requirement, 1 of 1 legal variant accepted.**" in text
    assert f"| SDS-SEND-01 | MUST | {len(CHECKS['SDS-SEND-01'])} | 1 |" in text
    assert "| SDS-SEND-02 | MUST | 1 | 0 |" in text


def test_a_pending_mutant_has_its_reason_in_the_table_and_is_counted() -> None:
    waiting = replace(kill_of("sly", "SDS-RECV-05", "pass", killed=False), pending="no scenario waits", also=("SDS-X",))
    proof = SelfTestProof([*GOOD.kills, waiting], GOOD.acceptances)
    text = markdown(proof)
    assert proof.complete
    assert "**2 of 3 mutants killed by their requirement, 1 pending, 1 of 1 legal variant accepted.**" in text
    assert "| `sly` | what sly does | SDS-RECV-05 | pass: pending | SDS-X |" in text
    assert "| sly | SDS-RECV-05 | no scenario waits |" in text
    assert "Pending mutants" not in markdown(GOOD)


def test_checks_that_nothing_proves_are_named_permissions_apart() -> None:
    duty, permission = CHECKS["SDS-SEND-01"][0], CHECKS["SDS-ACK-03"][0]
    text = markdown(SelfTestProof([], [], [], [permission, duty]))
    assert f"Checks that reject no mutant of their requirement:\n\n- `{duty.name}` of SDS-SEND-01\n" in text
    assert f"Permissions, which nothing can violate:\n\n- `{permission.name}` of SDS-ACK-03\n" in text
    assert "no mutant violates" not in markdown(SelfTestProof([], [], [], [permission]))


# ---- The verdict -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("proof", "exit_code"), [(GOOD, 0), (BAD, 1)])
def test_the_tables_are_written_whatever_the_verdict(
    tmp_path: Path, outcome_of_the_run: list[SelfTestProof], proof: SelfTestProof, exit_code: int
) -> None:
    outcome_of_the_run.append(proof)
    result = typed("selftest", "--markdown", tmp_path / "table.md")
    assert result.exit_code == exit_code
    assert ("Alive: late" in words(result.stdout)) == bool(exit_code)
    assert (tmp_path / "table.md").read_text("utf-8") == markdown(proof)


def test_what_needs_a_capability_that_is_left_out_is_counted_as_skipped(
    outcome_of_the_run: list[SelfTestProof],
) -> None:
    outcome_of_the_run.append(
        proof_of(kill_of("shy", "SDS-STATE-13", "skipped", killed=False, skipped="not declared: observe"))
    )
    result = typed("selftest", "--without", "Observe")
    assert result.exit_code == 0
    assert "0 of 1 mutant killed by their requirement, 1 skipped, 1 of 1 legal" in words(result.stdout)
    assert "skipped: not declared: observe" in words(result.stdout)


def test_1_a_pending_mutant_that_its_requirement_rejects_must_lose_its_mark(
    outcome_of_the_run: list[SelfTestProof],
) -> None:
    outcome_of_the_run.append(proof_of(replace(kill_of("sly", "SDS-RECV-05"), pending="no scenario waits")))
    result = typed("selftest")
    assert result.exit_code == 1
    assert "Pending although rejected by its requirement: sly. Remove the mark." in words(result.stdout)
    assert "fail: NOT pending" in words(result.stdout)


def test_1_what_fails_beside_a_mutant_without_a_reason_is_named(outcome_of_the_run: list[SelfTestProof]) -> None:
    also = ("SDS-SEND-02", "SDS-SEND-03")
    kill = replace(kill_of("late", "SDS-SEND-01"), also=also, unexplained=also[1:])
    outcome_of_the_run.append(proof_of(kill))
    result = typed("selftest")
    assert result.exit_code == 1
    assert "late (SDS-SEND-01) also fails SDS-SEND-03, which is not declared as a consequence" in words(result.stdout)
    assert "| fail | SDS-SEND-02, **SDS-SEND-03** |" in markdown(proof_of(kill))


def test_1_declared_consequences_that_do_not_come_about_are_named(outcome_of_the_run: list[SelfTestProof]) -> None:
    outcome_of_the_run.append(replace(GOOD, outdated=["SDS-A fails SDS-B"]))
    result = typed("selftest")
    assert result.exit_code == 1
    assert "Declared consequence that no run shows: SDS-A fails SDS-B" in words(result.stdout)


def test_1_requirements_without_a_mutant_are_named(outcome_of_the_run: list[SelfTestProof]) -> None:
    outcome_of_the_run.append(SelfTestProof(GOOD.kills, GOOD.acceptances, ["SDS-MSG-99"], CHECKS["SDS-SEND-01"]))
    result = typed("selftest")
    assert result.exit_code == 1
    assert "Requirements without a mutant: SDS-MSG-99" in words(result.stdout)
    assert f"Checks that reject no mutant of their requirement: {CHECKS['SDS-SEND-01'][0].name}" in words(result.stdout)


def test_a_quick_self_test_says_how_much_was_played() -> None:
    quick = replace(GOOD, quick=True)
    shares = (
        f"each variant played one in {QUICK_SHARE} long scenarios, "
        f"each mutant played one in {OTHER_SHARE} scenarios of other requirements"
    )
    assert f"1 of 1 legal variant accepted, {shares}." in quick.totals
