"""``sds-conformance certificate verify``: checks that a certificate is unchanged, consistent and reproducible."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable

from ...judging.certification import Certification, certify
from ...judging.exits import Exit
from ...judging.formats import format_count
from ...judging.run_player import Keep
from ...judging.runner import Runner
from ...presentation.story import print_labelled
from ...protocols import protocol_of
from ...reports.certificate import Certificate, CertificateError, read_certificate
from ...reports.certificate_replay import Sample, compare, describe_differences, draw_sample, full_sample
from ...reports.certificate_validity import contradictory_claims, forgeries, version_differences
from ...reports.certificate_words import command_of, count_judged
from ...vectors.folder import VectorsError
from ..files import usage_errors
from ..implementation_options import FAKETIME, DrivenImplementation, add_driving_options, driven_or_ended
from ..options import combine, console, program, which_seed
from ..paths import INPUT_FILE
from ..progress import progress_bar
from .signing import NotAcceptedError, SignatureError, read_signature, signer_of

_EPILOG = """
\b
Examples:
  sds-conformance certificate verify certificate.json
  sds-conformance certificate verify certificate.json -- ./my-adapter
  sds-conformance certificate verify certificate.json --all -- ./my-adapter
  sds-conformance certificate verify certificate.json --trust-command
  sds-conformance certificate verify certificate.json \\
      --allowed-signers signers --signer ann@example.org -- ./my-adapter

\b
Exit codes:
  0  all replayed verdicts agree     3    implementation not tested
  1  a replayed verdict differs      4    nothing compared
  2  forged or unreadable            130  interrupted
     certificate, or usage error
