"""Signatures: three profiles, every byte counts, and only keys of the right kind."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as elliptic
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import RO, private
from clearskies_reference import PROFILES, ConfigurationError, private_key, public_key, signature_profile
from clearskies_reference.signing import RSA_PKCS1_SHA256

BODY = b'{"type":"database.update","key":"k"}'


def pem_of(key: object) -> tuple[str, str]:
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())  # type: ignore[attr-defined]
    public_pem = key.public_key().public_bytes(  # type: ignore[attr-defined]
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    return private_pem.decode(), public_pem.decode()


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_verifies_what_it_signs_and_nothing_else(name: str) -> None:
    profile, key = signature_profile(name), private()
    signature = profile.sign(BODY, key)
    assert len(signature) == 256
    assert profile.verify(BODY, signature, key.public_key())
    assert not profile.verify(BODY, signature, private(RO).public_key())
    for other in PROFILES.values():
        assert other.verify(BODY, signature, key.public_key()) == (other is profile)


SIGNATURE = RSA_PKCS1_SHA256.sign(BODY, private())


@settings(deadline=None)
@given(st.integers(0, len(BODY) - 1), st.integers(1, 255))
def test_every_byte_of_a_body_counts(place: int, bits: int) -> None:
    flipped = bytearray(BODY)
    flipped[place] ^= bits
    assert not RSA_PKCS1_SHA256.verify(bytes(flipped), SIGNATURE, private().public_key())


@settings(deadline=None)
@given(st.integers(0, 255), st.integers(1, 255))
def test_every_byte_of_a_signature_counts(place: int, bits: int) -> None:
    flipped = bytearray(SIGNATURE)
    flipped[place] ^= bits
    assert not RSA_PKCS1_SHA256.verify(BODY, bytes(flipped), private().public_key())


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_nonsense_is_no_signature(signature: bytes) -> None:
    assert not RSA_PKCS1_SHA256.verify(BODY, signature, private().public_key())


def test_keys_are_read_from_pem() -> None:
    private_pem, public_pem = pem_of(private())
    signature = RSA_PKCS1_SHA256.sign(BODY, private_key(private_pem))
    assert RSA_PKCS1_SHA256.verify(BODY, signature, public_key(public_pem))


def test_other_keys_are_refused() -> None:
    for key in (generate_private_key(65537, 1024), elliptic(SECP256R1())):
        private_pem, public_pem = pem_of(key)
        with pytest.raises(ConfigurationError, match="2048"):
            private_key(private_pem)
        with pytest.raises(ConfigurationError, match="2048"):
            public_key(public_pem)
    for nonsense in ("", "-----BEGIN PRIVATE KEY-----\n", pem_of(private())[1]):
        with pytest.raises(ConfigurationError, match="PEM"):
            private_key(nonsense)
    with pytest.raises(ConfigurationError, match="PEM"):
        public_key("x")
    with pytest.raises(ConfigurationError, match="known are"):
        signature_profile("dsa")
