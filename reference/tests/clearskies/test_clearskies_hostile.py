"""Hostile input is refused without a change, and broken framing closes the link."""

from __future__ import annotations

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
from clearskies_reference import AccessLevel, Effects, LinkClosed, Message, Peer, RefusedWriteError
from clearskies_reference.choices import ClosesOnRefusal


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


def test_a_signature_that_is_there_must_be_right_between_writers_too() -> None:
    assert_refused(linked(), FORGED["signed by a read-only peer"])
    assert_refused(linked(), FORGED["with the signature of another message"])


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


def test_what_a_read_only_peer_is_said_to_have_written_is_refused() -> None:
    one = linked()
    assert_refused(one, by_read_write(update(last_updated_by=D)))
    assert_refused(linked(RO), by_read_write(update(last_updated_by=A)))


def test_a_read_only_peer_does_not_write() -> None:
    one = linked(RO)
    one.receive(1, by_read_write(update()), NOW)
    before = state(one)
    with pytest.raises(RefusedWriteError, match="cannot change"):
        one.put("l", "1", NOW)
    with pytest.raises(RefusedWriteError, match="cannot change"):
        one.put("k", "1", NOW)
    with pytest.raises(RefusedWriteError, match="cannot change"):
        one.rename("k", "k", NOW)
    with pytest.raises(RefusedWriteError, match="cannot change"):
        one.delete("k", NOW)
    assert state(one) == before


def test_a_read_only_peer_repeats_the_bytes_of_the_signer() -> None:
    one = linked(RO)
    odd = update(vector_clock={B: 3}, more="of what nobody knows")
    wire = by_read_write(odd)
    (sent,) = one.receive(1, wire, NOW).sent
    assert sent.data == wire
    # The merged clock stays local.
    earlier = update(vector_clock={C: 1}, last_updated_by=C, update_time="2001-01-01T00:00:00Z")
    one.receive(1, by_read_write(earlier), NOW)
    one.connect(3, C, RW, NOW)
    assert [sent.data for sent in one.receive(3, get_updates(), NOW).sent] == [wire]
    assert one.records()[0].vector_clock == {B: 3, C: 1}


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


def test_what_is_refused_does_not_keep_others_from_being_taken() -> None:
    one = linked()
    data = plain(update()) + BAD["revision 0"] + plain(update(uuid="2" * 32, key="l", last_updated_rev=2))
    effects = one.receive(1, data, NOW)
    assert (len(effects.refused), effects.taken, sorted(values(one))) == (1, 2, ["k", "l"])


def test_what_breaks_the_framing_closes_the_link_and_what_stood_before_it_is_taken() -> None:
    one = linked()
    one.connect(3, B, RW, NOW)
    effects = one.receive(1, plain(update()) + b"hello", NOW)
    assert values(one) == {"k": '{"n":1}'}
    (closed,) = (event for event in effects.events if isinstance(event, LinkClosed))
    assert closed.link == 1
    assert list(one.links) == [2, 3]
    # The request goes over the other link to the same peer.
    assert [sent.link for sent in effects.sent] == [2, 3]


def test_a_peer_can_close_a_link_on_what_it_refuses() -> None:
    one = linked(kind=ClosesOnRefusal)
    effects = one.receive(1, BAD["revision 0"] + BAD["no type"], NOW)
    assert [event.link for event in effects.events if isinstance(event, LinkClosed)] == [1]


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
