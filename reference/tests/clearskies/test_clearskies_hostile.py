"""Hostile input is refused without a change, and broken framing closes the link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from hypothesis import given, settings
from hypothesis import strategies as st

from clearskies_club import (
    NOW,
    RO,
    RW,
    A,
    B,
    C,
    D,
    body,
    by_read_write,
    get_updates,
    peer,
    plain,
    private,
    update,
    values,
)
from clearskies_reference import (
    AccessLevel,
    ConfigurationError,
    Effects,
    Message,
    Peer,
    RefusedWriteError,
    UnknownLinkError,
)
from clearskies_reference.vector_clock import MAX_INTEGER


def linked(level: AccessLevel = RW, other: AccessLevel = RW, **more: Any) -> Peer:
    """A with a link to B of another level, and one to D, which has asked for updates."""
    one = peer(A, level, **more)
    one.connect(1, B, other, NOW)
    one.connect(2, D, RO, NOW)
    one.receive(2, get_updates(), NOW)
    return one


def state(one: Peer) -> object:
    return one.records(), one.known(), one.store.revision, list(one.store)


def assert_refused(one: Peer, data: bytes) -> Effects:
    before = state(one)
    effects = one.receive(1, data, NOW)
    assert len(effects.refused) == 1
    assert (effects.sent, effects.events, effects.taken) == ([], [], 0)
    assert state(one) == before
    assert 1 in one.links
    return effects


FORGED = {
    "without a signature": plain(update()),
    "signed by a read-only peer": by_read_write(update(), private(RO)),
    "signed by a stranger": by_read_write(update(), generate_private_key(65537, 2048)),
    "with the signature of another message": by_read_write(update()).replace(b'"n": 1', b'"n": 2'),
    "with a signature that is not base64": Message(b'{"type":"database.update"}', b"%%%%").to_wire(),
    "with an empty signature": Message(body(update()), b"").to_wire(),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize(("level", "other"), [(RO, RW), (RO, RO), (RW, RO)])
def test_what_no_read_write_peer_has_signed_is_refused(name: str, level: AccessLevel, other: AccessLevel) -> None:
    one = linked(level, other)
    assert_refused(one, FORGED[name])
    assert one.receive(1, by_read_write(update(last_updated_by=C, vector_clock={C: 1})), NOW).taken == 1
    assert values(one) == {"k": '{"n":1}'}


@settings(deadline=None)
@given(st.data())
def test_no_byte_of_a_signed_update_can_be_flipped(data: st.DataObject) -> None:
    wire = bytearray(by_read_write(update()))
    # The last letter of base64 can be different for the same bytes.
    place = data.draw(st.integers(wire.index(b"{"), len(wire) - 6))
    wire[place] ^= data.draw(st.integers(1, 255))
    one = linked(RO)
    before = state(one)
    one.receive(1, bytes(wire), NOW)
    assert state(one) == before


DEEP = body(update(value=0)).replace(b'"value": 0', b'"value": ' + b"[" * 200 + b"]" * 200)
BAD = {
    "no JSON": b"m3{a}",
    "a name twice": Message(b'{"type":"core.ping","type":"core.ping"}').to_wire(),
    "no type": b"m2{}",
    "a type of no string": plain({"type": ["database.update"]}),
    "revision 0": plain(update(last_updated_rev=0)),
    "revision -1": plain(update(last_updated_rev=-1)),
    "revision 2^64": plain(update(last_updated_rev=1 << 64)),
    "a clock of ten thousand": plain(update(vector_clock={f"{number:032x}": 1 for number in range(10_000)})),
    "a deep value": Message(DEEP).to_wire(),
    "a time of no time": plain(update(update_time="yesterday")),
    "since of no object": plain({"type": "database.get_updates", "since": 1}),
}


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    assert_refused(linked(), BAD[name])


@settings(deadline=None)
@given(st.binary(max_size=60), st.booleans())
def test_nonsense_never_goes_through(data: bytes, framed: bool) -> None:
    one = linked()
    before = state(one)
    one.receive(1, b"m%d{%s}" % (len(data) + 2, data) if framed else data, NOW)
    assert state(one) == before


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(list(update())), st.none() | st.integers() | st.text(max_size=3) | st.lists(st.none())
    )
)
def test_an_update_of_any_types_is_taken_or_refused(fields: dict[str, object]) -> None:
    one = linked()
    before = state(one)
    effects = one.receive(1, plain(update(**fields)), NOW)
    assert effects.taken + len(effects.refused) == 1
    assert effects.taken or state(one) == before


WRITES: dict[str, Callable[[Peer], object]] = {
    "put": lambda one: one.put("k", "2", NOW),
    "rename": lambda one: one.rename("k", "l", NOW),
    "delete": lambda one: one.delete("k", NOW),
}


@pytest.mark.parametrize(
    ("level", "fields", "sentence", "refused"),
    [
        (RO, {}, "cannot change", [*WRITES]),
        (RW, {"vector_clock": {A: MAX_INTEGER, B: 1}}, "full", [*WRITES]),
        (RW, {"last_updated_by": A, "last_updated_rev": MAX_INTEGER, "vector_clock": {A: 1}}, "maximum", [*WRITES]),
        (RW, {"key": "another"}, "no record has the key", ["rename", "delete"]),
    ],
)
def test_a_write_that_cannot_be_is_refused_with_the_reason_and_changes_nothing(
    level: AccessLevel, fields: dict[str, Any], sentence: str, refused: list[str]
) -> None:
    one = linked(level)
    one.receive(1, by_read_write(update(**fields)), NOW)
    before = state(one)
    for write in refused:
        with pytest.raises(RefusedWriteError, match=sentence):
            WRITES[write](one)
    assert state(one) == before


def test_links_have_numbers_of_their_own_and_other_ends() -> None:
    one = linked()
    for number, peer_id in ((1, C), (3, A), (3, "x")):
        with pytest.raises(ConfigurationError):
            one.connect(number, peer_id, RW, NOW)
    with pytest.raises(UnknownLinkError, match="no link 9"):
        one.receive(9, b"", NOW)
    one.keys = replace(one.keys, read_write_private=None)
    with pytest.raises(ConfigurationError, match="private key"):
        one.connect(3, C, RO, NOW)
    assert list(one.links) == [1, 2]