"""
_SAMPLE = 24
"""Default number of scenarios in a sample. It is larger than the number of sections, so that every section has a
scenario.
"""
_MOST_SHOWN = 20
"""Maximum number of differences that are printed."""


def _add_certificate_argument(function: Callable[..., None]) -> Callable[..., None]:
    """Add FILE (a certificate), --trust-command and the driving options to a command. The implementation is driven with
    the options in the certificate; typed options take precedence.
    """
    inner = add_driving_options(function, alone=False)

    @wraps(inner)
    def wrapper(file: Path, trust: bool, command: tuple[str, ...], **rest: Any) -> None:
        with usage_errors(CertificateError):
            certificate = read_certificate(file)
        about = certificate.data["implementation"]
        if trust and command:
            raise click.UsageError("--trust-command starts the command in the certificate: omit it or -- COMMAND")
        if trust and not about["command"]:
            raise click.UsageError("there is no command in the certificate: add --grpc ADDRESS, or -- COMMAND")
        if trust:
            command = tuple(about["command"])
            if (shown := command_of(certificate.data)) != shlex.join(command):
                raise click.UsageError(
                    "the command in the certificate contains unprintable characters: type it after --"
                )
            console(stderr=True).print(f"Driving the command of the certificate: {shown}", soft_wrap=True)
        if command and not rest["grpc"] and certificate.data["carrier"] == "grpc":
            raise click.UsageError(
                "the certified implementation was driven over gRPC: add --grpc ADDRESS, or --grpc auto -- COMMAND "
                "to start it"
            )
        typed = click.get_current_context().get_parameter_source
        certified = _as_certified(certificate.data)
        rest |= {name: value for name, value in certified.items() if typed(name) is ParameterSource.DEFAULT}
        inner(certificate=certificate, file=file, command=command, revision=certificate.data["revision"], **rest)

    return combine(
        click.argument("file", type=INPUT_FILE),
        click.option("--trust-command", "trust", is_flag=True, help="Start the command in the certificate."),
    )(wrapper)


def _as_certified(data: dict[str, Any]) -> dict[str, Any]:
    """Return the options with which the certified implementation was driven. Paths in the certificate are not used,
    because it is untrusted.
    """
    dialect = data["profiles"]["dialect"]
    return {
        "framing": data["carrier"] if data["carrier"] != "grpc" else "json",
        "clock": FAKETIME if data["implementation"]["clock"] else "declared",
        "dialect": dialect if dialect in ("", *protocol_of(data["revision"]).rules.dialects) else None,
    }


@click.command("verify", epilog=_EPILOG)
@click.option("--all", "all_of_it", is_flag=True, help="Replay all scenarios in all environments, instead of a sample.")
@click.option(
    "--sample",
    "size",
    type=click.IntRange(1, 10_000),
    default=_SAMPLE,
    show_default=True,
    metavar="N",
    help="Number of scenarios to replay: some of every section, and some in a second environment.",
)
@which_seed("Seed of the sample.", default="random")
@click.option(
    "--allowed-signers",
    type=INPUT_FILE,
    metavar="FILE",
    help="Require a signature by a key in FILE, which has a name and a public key in each line.",
)
@click.option("--signer", default="", metavar="NAME", help="Require the signature of NAME, a name in FILE.")
@_add_certificate_argument
def verify(
    driven: DrivenImplementation,
    certificate: Certificate,
    file: Path,
    revision: str,
    all_of_it: bool,
    size: int,
    seed: int,
    allowed_signers: Path | None,
    signer: str,
) -> None:
    """Check a certificate, and replay a sample of its scenarios.

    The digest, the signature, the counts and the level are checked first. With COMMAND, scenarios are then played and
    their verdicts compared with the certificate. A command in FILE is started only with --trust-command.
    """
    if (allowed_signers is None) != (not signer):
        raise click.UsageError("--allowed-signers FILE and --signer NAME belong together: add the missing option")
    out, err = console(), console(stderr=True)
    print_labelled(out, "On", Text(f"{certificate.name}, {revision}, level {printable(certificate.level, 80)}", "bold"))
    _check(out, certificate, file, allowed_signers, signer)
    if not driven.command and driven.endpoint is None:
        _end(
            out,
            "Not rerun",
            "the command in the certificate is started only on request:",
            Exit.NOTHING_EXERCISED,
            _command_to_repeat(certificate, file),
        )
    sample = full_sample(certificate.data) if all_of_it else draw_sample(certificate.data, seed, size)
    if not sample.plan.scenarios:
        _end(
            out,
            "Not rerun",
            "the certificate has no verdicts, so no sample can be drawn: type --all",
            Exit.NOTHING_EXERCISED,
        )
    where = ", ".join(environment.name for environment in sample.plan.environments)
    how = "all of it" if all_of_it else f"seed {seed}: {format_count(len(sample.plan.scenarios), 'scenario')}"
    print_labelled(out, "Rerun", f"{how}, in {where}")
    _judge(out, certificate, sample, _play_sample(err, driven, certificate, sample, out))


def _check(out: Console, certificate: Certificate, file: Path, allowed: Path | None, signer: str) -> None:
    """Make all checks that need no implementation. Ends the command if the certificate is invalid or was written by
    another version of the suite, or if its signature is not accepted.
    """
    data = certificate.data
    _refuse(out, forgeries(data))
    print_labelled(out, "Digest", "matches its contents")
    try:
        signature = read_signature(file)
        if signature is None and allowed is not None:
            raise NotAcceptedError(f"the certificate is not signed: there is no {file.name}.sig next to it")
        text = signer_of(certificate.raw, signature, allowed, signer) if signature is not None else "there is none"
    except NotAcceptedError as error:
        _end(out, "Not accepted", str(error), Exit.USAGE)
    except SignatureError as error:
        _refuse(out, [str(error)])
    else:
        aside = (
            ": --allowed-signers would name the owner of the key" if signature is not None and allowed is None else ""
        )
        print_labelled(out, "Signature", text + aside)
    with usage_errors(VectorsError):
        other = list(version_differences(data))
    if other:
        text = f"{'; '.join(other)}. Verify the certificate with that version of the suite"
        _end(out, "Not rerun", text, Exit.NOTHING_EXERCISED)
    _refuse(out, contradictory_claims(data))
    what = format_count(len(data["requirements"]), "requirement")
    print_labelled(
        out, "Level", f"follows from the verdicts on its {what}, and so do the counts; {count_judged(data)} are judged"
    )
    print_labelled(out, "Suite", f"{data['suite']['version']}, with the catalogue and the vectors of this installation")


def _refuse(out: Console, wrong: Iterable[str]) -> None:
    """If the certificate has errors, print them and end the command."""
    if found := list(wrong):
        for sentence in found[:_MOST_SHOWN]:
            print_labelled(out, "Wrong", printable(sentence, 400))
        _end(out, "Forged", "the certificate was changed, or contradicts itself", Exit.USAGE)


def _play_sample(
    err: Console, driven: DrivenImplementation, certificate: Certificate, sample: Sample, out: Console
) -> Certification:
    """Play the sample. Ends the command if the implementation cannot be tested, or is another than the certified
    implementation.
    """
    data, rules = certificate.data, sample.plan.rules
    with driven_or_ended(err, driven):
        runner = Runner(driven.connect, driven.limits, rules, data["revision"], driven.dialect)
        try:
            other = list(describe_differences(data, runner.start()))
        finally:
            runner.kill()
        if other:
            _differ(out, other, "this is not the certified implementation")
        with progress_bar(err, chars=34) as bar:
            return certify(
                driven.connect,
                sample.plan,
                driven.limits,
                dialect=driven.dialect,
                strict=data["strict"],
                running=driven.is_running_server,
                progress=bar,
                keep=Keep(plain=False),
            )


def _judge(out: Console, certificate: Certificate, sample: Sample, outcome: Certification) -> None:
    """Print the compared results and the differences, and end the command."""
    # An interrupted replay has no verdicts on the runs that it did not play, so it is compared like a sample.
    found = compare(
        certificate.data, replace(sample, everything=sample.everything and not outcome.interrupted), outcome
    )
    rows = {row["id"]: row for row in certificate.data["requirements"]}
    missed = {row["section"] for row in rows.values()} - {rows[one]["section"] for one in found.compared}
    but = f", none of them in {', '.join(sorted(missed))}" if missed else ", in all sections"
    runs = f"{format_count(outcome.runs, 'run')}, {format_count(outcome.steps, 'step')}"
    print_labelled(out, "Compared", f"{len(found.compared)} of {format_count(len(rows), 'requirement')}{but} ({runs})")
    if "limits" in certificate.data:
        print_labelled(out, "Limits", f"not measured again: type `{program()} limits` to measure the limits")
    for name, why in outcome.left_out.items():
        print_labelled(out, "Left out", Text(f"{name}: {why}", "yellow"))
    how_many = format_count(len(found.differences), "verdict differs", "verdicts differ")
    differing = f"{how_many} from the certificate"
    if outcome.interrupted:
        _print_differences(out, found.differences)
        text = f"compared {len(found.compared)} of {format_count(count_judged(certificate.data), 'judged verdict')}"
        result = differing if found.differences else "they agree with the certificate"
        _end(out, "Interrupted", f"{text} before the interrupt; {result}", Exit.INTERRUPTED)
    if found.differences:
        _differ(out, found.differences, differing)
    if not found.compared:
        _end(out, "Not shown", "the runs exercised no certified requirement", Exit.NOTHING_EXERCISED)
    head = "Holds" if sample.everything else "Holds for the sample"
    total = len(rows) if sample.everything else count_judged(certificate.data)
    what = "verdict" if sample.everything else "judged verdict"
    were = "was" if total == 1 else "were"
    _end(out, head, f"{len(found.compared)} of {format_count(total, what)} {were} reproduced", Exit.CONFORMANT)


def _differ(out: Console, differences: Iterable[str], summary: str) -> None:
    _print_differences(out, differences)
    _end(out, "Does not hold", summary, Exit.NON_CONFORMANT)


def _print_differences(out: Console, differences: Iterable[str]) -> None:
    sentences = list(differences)
    for sentence in sentences[:_MOST_SHOWN]:
        print_labelled(out, "Differs", sentence)
    if len(sentences) > _MOST_SHOWN:
        print_labelled(out, "", f"and {format_count(len(sentences) - _MOST_SHOWN, 'more difference')}")


def _end(out: Console, head: str, text: str, code: Exit, *lines: str) -> None:
    """Print the verdict on the certificate, then ``lines`` (a command that the user can type next), and exit with
    ``code``.
    """
    style = "bold green" if code is Exit.CONFORMANT else "yellow" if code is Exit.NOTHING_EXERCISED else "bold red"
    out.print(Text.assemble((f"{head}: ", style), text, "" if text.endswith(":") else "."))
    for line in lines:
        out.print(Text(f"  {line}", "blue"), soft_wrap=True)
    sys.exit(code)


def _command_to_repeat(certificate: Certificate, file: Path) -> str:
    grpc = "--grpc ADDRESS " if certificate.data["carrier"] == "grpc" else ""
    command = command_of(certificate.data)
    after = f"-- {command}" if command else ""
    return f"{program()} certificate verify {grpc}{shlex.quote(str(file))} {after}".rstrip()
