"""A club: the keys of its two access levels and the IDs of its peers, which are the same in every run.

The keys are test keys. They ship with the suite and protect nothing (core protocol, "Access Levels").
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from cryptography.hazmat.primitives.asymmetric.padding import PSS

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import (
    AccessLevel,
    ConfigurationError,
    MalformedMessageError,
    Message,
    SignatureProfile,
    private_key,
    public_key,
    signature_profile,
)
from clearskies_reference.signing import RSA_PKCS1_SHA256

from . import pss

READ_WRITE, READ_ONLY = AccessLevel.READ_WRITE, AccessLevel.READ_ONLY
LEVEL_TO_PB: dict[AccessLevel, pb.AccessLevel] = {
    READ_WRITE: pb.ACCESS_LEVEL_READ_WRITE,
    READ_ONLY: pb.ACCESS_LEVEL_READ_ONLY,
}
LEVEL_FROM_PB: dict[int, AccessLevel] = {number: level for level, number in LEVEL_TO_PB.items()}

_BEGIN = "-----BEGIN"


@cache
def private_pem(level: AccessLevel) -> str:
    """The private test key of an access level, in PEM (PKCS#8)."""
    name = f"test-key-{level.value.replace('_', '-')}.pem"
    text = files(__package__).joinpath("keys", name).read_text("ascii")
    return text[text.index(_BEGIN) :]


@cache
def public_pem(level: AccessLevel) -> str:
    """The public test key of an access level, in PEM (SubjectPublicKeyInfo)."""
    name = f"test-key-{level.value.replace('_', '-')}.pub.pem"
    text = files(__package__).joinpath("keys", name).read_text("ascii")
    return text[text.index(_BEGIN) :]


def keys_of(level: AccessLevel) -> pb.Keys:
    """The keys that a peer with this access level has. A read-only peer has no private key of the writers."""
    return pb.Keys(
        read_write_private=private_pem(READ_WRITE) if level is READ_WRITE else "",
        read_only_private=private_pem(READ_ONLY),
        read_write_public=public_pem(READ_WRITE),
        read_only_public=public_pem(READ_ONLY),
    )


def profile_called(name: str) -> SignatureProfile | None:
    """The signature profile with the name that an implementation declares ("" for the default); None if it is
    unknown."""
    try:
        return signature_profile(name) if name else RSA_PKCS1_SHA256
    except ConfigurationError:
        return None


def sign(body: bytes, level: AccessLevel, profile: SignatureProfile) -> bytes:
    """Return the signature of ``body`` by the private key of an access level. It is the same in every run."""
    key = _private(level)
    return pss.signature(body, key) if isinstance(profile.padding, PSS) else profile.sign(body, key)


def signer(message: Message, profile: SignatureProfile) -> AccessLevel | None:
    """The access level whose key made the signature of a message; None without a signature, or if no key of the club
    verifies it."""
    try:
        signature = message.signature_bytes()
    except MalformedMessageError:
        return None
    return next((level for level in AccessLevel if profile.verify(message.body, signature, _public(level))), None)


_private = cache(lambda level: private_key(private_pem(level)))
_public = cache(lambda level: public_key(public_pem(level)))


def peer_id(name: str) -> str:
    """The ID of a peer: 32 lower-case hex digits, the same in every run."""
    return sha256(f"peer {name}".encode()).hexdigest()[:32]


def record_id(name: str) -> str:
    """A uuid for a record of a scripted peer, the same in every run."""
    return sha256(f"record {name}".encode()).hexdigest()[:32]


class Club:
    """The members of the club: names by ID, for reports."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def join(self, name: str) -> str:
        """Add a member. Returns its ID."""
        member = peer_id(name)
        self._names[member] = name
        return member

    def name_of(self, member: str) -> str:
        """The name of a member; the ID itself if it is unknown."""
        return self._names.get(member, member)
