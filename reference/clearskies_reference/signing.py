"""Section "Access Levels": signatures, which show only the access level of the peer that signed.

Each level has one pair of RSA keys of 2048 bits. The specification names no padding and no hash: a profile is a choice
of both. Signatures cover the bytes of a body exactly as they are sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, AsymmetricPadding, PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, HashAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from .errors import ConfigurationError

KEY_BITS = 2048


@dataclass(frozen=True, slots=True, eq=False)
class SignatureProfile:
    """How bodies are signed. There is one instance of each profile."""

    name: str
    padding: AsymmetricPadding
    hashing: HashAlgorithm
    accepted: AsymmetricPadding | None = None
    """The padding of signatures to verify, if it is another: a salt of PSS may have any length."""

    def sign(self, body: bytes, key: RSAPrivateKey) -> bytes:
        """The signature of a body. A PSS signature contains random bytes, which the library draws."""
        return key.sign(body, self.padding, self.hashing)

    def verify(self, body: bytes, signature: bytes, key: RSAPublicKey) -> bool:
        """Return whether the owner of the private key made the signature."""
        try:
            key.verify(signature, body, self.accepted or self.padding, self.hashing)
        except InvalidSignature:
            return False
        return True


PROFILES = {
    profile.name: profile
    for profile in (
        SignatureProfile("rsa-pkcs1-sha256", PKCS1v15(), SHA256()),
        SignatureProfile("rsa-pkcs1-sha1", PKCS1v15(), SHA1()),
        SignatureProfile(
            "rsa-pss-sha256", PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH), SHA256(), PSS(MGF1(SHA256()), PSS.AUTO)
        ),
    )
}
PSS_WITH_LONG_SALT = replace(PROFILES["rsa-pss-sha256"], padding=PSS(MGF1(SHA256()), PSS.MAX_LENGTH))
"""PSS with the longest possible salt, the default of OpenSSL."""
RSA_PKCS1_SHA256 = PROFILES["rsa-pkcs1-sha256"]


def signature_profile(name: str) -> SignatureProfile:
    """The profile called ``name``. Raises ConfigurationError."""
    if name not in PROFILES:
        raise ConfigurationError(f"no signature profile {name!r}: known are {', '.join(PROFILES)}")
    return PROFILES[name]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that a peer needs for the database. A read-only peer needs only the public key of read-write peers."""

    read_write_public: RSAPublicKey | None = None
    read_write_private: RSAPrivateKey | None = None


# Cached: a club has one key of each kind, and validating a private key takes a tenth of a second.
@lru_cache(maxsize=8)
def private_key(pem: str) -> RSAPrivateKey:
    """The private key in PEM, PKCS#8. Raises ConfigurationError."""
    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigurationError("the text is not a private key in PEM") from None
    if not isinstance(key, RSAPrivateKey) or key.key_size != KEY_BITS:
        raise ConfigurationError(f"the private key is not an RSA key of {KEY_BITS} bits")
    return key


@lru_cache(maxsize=8)
def public_key(pem: str) -> RSAPublicKey:
    """The public key in PEM, SubjectPublicKeyInfo. Raises ConfigurationError."""
    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigurationError("the text is not a public key in PEM") from None
    if not isinstance(key, RSAPublicKey) or key.key_size != KEY_BITS:
        raise ConfigurationError(f"the public key is not an RSA key of {KEY_BITS} bits")
    return key
