"""``certificate`` as it is typed: files, output, and the rejection of forged and damaged certificates."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from certificates import certified, forged, kept, left, whole_report
from run_helpers import REPOSITORY, reference_command
from sds_conformance.judging.certification import Progress
from sds_conformance.reports.certificate import Certificate, read_certificate
from suite_terminal import controls, too_wide, typed, words

REFERENCE = ("--", *reference_command())
FEW = ("--sample", "4", "--seed", "1")
"""Options with which a rerun takes no time."""
MUST, SHOULD = "SDS-MSG-01", "SDS-STATE-06"


def impostor(*arguments: str) -> list[str]:
    return ["--", sys.executable, str(REPOSITORY / "conformance" / "tests" / "impostor.py"), *arguments]


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verified(made: Certificate, *arguments: str, code: int = 0) -> str:
    """Verify a certificate, and return what the command prints on stdout and stderr."""
    result = typed("certificate", "verify", kept(made, Path()), *arguments)
    assert result.exit_code == code, result.output
    assert too_wide(result.stdout) == []
    return words(result.stdout + result.stderr)


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
    for printed in (
        "Level none",
        "FAIL SDS-MSG-01",
        "WARN SDS-STATE-06",
        "SKIPPED SDS-ACK-01",
        "not declared: observe",
        "not Core: MUST requirements that fail: SDS-MSG-01",
        "Untested SDS-INSWEEP-03",
        "version 1.1.0; no result of `vectors run` is attached",
        "Exhaust no result of `exhaust` is attached",
    ):
        assert printed in words(result.stdout)
    assert Path("page.html").is_file()


def test_what_is_hostile_in_it_reaches_no_terminal() -> None:
    def poison(data: dict[str, Any]) -> None:
        data["implementation"] |= {"name": "\x1b[2Jred", "version": "\u202e", "command": ["\x1b]0;t\x07"]}
        data["requirements"][0]["statement"] = "\x1b[31m" * 1000
        data |= {"doubts": ["\x9b31m"], "date": "\x1b[2J"}

    for name in ("show", "verify"):
        result = typed("certificate", name, kept(forged(certified({MUST: "fail"}), poison), Path()))
        assert controls(result.output) == set()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("write nowhere", "run --report DIR"),
        ("write out/report.json --vectors nowhere", "vectors run --json"),
        ("write out/report.json --out no/such/place", "Name another FILE"),
        ("write out/report.json --sign-key no-key", "ssh-keygen -t ed25519 -f no-key"),
        ("show nowhere", "certificate write"),
        (
            "show empty.json",
            "empty.json is not a certificate: it does not name its schema. Name a certificate.json that",
        ),
        ("verify nowhere", "certificate write"),
        ("verify out/report.json", "this version reads sds-conformance/certificate/2"),
        ("verify certificate.json --signer ann", "--allowed-signers FILE and --signer NAME"),
        ("verify certificate.json --trust-command -- x", "omit it or -- COMMAND"),
    ],
)
def test_wrong_use_says_what_to_type(arguments: str, said: str) -> None:
    left(whole_report(), Path("out"))
    kept(certified(), Path())
    Path("empty.json").write_text("{}")
    result = typed("certificate", *arguments.split())
    assert result.exit_code == 2
    assert said in words(result.stderr)


# ---- Forged, damaged and of another version ------------------------------------------------------------------------


def test_no_command_out_of_the_file_is_started_unasked() -> None:
    made = forged(certified(), lambda data: data["implementation"].update(command=["touch", "started"]))
    printed = verified(made, code=4)
    assert "started only on request" in printed
    assert "certificate verify certificate.json -- touch started" in printed
    assert not Path("started").exists()
    assert "Driving the command of the certificate: touch" in verified(made, "--trust-command", code=3)
    assert Path("started").exists()


@pytest.mark.parametrize("hidden", ["\x1b[8m", "x" * 5000])
def test_a_command_that_cannot_be_shown_as_it_is_is_never_started(hidden: str) -> None:
    command = ["touch", "started", hidden]
    verified(forged(certified(), lambda d: d["implementation"].update(command=command)), "--trust-command", code=2)
    assert not Path("started").exists()


def test_a_forged_one_is_neither_played_nor_shown_nor_put_on_a_page() -> None:
    made = certified({MUST: "fail"})
    for change, said in (
        (lambda data: data["level"].update(name="Core"), "the level is Core, but the verdicts give none"),
        (lambda data: data["verdicts"].update({"pass": 7, "fail": 0}), "the certificate counts 7 pass"),
        (lambda data: data["requirements"][0].update(verdict="pass"), "SDS-MSG-01 is among the causes"),
    ):
        printed = verified(forged(made, change), *FEW, *impostor(), code=2)
        assert "Forged" in printed
        assert said in printed
        assert "Rerun" not in printed
        shown = typed("certificate", "show", "certificate.json", "--html", "page.html")
        assert (shown.exit_code, shown.stdout, Path("page.html").exists()) == (2, "", False)
        assert "certificate.json is forged or damaged: " in words(shown.stderr)


def test_one_that_was_changed_or_cut_off_is_refused() -> None:
    made = certified()
    for raw, said in (
        (
            made.raw.replace(b'"strict": false', b'"strict": true'),
            "the digest does not match the contents of the certificate",
        ),
        (made.raw[:-100], "was cut off"),
    ):
        assert said in verified(Certificate(made.data, raw), *REFERENCE, code=2)


def test_one_of_another_version_is_not_compared_and_its_level_is_computed_from_its_rows() -> None:
    assert "Verify the certificate with that version" in verified(
        forged(certified(), lambda data: data.update(catalogue="0" * 64)), *REFERENCE, code=4
    )

    def promote(data: dict[str, Any]) -> None:
        data["suite"]["version"] = "9.9"
        data["level"]["name"] = "Core + SDS-R, strict"

    made = forged(certified({MUST: "fail"}), promote)
    assert "Verify the certificate with that version" in verified(made, *REFERENCE, code=4)
    text = words(typed("certificate", "show", kept(made, Path())).stdout)
    assert "Level none" in text
    assert "Core + SDS-R, strict" not in text
    assert "Warning the certificate was written by version 9.9 of the suite" in text


# ---- Played again --------------------------------------------------------------------------------------------------


def test_a_true_one_holds_as_far_as_was_played() -> None:
    text = verified(certified(), *FEW, *REFERENCE)
    assert "Rerun seed 1: 4 scenarios, in plain, " in text
    assert "Holds for the sample: " in text
    assert re.search(r"\b(\d+) of \1 judged verdicts", text) is None


def test_the_seed_of_a_sample_is_printed_and_gives_it_again() -> None:
    first = verified(certified(), "--sample", "1", *REFERENCE)
    seed = first.partition("Rerun seed ")[2].partition(":")[0]
    assert verified(certified(), "--sample", "1", "--seed", seed, *REFERENCE) == first


def test_a_false_one_does_not_hold() -> None:
    text = verified(certified(), *FEW, *impostor(), code=1)
    assert "Differs SDS-MSG-02: certified pass, and now fail in " in text
    assert "Does not hold" in text


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (reference_command("--mutant", "starts-at-zero"), "name: certified sds_reference, and now sds_reference mut"),
        (reference_command("--without", "observe"), "capabilities: certified"),
    ],
)
def test_who_else_answers_is_another_implementation(command: list[str], said: str) -> None:
    text = verified(certified(), *FEW, "--", *command, code=1)
    assert said in text
    assert "this is not the certified implementation" in text


@pytest.mark.parametrize(("command", "differs"), [(REFERENCE, False), (impostor(), True)])
def test_an_interrupted_replay_compares_only_what_was_played(
    command: tuple[str, ...] | list[str], differs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify_module = import_module("sds_conformance.cli.certificate.verify")

    class CountingBar:
        def __enter__(self) -> Progress:
            return self.interrupt

        def __exit__(self, *_: object) -> None:
            pass

        def interrupt(self, _: str, number: int, __: int) -> None:
            if number == 20:
                raise KeyboardInterrupt

    monkeypatch.setattr(verify_module, "progress_bar", lambda *_, **__: CountingBar())
    text = verified(certified(), "--all", *command, code=130)
    assert re.search(r"Interrupted: compared \d+ of \d+ judged verdicts before the interrupt; ", text)
    assert ("Differs" in text, "they agree" in text) == (differs, not differs)
    assert "and now inconclusive" not in text
    assert "Does not hold" not in text


# ---- Signatures ----------------------------------------------------------------------------------------------------


def key(name: str) -> Path:
    """A key, and its line in the file of allowed signers."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name], check=True)
    with Path("signers").open("a") as signers:
        signers.write(f"{name} {Path(f'{name}.pub').read_text()}")
    return Path(name)


