"""Participants in several response groups get requests for messages. T_resp, too, depends on their authors."""

from __future__ import annotations

from sds_harness.sds.script import Message, Part, Peer, Script, signed
from sds_proto.testee.v1 import testee_pb2 as pb

from ..scripts import scenario
from .participants import LONGEST_MS, T_MIN, open_with_repairs, optional_participant, scattered
from .responses import deliver_messages, request_messages, tick_often, wait_for_responses

MANY_GROUPS = (2, 3, 4, 7, 8, 128)


def grouped(script: Script, groups: int) -> Part:
    """Open a participant in a channel with ``groups`` response groups."""
    configuration = pb.Configuration(num_response_groups=groups)
    return open_with_repairs(script, configuration=configuration, instance=f"{groups} response groups")


def one_of_each(part: Part, number: int, names: str = "author") -> list[Message]:
    """Let messages of many authors be delivered to the participant, one message of each."""
    return [deliver_messages(part, part.script.peer(scattered(names, count)), 1)[0] for count in range(number)]


@scenario("R-GROUP-02")
def authors_in_many_groups(script: Script, bob: Peer, carol: Peer) -> None:
    """With 2 to 128 response groups, a participant gets requests for own messages and must respond to all."""
    for groups in MANY_GROUPS:
        alice = grouped(script, groups)
        own = [alice.send() for _ in range(8)]
        alice.receive(bob.content(script.now, *signed(*own)))  # this message acknowledges the own messages
        request_messages(carol, alice, *own)
        wait_for_responses(alice)


@scenario("R-GROUP-02", "R-TRESP-02", "R-RECV-12", long=True)
def own_messages_beside_those_of_others(script: Script, bob: Peer, carol: Peer) -> None:
    """One request names an own message before three of others, and a second request names an own message last.

    The scenario runs with one response group, and with eight.
    """
    for groups in (1, 8):
        alice = grouped(script, groups)
        first, last = alice.send(), alice.send()
        alice.receive(bob.content(script.now, *signed(first, last)))  # this message acknowledges the own messages
        others = one_of_each(alice, 6)
        request_messages(carol, alice, first, *others[:3])
        request_messages(carol, alice, *others[3:], last)
        alice.observe().after(1_000).tick()
        wait_for_responses(alice)


@scenario("R-GLOBAL-05", "R-GROUP-01")
def group_members_and_others(script: Script, carol: Peer) -> None:
    """Participants in channels with two to eight response groups get requests for messages of ten authors."""
    for groups in MANY_GROUPS[:-1]:
        alice = grouped(script, groups)
        request_messages(carol, alice, *one_of_each(alice, 10, f"author-{groups}"))
        alice.observe()
        wait_for_responses(alice)


@scenario("R-GLOBAL-05")
def three_ask_two_groups(script: Script, carol: Peer, dave: Peer, erin: Peer) -> None:
    """With two response groups, three participants in turn request the same messages of ten authors."""
    alice = grouped(script, 2)
    messages = one_of_each(alice, 10)
    for peer in (carol, dave, erin):
        request_messages(peer, alice, *messages)
        wait_for_responses(alice)
        script.advance(T_MIN)


@scenario("R-RECV-11", "R-GROUP-01", long=True)
def a_group_share_of_many_authors(script: Script, bob: Peer, carol: Peer) -> None:
    """With many response groups, participants get requests for own messages and for messages of a hundred authors."""
    for number, groups in enumerate((2, 4, 7, 128)):
        alice = grouped(script, groups)
        own = alice.send()
        alice.receive(bob.content(script.now, *signed(own), message_id=f"acknowledges-{groups}"))
        request_messages(carol, alice, own)
        alice.tick()  # a participant that never responds shows nothing about groups
        # With these IDs, each group responds to some of the messages that are requested last.
        ids = [f"author-{count}-{115 * number + 6 + count}" for count in range(100)]
        peers = [script.peer(f"author-{count}") for count in range(100)]
        messages = [deliver_messages(alice, peer, 1, (own_id,))[0] for peer, own_id in zip(peers, ids, strict=True)]
        for start in (0, 50):
            request_messages(carol, alice, *messages[start : start + 50])
            wait_for_responses(alice)


@scenario("R-GROUP-04")
def one_group_for_all(script: Script, carol: Peer, dave: Peer, erin: Peer) -> None:
    """With one response group, or none (AMB-10), messages are requested three times, each time in a different order."""
    for groups in (1, 0, -3):
        configuration = pb.Configuration(num_response_groups=groups)
        with optional_participant(script, "alice", configuration, f"{groups} response groups") as alice:
            messages = one_of_each(alice, 12, f"author-{groups}")
            for peer, step in ((carol, 1), (dave, 5), (erin, 7)):
                request_messages(peer, alice, *[messages[number * step % 12] for number in range(12)])
                wait_for_responses(alice)
                script.advance(T_MIN)


@scenario("R-GLOBAL-06", "R-GLOBAL-07", needs=(pb.CAPABILITY_SDS_R,))
def groups_from_the_number_of_participants(script: Script) -> None:
    """The implementation derives the number of response groups from the number of participants."""
    # An implementation may refuse a small number of participants and accept a larger one.
    for participants in (1, 2, 127, 128, 129, 255, 256, 1000):
        asked = pb.Configuration(sds_r=True, num_participants=participants)
        script.open(configuration=asked, instance=f"{participants} participants", may_be_refused=True)


def _open_holder(script: Script, author: str, messages: int, asked: pb.Configuration) -> tuple[Part, list[Message]]:
    """Open a participant and deliver messages of one author, with IDs of many lengths.

    The lengths differ because the hash may be linear: for IDs of one length, another author would shift all results of
    such a hash by the same amount.
    """
    part, peer = open_with_repairs(script, configuration=asked, instance=f"hears {author}"), script.peer(author)
    ids = [f"{scattered('held', number)}{'-' * number}" for number in range(messages)]
    held = [peer.content(script.now + number, message_id=message_id) for number, message_id in enumerate(ids)]
    part.receive(*held)
    return part, held


@scenario("R-GROUP-01", long=True)
def the_same_ids_of_eight_authors(script: Script) -> None:
    """Eight participants with the same ID each receive messages of a different author, and requests for them.

    There are three response groups, because two groups would show only the last bit of a hash, which may not depend on
    the author.
    """
    zoe = script.peer("zoe")
    for number in range(8):
        part, held = _open_holder(script, scattered("author", number), 6, pb.Configuration(num_response_groups=3))
        request_messages(zoe, part, *held)
        wait_for_responses(part)


@scenario("R-TRESP-03", long=True)
def the_same_ids_of_four_authors(script: Script) -> None:
    """Four participants with the same ID each receive messages of another author, and requests; T_max is an hour."""
    zoe, parts = script.peer("zoe"), []
    for number in range(4):
        part, held = _open_holder(script, scattered("author", number), 10, pb.Configuration(t_max_ms=LONGEST_MS))
        request_messages(zoe, part, *held)
        parts.append(part)
    for part in parts:
        part.observe()
    tick_often(*parts)
    wait_for_responses(*parts)
