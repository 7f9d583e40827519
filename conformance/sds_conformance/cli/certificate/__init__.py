"""``sds-conformance certificate``: write and show certificates; the module ``verify`` checks them."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from sds_harness.declaration import printable
from sds_harness.files import is_regular, write_whole

from ...presentation.story import print_labelled
from ...reports.certificate import NAME, Certificate, CertificateError, certificate, read_certificate
from ...reports.certificate_page import page
from ...reports.certificate_validity import hold_to_its_rows, version_differences
from ...reports.files import read_report
from ...reports.levels import unjudged_note
from ...reports.limits import with_limits
from ...vectors.folder import VectorsError
from ..command_groups import HelpGroup
from ..files import usage_errors, write_errors, write_file
from ..options import console, program
from ..paths import INPUT, INPUT_FILE, OUTPUT_FILE
from .signing import SignatureError, make_signature, signature_of
from .text import show
from .verify import verify

_EPILOG = """
\b
Examples:
  sds-conformance certificate write out --html certificate.html
  sds-conformance certificate show certificate.json
  sds-conformance certificate verify certificate.json -- ./my-adapter
"""
_WRITE = """
\b
Examples:
  sds-conformance run --report out -- ./my-adapter
  sds-conformance certificate write out
  sds-conformance certificate write out --html certificate.html
  sds-conformance certificate write out --sign-key ~/.ssh/id_ed25519
  sds-conformance vectors run --json -- ./my-adapter > vectors.json
  sds-conformance fuzz --json -- ./my-adapter > fuzz.json
  sds-conformance exhaust --json -- ./my-adapter > exhaust.json
  sds-conformance limits --report out -- ./my-adapter
  sds-conformance certificate write out --vectors vectors.json \\
      --fuzz fuzz.json --exhaust exhaust.json
"""
_SHOW = """
\b
Examples:
  sds-conformance certificate show certificate.json
  sds-conformance certificate show certificate.json --html certificate.html
"""
_HTML = click.option(
    "--html", "page_file", type=OUTPUT_FILE, metavar="FILE", help="Also write the certificate to FILE, as HTML."
)


@click.group("certificate", cls=HelpGroup, epilog=_EPILOG)
def certificate_command() -> None:
    """Write, show or verify a certificate.

    A certificate records the implementation, the suite, all verdicts and the level. The levels of SDS are Core and
    Core + SDS-R, with the addition "strict" if there is no warning. The certificate of an implementation that does
    not conform has no level.
    """


@certificate_command.command("write", epilog=_WRITE)
@click.argument("report", type=INPUT)
@click.option(
    "--out", type=OUTPUT_FILE, default=Path(NAME), show_default=True, metavar="FILE", help="File of the certificate."
)
@_HTML
@click.option("--vectors", type=INPUT_FILE, metavar="FILE", help="Add the output of `vectors run --json`.")
@click.option("--fuzz", type=INPUT_FILE, metavar="FILE", help="Add the output of `fuzz --json`.")
@click.option("--exhaust", type=INPUT_FILE, metavar="FILE", help="Add the output of `exhaust --json`.")
@click.option(
    "--sign-key",
    type=INPUT_FILE,
    metavar="KEY",
    help="Sign the certificate with this SSH key, by ssh-keygen. The signature is FILE.sig.",
)
def write(
    report: Path,
    out: Path,
    page_file: Path | None,
    vectors: Path | None,
    fuzz: Path | None,
    exhaust: Path | None,
    sign_key: Path | None,
) -> None:
    """Write a certificate of a report.

    REPORT is the folder of `run --report`. Limits that `limits --report` added are part of the certificate. The exit
    code does not depend on the level.
    """
    with write_errors(f"cannot write {out}", "Name another FILE."):
        signable = is_regular(out)
    if sign_key is not None and not signable:
        raise click.UsageError(
            f"a signature is written next to its certificate, but {out} is not a regular file: name another FILE"
        )
    with usage_errors(CertificateError, SignatureError):
        made = certificate(with_limits(read_report(report)), vectors, fuzz, exhaust)
        signature = make_signature(made.raw, sign_key) if sign_key is not None else None
    write_file(out, made.raw.decode("ascii"))
    if signable:
        _write_signature(signature_of(out), signature)
    _write_page(page_file, made)
    screen = console()
    show_level(screen, made)
    screen.print(Text.assemble("Certificate: ", (str(out), "blue")), soft_wrap=True)
    screen.print("Others verify the certificate, and replay a sample of its scenarios, with")
    grpc = "--grpc auto " if made.data["carrier"] == "grpc" else ""
    screen.print(f"  {program()} certificate verify {grpc}{shlex.quote(str(out))} -- COMMAND", soft_wrap=True)


@certificate_command.command("show", epilog=_SHOW)
@click.argument("file", type=INPUT_FILE)
@_HTML
def show_certificate(file: Path, page_file: Path | None) -> None:
    """Print a certificate.

    The level and the counts are computed again from the verdicts; a certificate that contradicts itself is refused.
    `certificate verify` also replays a sample of the scenarios.
    """
    with usage_errors(CertificateError, VectorsError):
        read = read_certificate(file)
        hold_to_its_rows(read, str(file))
        other = list(version_differences(read.data))
    _write_page(page_file, read)
    out = console()
    show(out, read)
    if other:
        again = "computed the level of conformance again, from the certified verdicts"
        text = f"{'; '.join(other)}. This version of the suite {again}"
        print_labelled(out, "Warning", Text(printable(text, 600), "yellow"))


def show_level(out: Console, made: Certificate) -> None:
    """Print one line with the implementation and its level."""
    aside = f" ({unjudged_note(made.current_level)})" if unjudged_note(made.current_level) else ""
    out.print(Text.assemble(f"{made.name}, {made.data['revision']}: ", (f"level {made.level}", "bold"), aside))


def _write_page(file: Path | None, made: Certificate) -> None:
    if file is not None:
        write_file(file, page(made))


def _write_signature(file: Path, text: str | None) -> None:
    """Write the signature of a certificate to ``file``. If ``text`` is None, remove the file: the signature of an
    earlier certificate would make this certificate look forged.
    """
    with write_errors(f"cannot write {file}", "Name another FILE."):
        if text is not None:
            write_whole(file, text)
        else:
            file.unlink(missing_ok=True)


certificate_command.add_command(verify)