def checked(*arguments: str) -> Result:
    return typed("certificate", "verify", "certificate.json", *arguments)


signing = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen")
SIGNERS = ("--allowed-signers", "signers", "--signer")


@signing
def test_a_signature_says_who_wrote_it() -> None:
    key("bob")
    report = left(whole_report(), Path("out"))
    assert typed("certificate", "write", report, "--sign-key", key("ann")).exit_code == 0
    assert "--allowed-signers would name the owner of the key" in words(checked().stdout)
    assert "signature for ann" in words(checked(*SIGNERS, "ann").stdout)
    assert checked(*SIGNERS, "ann", *FEW, *REFERENCE).exit_code == 0
    for other in (checked(*SIGNERS, "bob"), checked(*SIGNERS, "nobody")):
        assert other.exit_code == 2
        assert "did not sign this certificate" in words(other.stdout)
        assert "Not accepted" in other.stdout
        assert "Forged" not in other.stdout
    missing = checked("--allowed-signers", "nowhere", "--signer", "ann")
    assert missing.exit_code == 2
    assert "there is no file nowhere" in words(missing.stdout)


@signing
def test_a_signature_of_something_else_is_refused() -> None:
    report, signature = left(whole_report(), Path("out")), Path("certificate.json.sig")
    typed("certificate", "write", report, "--sign-key", key("ann"))
    kept(certified({MUST: "fail"}), Path())
    changed = checked()
    assert changed.exit_code == 2
    assert "the signature does not belong to this certificate" in words(changed.stdout)
    for content in ("nonsense", "x" * 100_000):
        signature.write_text(content)
        assert checked().exit_code == 2
    typed("certificate", "write", report)
    assert not signature.exists(), "a certificate that is written again without a key has no signature"
    unsigned = checked(*SIGNERS, "ann")
    assert unsigned.exit_code == 2
    assert "the certificate is not signed" in words(unsigned.stdout)


def test_without_ssh_keygen_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    report = left(whole_report(), Path("out"))
    Path("key").write_text("a key")
    monkeypatch.setenv("PATH", "nowhere")
    result = typed("certificate", "write", report, "--sign-key", "key")
    assert result.exit_code == 2
    assert "openssh-client" in words(result.stderr)
    assert not Path("certificate.json").exists()
