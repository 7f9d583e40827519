"""``certificate`` as it is typed: what is written, what is shown, and what gives a false one away."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from certificates import certified, forged, kept, left, whole_report
from run_helpers import REPOSITORY, odd_adapter, reference_command
from sds_conformance.reports.certificate import Certificate, read_certificate
from sds_conformance.reports.certificate_replay import draw_sample
from suite_terminal import too_wide, typed, words

REFERENCE = ("--", *reference_command())
FEW = ("--sample", "4", "--seed", "1")
"""Options with which a rerun takes no time."""
MUST, SHOULD = "SDS-MSG-01", "SDS-STATE-06"


def impostor(*arguments: str) -> list[str]:
    return ["--", sys.executable, str(REPOSITORY / "conformance" / "tests" / "impostor.py"), *arguments]


def present(about: dict[str, Any], data: dict[str, Any]) -> None:
    """Make a certificate say this about the implementation."""
    data["implementation"] |= about


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verified(made: Certificate, *arguments: str) -> Result:
    """Verify a certificate."""
    result = typed("certificate", "verify", kept(made, Path()), *arguments)
    assert too_wide(result.stdout) == []
    return result


# ---- Write and show ------------------------------------------------------------------------------------------------


def test_what_a_run_has_left_becomes_a_certificate_and_a_page() -> None:
    report = left(whole_report({MUST: "fail", SHOULD: "warn"}), Path("out"))
    result = typed("certificate", "write", report, "--html", "page.html")
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    assert "level none" in words(result.stdout)
    assert read_certificate(Path("certificate.json")).level == "none"
    assert "No level" in Path("page.html").read_text("utf-8")
    assert sorted(path.name for path in Path().iterdir()) == ["certificate.json", "out", "page.html"]


def test_it_is_shown_on_80_columns() -> None:
    made = certified({MUST: "fail", SHOULD: "warn", "SDS-ACK-01": "skipped"})
    result = typed("certificate", "show", kept(made, Path()), "--html", "page.html")
    assert result.exit_code == 0
    assert too_wide(result.stdout) == []
    text = words(result.stdout)
    for printed in (
        "Level none",
        "FAIL SDS-MSG-01",
        "WARN SDS-STATE-06",
        "SKIPPED SDS-ACK-01",
        "not declared: observe",
    ):
        assert printed in text
    for printed in (
        "not Core: MUST requirements that fail: SDS-MSG-01",
        "Untested SDS-INSWEEP-03",
        "version 1.1.0, not asked",
    ):
        assert printed in text
    assert Path("page.html").is_file()


def test_what_is_hostile_in_it_reaches_no_terminal() -> None:
    def poison(data: dict[str, Any]) -> None:
        data["implementation"] |= {"name": "\x1b[2Jred", "version": "\u202e", "command": ["\x1b]0;t\x07"]}
        data["requirements"][0]["statement"] = "\x1b[31m" * 1000
        data |= {"doubts": ["\x9b31m"], "date": "\x1b[2J"}

    for name in ("show", "verify"):
        made = forged(certified({MUST: "fail"}), poison)
        result = typed("certificate", name, kept(made, Path()))
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(result.output)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("write", "nowhere"), "run --report DIR"),
        (("write", "out/report.json", "--vectors", "nowhere"), "vectors run --json"),
        (("write", "out/report.json", "--out", "no/such/place"), "Name another FILE"),
        (("write", "out/report.json", "--sign-key", "no-key"), "ssh-keygen -t ed25519 -f no-key"),
        (("show", "nowhere"), "certificate write"),
        (("verify", "nowhere"), "certificate write"),
        (("verify", "out/report.json"), "this version reads sds-conformance/certificate/2"),
        (("verify", "certificate.json", "--signer", "ann"), "--allowed-signers FILE and --signer NAME"),
        (("verify", "certificate.json", "--trust-command", "--", "x"), "omit it or -- COMMAND"),
    ],
)
def test_wrong_use_says_what_to_type(arguments: tuple[str, ...], said: str) -> None:
    left(whole_report(), Path("out"))
    kept(certified(), Path())
    result = typed("certificate", *arguments)
    assert result.exit_code == 2
    assert said in words(result.stderr)


# ---- Verify: the content -------------------------------------------------------------------------------------------


def test_no_command_out_of_the_file_is_started_unasked(tmp_path: Path) -> None:
    report = whole_report()
    report.data["implementation"]["command"] = ["touch", str(tmp_path / "started")]
    made = certified()
    made = forged(made, lambda data: data.update(implementation=report.data["implementation"]))
    result = verified(made)
    assert result.exit_code == 4
    assert "started only on request" in words(result.stdout)
    assert f"certificate verify certificate.json -- touch {tmp_path / 'started'}" in result.stdout
    assert not (tmp_path / "started").exists()
    trusted = verified(made, "--trust-command")
    assert trusted.exit_code == 3
    assert "Driving the command of the certificate: touch" in trusted.stderr
    assert (tmp_path / "started").exists()


def test_a_command_that_cannot_be_shown_as_it_is_is_never_started() -> None:
    for hidden in ("\x1b[8m", "x" * 5000):
        change: dict[str, Any] = {"command": ["touch", "started", hidden]}
        made = forged(certified(), partial(present, change))
        result = verified(made, "--trust-command")
        assert result.exit_code == 2
        assert not Path("started").exists()


def test_a_forged_one_is_refused_before_anything_is_played() -> None:
    made = certified({MUST: "fail"})
    for change, said in (
        (lambda data: data["level"].update(name="Core"), "its level is Core, but its verdicts give none"),
        (lambda data: data["verdicts"].update({"pass": 7, "fail": 0}), "it counts 7 pass"),
        (lambda data: data["requirements"][0].update(verdict="pass"), "SDS-MSG-01 is among the causes"),
    ):
        result = verified(forged(made, change), *FEW, *impostor())
        assert result.exit_code == 2
        assert "Forged" in result.stdout
        assert said in words(result.stdout)
        assert "Rerun" not in result.stdout


def test_one_that_was_changed_or_cut_off_is_refused() -> None:
    made = certified()
    file = kept(made, Path())
    file.write_bytes(made.raw.replace(b'"strict": false', b'"strict": true'))
    result = typed("certificate", "verify", file, *REFERENCE)
    assert result.exit_code == 2
    assert "the digest does not match its contents" in words(result.stdout)
    file.write_bytes(made.raw[:-100])
    result = typed("certificate", "verify", file, *REFERENCE)
    assert result.exit_code == 2
    assert "was cut off" in words(result.stderr)


def test_one_of_another_version_is_not_compared() -> None:
    for change in (
        lambda data: data["suite"].update(version="9.9"),
        lambda data: data.update(catalogue="0" * 64),
    ):
        result = verified(forged(certified(), change), *REFERENCE)
        assert result.exit_code == 4
        assert "Verify it with that version" in words(result.stdout)


# ---- Verify: played again ------------------------------------------------------------------------------------------


def test_a_true_one_holds_as_far_as_was_played() -> None:
    result = verified(certified(), *FEW, *REFERENCE)
    assert result.exit_code == 0
    text = words(result.stdout)
    assert "Rerun seed 1: 4 scenarios, in plain, " in text
    assert "none in " in text
    assert "Holds for the sample: " in text
    assert re.search(r"\b(\d+) of \1 verdicts", text) is None


def test_the_seed_of_a_sample_is_printed_and_gives_it_again() -> None:
    first = verified(certified(), "--sample", "1", *REFERENCE).stdout
    seed = words(first).partition("Rerun seed ")[2].partition(":")[0]
    assert verified(certified(), "--sample", "1", "--seed", seed, *REFERENCE).stdout == first


def test_a_false_one_does_not_hold() -> None:
    result = verified(certified(), *FEW, *impostor())
    assert result.exit_code == 1
    text = words(result.stdout)
    assert "Differs SDS-MSG-02: certified pass, and now fail in " in text
    assert "Does not hold" in text


@pytest.mark.exhaustive
def test_who_behaves_in_the_sample_alone_is_not_certified_beyond_it() -> None:
    """It is at fault in one environment: a sample of two of the eight may miss it, and says what it compared."""
    made, shy = certified(), impostor("LC_ALL", "tr_TR.UTF-8")
    for where, code in ((True, 1), (False, 0)):
        seed = next(n for n in range(40) if ("turkish" in str(draw_sample(made.data, n, 6).plan.environments)) is where)
        result = verified(made, "--sample", "6", "--seed", str(seed), *shy)
        assert result.exit_code == code
        assert ("Holds for the sample" in words(result.stdout)) is not where


@pytest.mark.exhaustive
def test_all_of_it_finds_what_a_sample_may_miss() -> None:
    made = certified(revision="forum-2024")
    for command, code, said in (
        (impostor("LC_ALL", "tr_TR.UTF-8"), 1, "certified pass, and now fail in "),
        (REFERENCE, 0, "Holds: 41 of 41 verdicts were reproduced"),
    ):
        result = verified(made, "--all", *command)
        assert result.exit_code == code
        assert said in words(result.stdout)


def test_who_else_answers_is_another_implementation() -> None:
    for command, said in (
        (
            reference_command("--mutant", "starts-at-zero"),
            "name: certified sds_reference, and now sds_reference mutant",
        ),
        (odd_adapter("local-time"), "name: certified sds_reference, and now local-time"),
        (reference_command("--without", "observe"), "capabilities: certified"),
    ):
        result = verified(certified(), *FEW, "--", *command)
        assert result.exit_code == 1
        assert said in words(result.stdout)
        assert "the implementation is not the certified one" in words(result.stdout)


def test_who_does_not_answer_was_not_driven() -> None:
    result = verified(certified(), *FEW, "--", "false")
    assert result.exit_code == 3
    assert "could not be driven" in words(result.stderr)


def test_where_nothing_was_judged_nothing_is_compared() -> None:
    nothing = dict.fromkeys((row["id"] for row in whole_report().data["requirements"]), "inconclusive")
    result = verified(certified(nothing), *FEW, *REFERENCE)
    assert result.exit_code == 4
    assert "no sample can be drawn: type --all" in words(result.stdout)


def test_it_is_driven_as_it_was() -> None:
    """The framing of the certificate is spoken unless another is typed."""
    report = whole_report(framing="binary")
    made = certified()
    made = forged(made, lambda data: data.update(carrier=report.data["framing"]))
    command = ("--", *odd_adapter("speaks-binary-only"))
    assert verified(made, *FEW, *command).exit_code == 1
    assert verified(made, *FEW, "--framing", "json", *command).exit_code == 3
    asked = verified(forged(made, lambda data: data.update(carrier="grpc")), *FEW, *REFERENCE)
    assert asked.exit_code == 2
    assert "add --grpc ADDRESS" in words(asked.stderr)


# ---- Signatures ----------------------------------------------------------------------------------------------------


def key(name: str) -> Path:
    """A key, and its line in the file of allowed signers."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name], check=True)
    with Path("signers").open("a") as signers:
        signers.write(f"{name} {Path(f'{name}.pub').read_text()}")
    return Path(name)


