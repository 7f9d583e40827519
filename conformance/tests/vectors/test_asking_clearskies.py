"""The vectors of ClearSkies, asked: legal implementations pass, and mutants are found in the group of their fault."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from json import loads
from typing import Any

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference import PROFILES, Config, Peer
from clearskies_reference.mutants import MUTANTS
from clearskies_reference.testee.server import Testee, TesteeOptions
from clearskies_reference.variants import VARIANTS
from sds_conformance.protocols.clearskies.vectors.material import MATERIAL
from sds_conformance.vectors.folder import load_of
from sds_conformance.vectors.running.asking import Examination, Examiner, chosen
from sds_conformance.vectors.running.subject import Status
from sds_harness.clearskies.language import CLEARSKIES
from sds_harness.link import Limits, LocalLink
from vector_folders import VECTOR_SET, VECTORS, failed_groups, failures

REVISION = "clearskies-database"
Handle = Callable[[pb.Request], pb.Reply]
CAPABILITIES = [number for number in pb.Capability.values() if number]
OF_RIVALS = "needs the capability observe: others are told of all records that ever had the key"
PEERS = ("conflicts", "get-updates", "ghost-records", "key-conflicts", "signed-updates")
"""Groups that are asked of peers; the others are asked of the codec."""


@cache
def files() -> tuple[dict[str, Any], ...]:
    return tuple(load_of(VECTOR_SET, MATERIAL, VECTORS))


def reference(config: Config | None = None, peer: type[Peer] = Peer, without: frozenset[int] = frozenset()) -> Handle:
    options = TesteeOptions("1", config or Config(), peer, without=without)
    return Testee(options).handle


def asked(start: Callable[[], Handle] = reference, *groups: str) -> Examination:
    examiner = Examiner(MATERIAL, lambda _: LocalLink(start()), Limits(), REVISION)
    return examiner.examine(chosen(files(), REVISION, groups))


def altered(change: Callable[[pb.Request, pb.Reply], None]) -> Callable[[], Handle]:
    """The reference, whose answers are changed."""

    def start() -> Handle:
        answer = reference()

        def handle(request: pb.Request) -> pb.Reply:
            reply = answer(request)
            change(request, reply)
            return reply

        return handle

    return start


def mutant(name: str, without: frozenset[int] = frozenset()) -> Callable[[], Handle]:
    fault = MUTANTS[name]
    without |= {pb.CAPABILITY_OBSERVE} if fault.unseen else set()
    return lambda: reference(fault.configure(Config()), fault.peer_class, without)


def refusing(command: str) -> Callable[[], Handle]:
    """The reference, which is not even asked for that."""

    def start() -> Handle:
        answer = reference()

        def handle(request: pb.Request) -> pb.Reply:
            if request.WhichOneof("command") == command:
                return pb.Reply(id=request.id, rejected=pb.Rejected(reason="no"))
            return answer(request)

        return handle

    return start


# ---- Who is right ----------------------------------------------------------------------------------------------------


def test_every_shape_is_asked_for() -> None:
    assert {file["shape"] for file in files()} == set(MATERIAL.shapes)


def test_the_reference_passes_all_that_are_of_its_profile() -> None:
    outcome = asked()
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) == 0
    assert outcome.count(Status.PASS) > 250
    skipped = {group for group in outcome.groups if outcome.reasons(group)}
    assert skipped == {f"{kind}-{name}" for kind in ("signatures", "signing") for name in list(PROFILES)[1:]}
    assert outcome.exit_code == 0


def test_between_them_the_profiles_pass_every_vector() -> None:
    passed: set[str] = set()
    for name in PROFILES:
        outcome = asked(lambda name=name: reference(Config(PROFILES[name])))  # type: ignore[misc]
        assert failures(outcome) == []
        passed |= {a.vector["id"] for a in outcome.asked if a.answer.status in (Status.PASS, Status.ACCEPTABLE)}
    assert passed == {test["id"] for file in files() for test in file["tests"]}


@pytest.mark.parametrize("name", VARIANTS)
def test_legal_variants_pass(name: str) -> None:
    variant = VARIANTS[name]
    outcome = asked(lambda: reference(variant.configure(Config()), variant.peer_class))
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) == 0
    assert outcome.count(Status.SKIPPED) == 64


@pytest.mark.parametrize("capability", CAPABILITIES, ids=CLEARSKIES.name_of)
def test_what_is_not_declared_is_skipped_and_no_pass(capability: int) -> None:
    outcome = asked(lambda: reference(without=frozenset({capability})))
    assert failures(outcome) == []
    assert outcome.exit_code == 0


def test_without_a_state_the_wire_tells() -> None:
    outcome = asked(lambda: reference(without=frozenset({pb.CAPABILITY_OBSERVE})), *PEERS)
    assert failures(outcome) == []
    for group in PEERS:
        assert outcome.count(Status.PASS, group) > 3, group
        assert set(outcome.reasons(group)) <= {OF_RIVALS}


def test_whoever_shows_no_records_is_looked_at_from_outside() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            del reply.state.records[:]

    outcome = asked(altered(change), "conflicts", "ghost-records")
    assert failures(outcome) == []
    assert outcome.count(Status.PASS) > 30


def test_where_nothing_can_be_asked_nothing_passes() -> None:
    codecs = {pb.CAPABILITY_CLOCK_CODEC, pb.CAPABILITY_MESSAGE_CODEC, pb.CAPABILITY_SIGNATURE_CODEC}
    outcome = asked(lambda: reference(without=frozenset(codecs)), "vector-clocks", "framing-*", "sign*-rsa-*")
    assert outcome.count(Status.SKIPPED) == len(outcome.asked) > 100
    assert outcome.exit_code == 4


def test_whoever_pings_all_the_time_is_left_in_peace() -> None:
    """Nobody answers a ping, and it may come at any time."""
    links: dict[int, int] = {}

    def change(request: pb.Request, reply: pb.Reply) -> None:
        command = request.WhichOneof("command")
        if command == "connect":
            links[request.connect.handle] = request.connect.link
        if command in ("connect", "tick", "receive") and reply.HasField("effects"):
            handle = getattr(request, command).handle
            if handle in links and not reply.effects.events:
                ping = b'm33{"type":"core.ping","timeout":60}'
                reply.effects.sent.append(pb.Sent(link=links[handle], data=ping))

    outcome = asked(altered(change), *PEERS)
    assert failures(outcome) == []
    assert outcome.count(Status.SKIPPED) == 0


# ---- Who is wrong ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("last-arrival-is-newer", "conflicts"),
        ("concurrent-is-older", "conflicts"),
        ("equal-replaces", "conflicts"),
        ("time-makes-up-for-age", "conflicts"),
        ("newer-needs-a-newer-time", "conflicts"),
        ("newer-needs-a-newer-time-unseen", "conflicts"),
        ("largest-time-is-newer", "conflicts"),
        ("older-replaces", "conflicts"),
        ("largest-time-always-wins", "conflicts"),
        ("smallest-time-wins", "conflicts"),
        ("smallest-time-wins-unseen", "conflicts"),
        ("first-version-wins", "conflicts"),
        ("last-version-wins", "conflicts"),
        ("compares-texts-of-times", "conflicts"),
        ("deletion-wins", "conflicts"),
        ("keeps-clocks-as-doubles", "conflicts"),
        ("ignores-deletions", "conflicts"),
        ("first-key-wins", "key-conflicts"),
        ("first-key-wins-unseen", "key-conflicts"),
        ("refuses-a-second-uuid", "key-conflicts"),
        ("shows-no-rivals", "key-conflicts"),
        ("shows-all-of-a-key", "key-conflicts"),
        ("keeps-old-keys", "key-conflicts"),
        ("forgets-the-deleted", "ghost-records"),
        ("forgets-the-deleted-unseen", "ghost-records"),
        ("forgets-deletions-of-others", "ghost-records"),
        ("answers-without-the-deleted", "ghost-records"),
        ("hides-deletions", "ghost-records"),
        ("keeps-deletions-back", "ghost-records"),
        ("never-asks", "ghost-records"),
        ("asks-for-all", "ghost-records"),
        ("asks-too-late", "ghost-records"),
        ("asks-with-strings", "ghost-records"),
        ("asks-with-a-list", "ghost-records"),
        ("answers-backwards", "get-updates"),
        ("answers-by-uuid", "get-updates"),
        ("answers-or-asks", "get-updates"),
        ("has-to-have-an-answer", "get-updates"),
        ("leaves-out-the-unnamed", "get-updates"),
        ("answers-for-itself", "get-updates"),
        ("skips-the-second", "get-updates"),
        ("sends-the-known", "get-updates"),
        ("leaves-out-the-first-unknown", "get-updates"),
        ("answers-without-the-deleted", "get-updates"),
        ("reader-has-no-answers", "get-updates"),
        ("relays-in-its-own-name", "get-updates"),
        ("believes-every-signature", "signatures-rsa-pkcs1-sha256"),
        ("takes-broken-signatures", "signatures-rsa-pkcs1-sha256"),
        ("believes-every-signature", "signed-updates"),
        ("trusts-readers", "signed-updates"),
        ("reader-takes-unsigned", "signed-updates"),
        ("wants-all-signed", "signed-updates"),
        ("wants-none-signed", "signed-updates"),
        ("signs-nothing", "get-updates"),
        ("repeats-in-its-own-words", "get-updates"),
        ("sends-values-as-strings", "get-updates"),
        ("leaves-out-times", "get-updates"),
        ("sends-times-as-numbers", "get-updates"),
        ("relays-with-another-time", "get-updates"),
        ("sends-clocks-as-lists", "get-updates"),
        ("sends-clocks-as-strings", "get-updates"),
        ("skips-every-other", "get-updates"),
        ("keeps-revisions-as-doubles", "get-updates"),
        ("sends-revisions-as-strings", "get-updates"),
        ("relays-with-the-next-revision", "get-updates"),
        ("counts-a-newline", "get-updates"),
        ("counts-characters", "get-updates"),
        ("takes-the-word-for-the-deed", "conflicts"),
        ("wants-fractions", "conflicts"),
        ("compares-doubles", "vector-clocks"),
        ("compares-common-peers", "vector-clocks"),
        ("equal-is-concurrent", "vector-clocks"),
        ("all-numbers-have-to-grow", "vector-clocks"),
        ("compares-sums", "vector-clocks"),
    ],
)
def test_mutants_are_found_in_the_group_of_their_fault(name: str, group: str) -> None:
    outcome = asked(mutant(name), group)
    assert failed_groups(outcome) == {group}
    assert outcome.count(Status.ERROR) == outcome.count(Status.BROKEN) == 0


@pytest.mark.parametrize("name", ["compares-seconds", "first-wins-ties", "resolves-without-merging"])
def test_what_a_position_softens_or_a_should_asks_for_is_a_warning(name: str) -> None:
    outcome = asked(mutant(name), "conflicts")
    assert failures(outcome) == []
    assert outcome.count(Status.WARN) > 0
    assert outcome.exit_code == 0


# ---- Codecs, of which there are few mutants --------------------------------------------------------------------------


def _compared(change: Callable[[pb.Comparison], object]) -> Callable[[], Handle]:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("comparison"):
            change(reply.comparison)

    return altered(apply)


def _strictly_before(told: pb.Comparison) -> None:
    if told.one_before_other and told.other_before_one:
        told.Clear()


def _swapped(told: pb.Comparison) -> None:
    told.one_before_other, told.other_before_one = told.other_before_one, told.one_before_other


def _never_concurrent(told: pb.Comparison) -> None:
    told.one_before_other |= not told.other_before_one


@pytest.mark.parametrize("change", [_strictly_before, _swapped, _never_concurrent])
def test_clocks_that_are_compared_wrong_are_found(change: Callable[[pb.Comparison], object]) -> None:
    outcome = asked(_compared(change), "vector-clocks")
    assert failed_groups(outcome) == {"vector-clocks"}


def _comparing(read: Callable[[bytes], dict[str, Any]], number: Callable[[Any], Any]) -> Callable[[], Handle]:
    """Another comparison: who is absent has 0, and numbers are taken for something."""

    def change(request: pb.Request, reply: pb.Reply) -> None:
        if not reply.HasField("comparison"):
            return
        one, other = (read(text) for text in (request.compare_clocks.one, request.compare_clocks.other))
        names = one.keys() | other.keys()
        pairs = [(number(one.get(name, 0)), number(other.get(name, 0))) for name in names]
        reply.comparison.one_before_other = all(a <= b for a, b in pairs)
        reply.comparison.other_before_one = all(b <= a for a, b in pairs)

    return altered(change)


@pytest.mark.parametrize(
    "number",
    [str, float, lambda number: number & 0xFFFFFFFF, lambda number: number - (1 << 64) * (number >> 63)],
    ids=["text", "double", "32-bits", "signed"],
)
def test_numbers_that_are_taken_for_others_are_found(number: Callable[[Any], Any]) -> None:
    outcome = asked(_comparing(loads, number), "vector-clocks")
    assert failed_groups(outcome) == {"vector-clocks"}


def test_whoever_ignores_the_absent_is_found() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("comparison"):
            one, other = (loads(text) for text in (request.compare_clocks.one, request.compare_clocks.other))
            both = one.keys() & other.keys()
            reply.comparison.one_before_other = all(one[name] <= other[name] for name in both)
            reply.comparison.other_before_one = all(other[name] <= one[name] for name in both)

    outcome = asked(altered(change), "vector-clocks")
    assert {"vector-clocks/nobody-in-common", "vector-clocks/nobody-and-somebody"} <= {
        a.vector["id"] for a in outcome.asked if a.answer.status is Status.FAIL
    }


@pytest.mark.parametrize(
    ("command", "groups"),
    [
        ("compare_clocks", {"vector-clocks"}),
        ("unframe", {"framing-read"}),
        ("frame", {"framing-written", "signing-rsa-pkcs1-sha256"}),
        ("verify", {"signatures-rsa-pkcs1-sha256"}),
        ("open", set(PEERS)),
        ("connect", set(PEERS)),
        ("receive", set(PEERS)),
        ("tick", set(PEERS)),
        ("observe", {"conflicts", "key-conflicts", "signed-updates", "ghost-records"}),
        ("put", {"ghost-records"}),
        ("delete", {"ghost-records"}),
        ("disconnect", set(PEERS)),
    ],
)
def test_whoever_refuses_everything_is_found(command: str, groups: set[str]) -> None:
    outcome = asked(refusing(command))
    assert failed_groups(outcome) == groups
    assert outcome.count(Status.ERROR) == 0


@pytest.mark.parametrize(
    ("command", "groups"), [("connect", set(PEERS)), ("receive", {"get-updates", "ghost-records"})]
)
def test_whoever_closes_every_link_is_found(command: str, groups: set[str]) -> None:
    """Where a link is closed at once, nothing was heard, and nothing passes for having been refused."""

    def start() -> Handle:
        answer = reference()

        def handle(request: pb.Request) -> pb.Reply:
            reply = answer(request)
            if request.WhichOneof("command") != command:
                return reply
            told = getattr(request, command)
            answer(pb.Request(disconnect=pb.Disconnect(handle=told.handle, link=told.link)))
            closed = pb.Event(link_closed=pb.LinkClosed(link=told.link))
            return pb.Reply(id=request.id, effects=pb.Effects(events=[closed]))

        return handle

    outcome = asked(start, *PEERS)
    assert outcome.count(Status.ERROR) == outcome.count(Status.SKIPPED) == 0
    for group in groups:
        assert outcome.count(Status.PASS, group) == outcome.count(Status.ACCEPTABLE, group) == 0, group


def _unframed(change: Callable[[pb.Unframed], object]) -> Callable[[], Handle]:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("unframed"):
            change(reply.unframed)

    return altered(apply)


@pytest.mark.parametrize(
    "change",
    [
        lambda read: read.messages and read.messages.pop(),
        lambda read: read.ClearField("rest"),
        lambda read: [message.ClearField("signature") for message in read.messages],
        lambda read: [message.MergeFrom(pb.Message(body=message.body.strip())) for message in read.messages],
        lambda read: [message.MergeFrom(pb.Message(signature=b"x")) for message in read.messages],
    ],
    ids=["loses-the-last", "waits-for-nothing", "forgets-signatures", "trims-bodies", "signs-all"],
)
def test_messages_that_are_read_wrong_are_found(change: Callable[[pb.Unframed], object]) -> None:
    assert failed_groups(asked(_unframed(change), "framing-read")) == {"framing-read"}


def test_whoever_takes_anything_for_a_message_is_found() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("unframe") and reply.HasField("rejected"):
            reply.unframed.messages.add(body=b"{}")

    outcome = asked(altered(change), "framing-read")
    invalid = [a for a in outcome.asked if a.vector["result"] == "invalid"]
    assert len(invalid) > 15
    assert {a.answer.status for a in invalid} == {Status.FAIL}


@pytest.mark.parametrize(
    "change",
    [
        lambda wire: wire.replace(b"m14", b"m13"),
        lambda wire: wire + b"\n",
        lambda wire: wire.replace(b" ", b"").replace(b"m18", b"m16"),
        lambda wire: b"M" + wire[1:],
    ],
    ids=["counts-characters", "ends-with-a-newline", "writes-json-anew", "upper-case"],
)
def test_messages_that_are_written_wrong_are_found(change: Callable[[bytes], bytes]) -> None:
    def apply(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("framed"):
            reply.framed.data = change(reply.framed.data)

    assert "framing-written" in failed_groups(asked(altered(apply), "framing-written"))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "change",
    [
        lambda wire: wire[:-2] + b"\n",
        lambda wire: wire[:-20] + (b"A" if wire[-20:-19] != b"A" else b"B") + wire[-19:],
        lambda wire: wire + b"m2{}",
        lambda wire: b"m" + wire[1:],
    ],
    ids=["cut", "changed", "longer", "unsigned"],
)
def test_signed_messages_that_are_made_wrong_are_found(profile: str, change: Callable[[bytes], bytes]) -> None:
    def start() -> Handle:
        answer = reference(Config(PROFILES[profile]))

        def handle(request: pb.Request) -> pb.Reply:
            reply = answer(request)
            if reply.HasField("framed"):
                reply.framed.data = change(reply.framed.data)
            return reply

        return handle

    outcome = asked(start, f"signing-{profile}")
    assert outcome.count(Status.FAIL) == len(outcome.asked) > 0


def test_a_declared_signature_of_no_known_kind_is_skipped() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.profiles.signature = "ed25519"

    outcome = asked(altered(change), "signatures-*", "signing-*")
    assert outcome.count(Status.SKIPPED) == len(outcome.asked)
    outcome = asked(altered(change), *PEERS)
    assert failures(outcome) == []
    assert 0 < outcome.count(Status.SKIPPED) < outcome.count(Status.PASS)


def test_bounds_that_are_declared_are_kept() -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("hello"):
            reply.hello.limits.body_bytes, reply.hello.limits.clock_members = 50_000, 50
        if len(request.frame.body) > 50_000 or len(request.unframe.data) > 50_000:
            reply.rejected.reason = "too long"
        if request.unframe.data == b"m16777216{":
            reply.rejected.reason = "too long"
        if request.compare_clocks.other.count(b":") > 50:
            reply.rejected.reason = "too many"

    outcome = asked(altered(change), "framing-*", "vector-clocks")
    assert failures(outcome) == []
    assert outcome.count(Status.SKIPPED) == 7


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '"half', "NaN"])
def test_a_state_that_is_no_json_is_no_fault_of_the_suite(text: str) -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        for record in reply.state.records if reply.HasField("state") else ():
            record.value = text

    outcome = asked(altered(change), "signed-updates")
    assert outcome.count(Status.ERROR) == 0
    assert outcome.count(Status.FAIL) > 0


@pytest.mark.parametrize(
    "body",
    [
        b'{"type":"database.update"}',
        b'{"type":"database.update","uuid":[],"last_updated_by":{},"last_updated_rev":"7"}',
        b'{"type":"database.update","uuid":1e999,"last_updated_rev":' + b"9" * 5_000 + b"}",
        b'{"type":"database.get_updates","since":7}',
        b'{"type":"database.get_updates"}',
        b"{" * 50_000,
    ],
)
def test_nonsense_on_a_link_is_no_fault_of_the_suite(body: bytes) -> None:
    def change(request: pb.Request, reply: pb.Reply) -> None:
        for sent in reply.effects.sent if reply.HasField("effects") else ():
            sent.data = b"m%d%s" % (len(body), body)

    outcome = asked(altered(change), *PEERS)
    assert outcome.count(Status.ERROR) == 0
    assert outcome.count(Status.FAIL) > 0
