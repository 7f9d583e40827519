"""Deterministic RSA-PSS signatures: scripted peers must sign the same way whenever a schedule is played again.

A verifier cannot notice this, because the salt is a valid one. The library draws a random salt and accepts none from
outside, so this module builds the signature itself. The keys are test keys and not secret.
"""

from __future__ import annotations

from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_DIGEST_BYTES = 32


def signature(body: bytes, key: RSAPrivateKey) -> bytes:
    """The signature of a body with SHA-256, MGF1 with SHA-256, and a salt of 32 bytes (RFC 8017, 8.1.1)."""
    size = key.key_size // 8
    numbers = key.private_numbers()
    encoded = int.from_bytes(_encode(sha256(body).digest(), size))
    # Use both primes (CRT), which takes a third of the time (RFC 8017, 5.1.2).
    by_p, by_q = (pow(encoded, e, prime) for e, prime in ((numbers.dmp1, numbers.p), (numbers.dmq1, numbers.q)))
    signed = by_q + (by_p - by_q) * numbers.iqmp % numbers.p * numbers.q
    return signed.to_bytes(size)


def _encode(digest: bytes, size: int) -> bytes:
    """EMSA-PSS of a digest in ``size`` bytes, for a key whose bits fill them (RFC 8017, 9.1.1)."""
    salt = sha256(b"salt" + digest).digest()
    hashed = sha256(bytes(8) + digest + salt).digest()
    block = (b"\x01" + salt).rjust(size - _DIGEST_BYTES - 1, b"\x00")
    masked = bytearray(a ^ b for a, b in zip(block, _mask(hashed, len(block)), strict=True))
    masked[0] &= 0x7F
    return bytes(masked) + hashed + b"\xbc"


def _mask(seed: bytes, size: int) -> bytes:
    """MGF1 (RFC 8017, B.2.1)."""
    counters = range(-(-size // _DIGEST_BYTES))
    return b"".join(sha256(seed + counter.to_bytes(4)).digest() for counter in counters)[:size]