signing = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")


@signing
def test_a_signature_says_who_wrote_it() -> None:
    ann = key("ann")
    key("bob")
    report = left(whole_report(), Path("out"))
    assert typed("certificate", "write", report, "--sign-key", ann).exit_code == 0
    assert Path("certificate.json.sig").is_file()

    def checked(*arguments: str) -> Result:
        return typed("certificate", "verify", "certificate.json", *arguments)

    assert "--allowed-signers would name the owner of the key" in words(checked().stdout)
    signers = ("--allowed-signers", "signers", "--signer")
    assert "signature for ann" in words(checked(*signers, "ann").stdout)
    assert checked(*signers, "ann", *FEW, *REFERENCE).exit_code == 0
    for other in (checked(*signers, "bob"), checked(*signers, "nobody")):
        assert other.exit_code == 2
        assert "did not sign this certificate" in words(other.stdout)
    missing = checked("--allowed-signers", "nowhere", "--signer", "ann")
    assert missing.exit_code == 2
    assert "there is no file nowhere" in words(missing.stdout)


@signing
def test_a_signature_of_something_else_is_refused() -> None:
    key("ann")
    report = left(whole_report(), Path("out"))
    typed("certificate", "write", report, "--sign-key", "ann")
    file, signature = Path("certificate.json"), Path("certificate.json.sig")
    kept(certified({MUST: "fail"}), Path())
    changed = typed("certificate", "verify", file)
    assert changed.exit_code == 2
    assert "the signature is not of this certificate" in words(changed.stdout)
    for content in ("nonsense", "x" * 100_000):
        signature.write_text(content)
        assert typed("certificate", "verify", file).exit_code == 2
    signature.unlink()
    unsigned = typed("certificate", "verify", file, "--allowed-signers", "signers", "--signer", "ann")
    assert unsigned.exit_code == 2
    assert "it is not signed" in words(unsigned.stdout)


@signing
def test_what_is_written_anew_without_a_key_keeps_no_old_signature() -> None:
    report = left(whole_report(), Path("out"))
    typed("certificate", "write", report, "--sign-key", key("ann"))
    typed("certificate", "write", report)
    assert not Path("certificate.json.sig").exists()


def test_without_ssh_keygen_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    report = left(whole_report(), Path("out"))
    Path("key").write_text("a key")
    monkeypatch.setenv("PATH", "nowhere")
    result = typed("certificate", "write", report, "--sign-key", "key")
    assert result.exit_code == 2
    assert "openssh-client" in words(result.stderr)
    assert not Path("certificate.json").exists()
