"""A participant that misses messages receives messages and requests of others.

Others request a missing message one second before T_max, which removes the participant's own entry for that message.
The participant sends messages only after that: an entry that was kept would be due by then, and an entry that was
removed and made again cannot be due.
"""

from __future__ import annotations

from collections.abc import Sequence

from sds_harness.sds.script import Dependency, Part, Peer, Script, entry, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import deliver_and_settle
from .participants import T_MAX, T_MIN, open_with_repairs, repair_scenario
from .requests import lose_messages, send_both_kinds, send_either


def _send_around_t_max(alice: Part) -> None:
    """Send content and sync messages around T_max and soon after, when only an entry that was kept can be due."""
    for content, wait in ((False, 1_000), (True, 1_000), (False, 1_000), (True, 0)):
        alice.observe()
        send_either(alice.after(wait), content=content)


@repair_scenario("R-RECV-01")
def missing_arrives_before_t_min(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Two missing messages arrive before T_min: one is delivered, and one waits for a third missing message."""
    (first,) = lose_messages(alice, bob)
    never = carol.content(script.now - 5)
    blocked = carol.content(script.now - 4, *signed(never))
    alice.given(bob.content(script.now + 2, *signed(blocked))).observe()
    alice.after(T_MIN // 2).receive(first)
    alice.receive(blocked)
    # Send at T_min, at T_max and a second after T_max: an entry that was kept would be due at one of these times.
    alice.observe()
    for wait in (T_MIN // 2, T_MAX - T_MIN, 1_000):
        send_both_kinds(alice, wait)
        alice.observe()


@repair_scenario("R-RECV-01")
def missing_arrives_from_another_sender(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A causal history names a missing message with a wrong sender; the message arrives, and T_max passes."""
    lost = bob.content(script.now - 1)
    alice.given(carol.content(script.now + 2, entry(lost, sender="dave"))).observe()
    alice.after(T_MIN // 2).receive(lost)
    alice.observe()
    send_both_kinds(alice, T_MAX, 1_000)


@repair_scenario("R-RECV-01")
def missing_arrives_late_and_blocked(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A missing message arrives a second before T_max and waits; the next messages must not request it."""
    blocked = carol.content(script.now - 4, entry("never-sent", sender="carol"))
    alice.given(bob.content(script.now + 2, *signed(blocked))).observe()
    alice.after(T_MAX - 1_000).receive(blocked)
    _send_around_t_max(alice)


@repair_scenario("R-STATE-01", "R-RECV-03")
def a_dependency_that_waits(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A message waits for a message that never arrives; another depends on the waiting message, and time passes."""
    waiting = carol.content(script.now - 4, entry("never-sent", sender="carol"))
    alice.given(waiting, bob.content(script.now + 2, *signed(waiting))).observe()
    send_both_kinds(alice, T_MAX + 1_000)


@repair_scenario("R-SEND-07")
def missing_arrives_after_t_req(script: Script, alice: Part, bob: Peer) -> None:
    """A missing message arrives after T_req, before the participant has sent a request for it."""
    for content in (True, False):
        (lost,) = lose_messages(alice, bob)
        alice.after(T_MAX + 1_000).tick()
        alice.observe()
        alice.receive(lost)
        send_either(alice, content=content)
        alice.observe()
        alice.settle()


@repair_scenario("R-SEND-07")
def one_of_two_comes_when_it_is_due(script: Script, alice: Part, bob: Peer) -> None:
    """Requests for two messages are due; one of the two arrives, and the next own message requests only the other."""
    first, second = lose_messages(alice, bob, 2)
    alice.after(T_MAX + 1_000).receive(second)
    send_either(alice, content=False)
    deliver_and_settle(alice, first).send()


def _overhear_request(
    alice: Part,
    bob: Peer,
    dave: Peer,
    *before: Dependency,
    sync: bool = False,
    depends_on: Sequence[Dependency] = (),
    sender: bool = True,
) -> None:
    """Let a message of Bob be missing, and let Dave request it one second before T_max.

    In Dave's request, the entries ``before`` precede the entry of the missing message. The request is in content, or in
    a sync message (``sync``), with the dependencies ``depends_on``. ``sender`` says whether the entry has a sender.
    """
    script = alice.script
    lost = bob.content(script.now - 1)
    alice.given(bob.content(script.now + 1, *signed(lost))).observe()
    script.advance(T_MAX - 1_000)
    write = dave.sync if sync else dave.content
    alice.receive(write(script.now, *depends_on, requests=[*before, lost.signed if sender else entry(lost)]))
    _send_around_t_max(alice)
    deliver_and_settle(alice, lost)


@repair_scenario("R-RECV-07")
def somebody_else_asks(script: Script, alice: Part, bob: Peer, dave: Peer) -> None:
    """Another peer requests a missing message, in a sync message or in content; the participant must not request it."""
    _overhear_request(alice, bob, dave, sync=True)
    _overhear_request(alice, bob, dave)


@repair_scenario("R-RECV-07")
def somebody_else_asks_early(script: Script, alice: Part, bob: Peer, dave: Peer) -> None:
    """Another peer requests three missing messages before T_min; the participant sends messages until T_max."""
    lost = lose_messages(alice, bob, 3, observe=True)
    script.advance(T_MIN - 1_000)
    for message in lost:
        alice.given(dave.sync(script.now, requests=signed(message))).observe()
    send_both_kinds(alice, *12 * [T_MAX // 12])


@repair_scenario("R-RECV-07")
def named_again_soon_after_the_request_of_another(
    script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer
) -> None:
    """A second before T_max, Dave requests a missing message, and Carol names it again: a new entry is not due soon."""
    for write in (carol.content, carol.sync):
        (lost,) = lose_messages(alice, bob, observe=True)
        script.advance(T_MAX - 1_000)
        alice.given(dave.sync(script.now, requests=signed(lost))).observe()
        alice.receive(write(script.now, *signed(lost)))
        _send_around_t_max(alice)
        deliver_and_settle(alice, lost)


@repair_scenario("R-RECV-07")
def somebody_else_asks_after_its_request(script: Script, alice: Part, bob: Peer, dave: Peer) -> None:
    """The participant has requested a missing message; another peer requests it, too. The participant sends again."""
    (lost,) = lose_messages(alice, bob, observe=True)
    send_either(alice.after(T_MAX + 1_000), content=False)
    alice.observe()
    alice.after(1_000).given(dave.sync(script.now, requests=signed(lost))).observe()
    _send_around_t_max(alice)
    deliver_and_settle(alice, lost)


@repair_scenario("R-RECV-12")
def somebody_asks_for_many(script: Script, alice: Part, bob: Peer, dave: Peer) -> None:
    """In repair requests, unknown entries precede the entry of the missing message, or this entry has no sender."""
    unknown, named = entry("nobody-knows-this"), entry("nor-this", sender="carol")
    _overhear_request(alice, bob, dave, unknown, named, sync=True)
    _overhear_request(alice, bob, dave, named, unknown)
    _overhear_request(alice, bob, dave, sync=True, sender=False)
    _overhear_request(
        alice, bob, dave, *(entry(f"unknown-{number}", sender="carol") for number in range(150)), sync=True
    )


@repair_scenario("R-RECV-12")
def somebody_asks_for_a_thousand(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Messages with 1,000 entries in a request or a history arrive, and may be rejected; ordinary messages follow."""
    alice.receive(carol.sync(script.now, requests=[f"unknown-{number}" for number in range(1_000)]))
    alice.receive(carol.content(script.now, *(f"unheard-of-{number}" for number in range(1_000))))
    send_either(alice.after(T_MAX + 1_000), content=False)
    _overhear_request(open_with_repairs(script, "erin"), bob, dave, entry("unknown-1", sender="carol"), sync=True)


@repair_scenario("R-RECV-13", violated=("SYNC-12",), of_one_text=True)
def requests_in_any_message(script: Script, alice: Part, bob: Peer, dave: Peer) -> None:
    """A sync message names a missing message; a waiting message and a duplicate request it."""
    lost = bob.content(script.now - 1)
    alice.receive(dave.sync(script.now, *signed(lost)))  # the author of the missing message is another peer
    alice.observe()
    send_both_kinds(alice, T_MAX, 1_000)
    deliver_and_settle(alice, lost)
    _overhear_request(alice, bob, dave, depends_on=["never-sent"])
    _overhear_request(alice, bob, dave, depends_on=[entry("never-sent", sender="dave")], sync=True)
    known = dave.content(script.now)
    alice.receive(known)
    lost = bob.content(script.now - 1)
    alice.given(bob.content(script.now + 1, *signed(lost))).observe()
    alice.after(T_MAX - 1_000).receive_copy(known, lost)
    _send_around_t_max(alice)


@repair_scenario("R-RECV-13", of_one_text=True)
def syncs_with_one_id_reveal_gaps(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Sync messages name missing messages; the second has the ID of the first, the third that of a delivered one."""
    alice.receive(carol.content(script.now - 9, message_id="known"))
    for message_id in ("sync", "sync", "known"):
        lost = bob.content(script.now - 1)
        alice.given(dave.sync(script.now + 1, *signed(lost), message_id=message_id)).observe()
        send_both_kinds(alice, T_MAX, 1_000)
        deliver_and_settle(alice, lost)


@repair_scenario("R-RECV-04", "R-RECV-05")
def nobody_answers_the_others(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Another peer requests a missing message and gets no response; the next message does not name it."""
    (lost,) = lose_messages(alice, bob, observe=True)
    script.advance(T_MAX - 1_000)
    for _ in range(3):
        alice.given(dave.sync(script.now, requests=signed(lost))).observe()
        alice.after(1_000).given(carol.content(script.now)).observe()
    _ask_again(alice)
    deliver_and_settle(alice, lost)


def _ask_again(alice: Part) -> None:
    """Send one message before a new request can be due, and more messages when the new request must be due."""
    send_either(alice.after(1_000), content=False)
    send_either(alice.after(T_MAX - 1_000), content=False)
    send_both_kinds(alice, 1_000, content_first=True)


@repair_scenario("R-RECV-04", asked=pb.Configuration())
def its_request_is_lost(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A request is lost, and the next message does not name the missing message, which must be requested again."""
    (lost,) = lose_messages(alice, bob, observe=True)
    send_either(alice.after(T_MAX), content=False)
    alice.after(1_000).send()
    alice.receive(carol.content(script.now))
    _ask_again(alice)
    deliver_and_settle(alice, lost)


@repair_scenario("R-TREQ-01", "R-RECV-03", long=True)
def named_again_after_the_request_of_another(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Carol requests two missing messages; before T_max, Dave names them again. Then the participant sends messages."""
    missing = [bob.content(script.now - number) for number in (2, 1)]
    alice.given(bob.content(script.now, *signed(*missing))).observe()
    alice.after(T_MIN // 2).receive(carol.sync(script.now, requests=signed(*missing)))
    alice.observe()
    alice.after(T_MAX - T_MIN).receive(dave.content(script.now, *signed(*missing)))
    alice.observe()
    for wait in (1_000, T_MIN, T_MAX - T_MIN, 1_000):
        send_both_kinds(alice, wait)


@repair_scenario("R-RECV-03")
def named_again_after_its_request(script: Script, alice: Part, bob: Peer) -> None:
    """A request gets no response; then another message depends on the missing message, and T_max passes."""
    (lost,) = lose_messages(alice, bob)
    send_both_kinds(alice, T_MAX - 1_000, 500, 500)
    alice.receive(bob.content(script.now, *signed(lost)))
    send_both_kinds(alice, T_MAX, 1_000)


@repair_scenario("R-TREQ-01", needs=(pb.CAPABILITY_OBSERVE,))
def named_again_after_its_removal(script: Script, alice: Part, bob: Peer) -> None:
    """A missing message is requested, and the entry may be removed; then another message depends on the missing one."""
    (lost,) = lose_messages(alice, bob, observe=True)
    send_either(alice.after(T_MAX), content=False)
    alice.after(1_000).send()
    alice.observe()
    alice.receive(bob.content(script.now, *signed(lost)))
    alice.observe()
