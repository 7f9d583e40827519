"""Signatures of certificates, with ordinary SSH keys: ``ssh-keygen -Y`` signs and verifies."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from sds_harness.declaration import printable
from sds_harness.files import FileError, read_bytes

PROGRAM = "ssh-keygen"
NAMESPACE = "sds-conformance"
"""Namespace that ssh-keygen writes into each signature. Signatures with another namespace are rejected."""
LARGEST = 64 << 10
"""Maximum size of a signature in bytes."""
_PATIENCE_S = 120
"""Seconds that ssh-keygen may take: the user may have to type a passphrase or to touch a token."""


class SignatureError(Exception):
    """The signature is wrong or cannot be made. The message has the reason and advice."""


class NotAcceptedError(SignatureError):
    """The signature is not accepted, but nothing shows that the certificate was changed: another person signed it, or
    the signature cannot be examined.
    """


def signature_of(certificate: Path) -> Path:
    """Return the path of the signature of a certificate."""
    return certificate.with_name(f"{certificate.name}.sig")


def make_signature(content: bytes, key: Path) -> str:
    """Sign the content, and return the signature. ``key`` is a private key, or a public key whose private key is in the
    SSH agent.
    """
    if not key.is_file():
        raise SignatureError(f"there is no key {key}: `{PROGRAM} -t ed25519 -f {key}` makes one")
    signature = _run_ssh_keygen(["sign", "-f", str(key.absolute())], content, f"{key} signs nothing")
    if not signature.startswith("-----BEGIN SSH SIGNATURE-----"):
        raise SignatureError(f"{key} cannot sign: {PROGRAM} wrote no signature")
    return signature


def read_signature(certificate: Path) -> bytes | None:
    """Read the signature of a certificate; None if it has none."""
    path = signature_of(certificate)
    if not os.path.lexists(path):
        return None
    try:
        return read_bytes(path, LARGEST)
    except FileError as error:
        raise SignatureError(f"the signature {path} {error}") from None


def signer_of(content: bytes, signature: bytes, allowed: Path | None, signer: str) -> str:
    """Return the sentence of ssh-keygen that names the signer of the content: by name if ``allowed`` is given,
    otherwise only by the key. Raises SignatureError.
    """
    with tempfile.TemporaryDirectory(prefix="sds-conformance-") as folder:
        file = Path(folder, "signature")
        file.write_bytes(signature)  # Use a private temporary folder, in which no other user can place a symbolic link.
        output = _run_ssh_keygen(
            ["check-novalidate", "-s", str(file)], content, "the signature does not belong to this certificate"
        )
        if allowed is not None:
            if not allowed.is_file():
                raise NotAcceptedError(
                    f"there is no file {allowed}: each of its lines has a name, a blank and a public key"
                )
            who = ["verify", "-s", str(file), "-f", str(allowed.absolute()), "-I", signer]
            wrong = f"according to {allowed}, {printable(signer, 80)} did not sign this certificate"
            output = _run_ssh_keygen(who, content, wrong, NotAcceptedError)
    return printable(output.strip(), 300)


def _run_ssh_keygen(
    arguments: list[str], content: bytes, failure: str, error: type[SignatureError] = SignatureError
) -> str:
    """Run ssh-keygen on a content and return its output. Raises ``error`` with ``failure`` if ssh-keygen fails."""
    command = [PROGRAM, "-Y", arguments[0], "-n", NAMESPACE, *arguments[1:]]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=_PATIENCE_S, check=False)
    except FileNotFoundError:
        raise NotAcceptedError(f"signatures need {PROGRAM}: install OpenSSH, on Debian `openssh-client`") from None
    except OSError as reason:
        raise NotAcceptedError(f"{PROGRAM} cannot be started: {reason.strerror}") from None
    except subprocess.TimeoutExpired:
        raise NotAcceptedError(f"{failure}: {PROGRAM} did not end within {_PATIENCE_S} s") from None
    if done.returncode:
        lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise error(f"{failure}: {printable(lines[0] if lines else 'no reason given', 200)}")
    return done.stdout.decode("utf-8", "replace")
