"""Requests for updates: what a peer requests, how it answers, and what it sends afterwards."""

from __future__ import annotations

from sds_harness.clearskies.frames import PING_TYPE
from sds_harness.clearskies.script import Part, Peer, Script

from .scripts import request_all, scenario, subscribe


@scenario("29", "30", "37")
def a_connection_is_made_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A peer receives changes of two others; the connection breaks and is made again."""
    link = alice.link(bob)
    link.update("one", 1)
    link.send(carol.update("two", 2))
    link.update("three", 3)
    script.settle()
    link.cut()
    link = alice.link(bob)
    script.settle()
    link.update("four", 4)
    link.cut()
    alice.link(carol)


@scenario("29", "37", long=True)
def a_connection_after_broken_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob sends an update without its first byte, and Carol one without an update_time; then both connect again."""
    for peer in (bob, carol):
        link = alice.link(peer)
        link.update(f"first of {peer.name}", 1)
        script.settle()
        if peer is bob:
            link.send(bob.update("without its beginning", 2).part(begin=1))
        else:
            link.update("without a time", 3, without=("update_time",))
        request_all(alice)
        link.cut()
        link = alice.link(peer)
        script.settle()
        link.update(f"second of {peer.name}", 4)
        request_all(alice)


@scenario("29", long=True)
def many_writers_are_known(script: Script, alice: Part, bob: Peer) -> None:
    """Bob relays an update of each of forty writers; the connection breaks and is made again."""
    link = alice.link(bob)
    link.send(*(script.peer(f"writer {number}").update(f"record-{number}", number) for number in range(40)))
    script.settle()
    link.cut()
    alice.link(bob)


@scenario("29", "37")
def the_newest_is_written_over(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The application changes the newer of two records of Bob; then Carol connects."""
    link = alice.link(bob)
    link.update("old", 1)
    link.update("new", 2)
    script.settle()
    alice.after(1_000).put("new", 3)
    script.settle()
    link.cut()
    alice.link(carol)


@scenario("31", "35")
def both_ends_ask(script: Script, alice: Part, alan: Part) -> None:
    """Two peers with one record each link, and each gets the record of the other."""
    alice.put("of-alice", 1)
    alan.put("of-alan", 2)
    alice.link(alan)
    script.settle()
    alice.put("of-alice-2", 3)
    alan.put("of-alan-2", 4)


@scenario("32")
def nothing_new(script: Script, alice: Part, bob: Peer) -> None:
    """Bob requests updates from a peer without records, sends an update, and requests later updates on a new link."""
    link = subscribe(alice, bob)
    script.settle()
    link.update("door", "open")
    script.settle()
    link.cut()
    subscribe(alice, bob, {bob: bob.revision})


@scenario("32", "35", "59", long=True)
def asked_again(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob requests everything twice, and once the updates after a revision; then there are more changes."""
    link = subscribe(alice, bob)
    alice.put("one", 1)
    two = alice.after(1_000).put("two", 2)
    script.settle()
    link.ask()
    script.settle()
    alice.after(1_000).put("three", 3)
    script.settle()
    link.ask({alice: two})
    script.settle()
    alice.after(1_000).put("four", 4)
    alice.link(carol).update("of carol", 5)


@scenario("02", long=True)
def updates_on_two_connections(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob has two connections and sends a change on each."""
    subscribe(alice, carol)
    links = alice.link(bob), alice.link(bob)
    for number, link in enumerate(links):
        link.update(f"on link {number}", number)
        request_all(alice)


@scenario("07", "37", long=True)
def pieces_of_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Messages arrive in pieces that end within a character, or after a part of the next message."""
    subscribe(alice, carol)
    link = alice.link(bob)
    for number in range(3):
        message = bob.update(f"key {'x' * number}", "\u2603" * 200)
        link.send(message.part(end=450))
        link.send(message.part(begin=450))
    request_all(alice)
    first, second, third, fourth = (bob.update(f"record {number}", f"\u2603 {number}") for number in range(4))
    link.send(first, second, third.part(end=-41), joined=True)
    link.send(third.part(begin=-41), fourth, joined=True)
    request_all(alice)


@scenario("37", long=True)
def a_burst_of_updates(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob sends a request and two hundred updates in one piece, while Carol is subscribed."""
    subscribe(alice, carol)
    link = alice.link(bob)
    updates = [bob.update(f"record-{number}", number) for number in range(200)]
    link.send(bob.message({"type": "database.get_updates", "since": {}}), *updates, joined=True)
    request_all(alice)


@scenario("37", "15", long=True)
def bodies_of_successive_lengths(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The bodies of updates, received in one piece or sent, have 257 successive lengths."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.send(*(bob.update(f"record {number}", "x" * number) for number in range(200, 457)), joined=True)
    request_all(alice)
    for number in range(200, 457):
        alice.put("grows", "y" * number)
    request_all(alice)


@scenario("37", long=True)
def halves_of_messages(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """The halves of a message arrive seconds apart; then halves of two messages alternate on two links."""
    links = alice.link(bob), alice.link(carol)
    links[0].update("whole", 0)
    request_all(alice)
    message = bob.update("one", 1)
    links[0].send(message.part(end=100))
    for _ in range(2):
        alice.after(1_000).tick()
    links[0].send(message.part(begin=100))
    request_all(alice)
    messages = bob.update("two", 2), carol.update("three", 3)
    for begin, end in ((0, 100), (100, None)):
        for link, message in zip(links, messages, strict=True):
            link.send(message.part(begin, end))
    request_all(alice)


@scenario("35", "14", long=True)
def what_ends_no_subscription(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer) -> None:
    """Subscribers send a ping, an unknown type, or an invalid update, or open a second connection."""
    erin = script.peer("erin")
    links = [subscribe(alice, peer) for peer in (bob, carol, dave, erin)]
    alice.put("before", 0)
    script.settle()
    links[0].send(bob.message({"type": PING_TYPE, "timeout": 60}))
    links[1].send(carol.message({"type": "x.nobody-knows", "since": {}, "key": 1}))
    links[3].update("bad", 1, without=("uuid",))
    alice.link(dave)
    script.settle()
    alice.after(1_000).put("after", 1)
    links[0].update("of bob", 2)
    script.settle()
    alice.after(1_000).delete("before")


@scenario("31", "59", long=True)
def asked_by_who_knows_others(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Requests name peers that the receiver does not know, and name known peers with revision zero."""
    link = alice.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    alice.put("mine", 3)
    script.settle()
    for since in ({carol: 5}, {bob: 0}, {bob: 1, carol: 7, alice: 0}):
        link = subscribe(alice, script.peer(script.unique_label("asking")), since)
        script.settle()
        link.cut()


@scenario("33", "34", "59", "37")
def answers(script: Script, alice: Part, bob: Peer, carol: Peer, dave: Peer, eve: Peer) -> None:
    """A peer with records of three others answers requests for the updates after different revisions."""
    subscribe(alice, eve)
    links = []
    for peer, revisions in ((bob, (3, 9, 12)), (carol, (4, 8)), (dave, (1, 10))):
        link = alice.link(peer)
        for revision in revisions:
            peer.revision = revision - 1
            link.update(f"{peer.name}-{revision}", revision)
        links.append(link)
    script.settle()
    for link in links:
        link.cut()
    for since in (
        {},
        {bob: 9},
        {bob: 3, carol: 4},
        {bob: 12, carol: 8, dave: 1},
        {bob: 8, dave: 9},
    ):
        link = subscribe(alice, script.peer(script.unique_label("asking")), since)
        script.settle()
        link.cut()


@scenario("34", "37")
def its_own_changes_are_asked_for(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob has lost his records, and requests his own changes together with those of others."""
    link = alice.link(bob)
    link.update("of-bob", 1)
    link.send(carol.update("of-carol", 2))
    request_all(alice)
    link.cut()
    for since in ({}, {carol: 1}):
        link = subscribe(alice, bob, since)
        script.settle()
        link.cut()


@scenario("29")
def an_older_change_comes_later(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Bob sends his second change; later Carol relays his first one."""
    first, second = bob.update("one", 1), bob.update("two", 2)
    alice.link(bob).send(second)
    script.settle()
    alice.link(carol).send(first)
    script.settle()
    alice.link(script.peer("dave"))


@scenario("37", "29")
def since_ahead_of_this_peer(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """A request of Dave names revisions that the peer does not know yet; then Carol connects."""
    alice.link(bob).update("one", 1)
    script.settle()
    dave = script.peer("dave")
    subscribe(alice, dave, {bob: 5, carol: 7, dave: 9})
    script.settle()
    alice.link(carol)


@scenario("02")
def its_own_changes_come_back(script: Script, alice: Part, bob: Peer) -> None:
    """A peer has lost its records; Bob sends the peer its own earlier changes."""
    subscribe(alice, bob)
    changes = alice.put("mine", 1), alice.after(1_000).put("mine too", 2)
    script.settle()
    alice.reopen()
    alice.link(bob).send(*changes)
    request_all(alice)


@scenario("33", "37", "59")
def answers_about_own_changes(script: Script, alice: Part, bob: Peer) -> None:
    """The application has made five changes; Bob requests all, and those after each of the first three."""
    changes = [alice.after(1_000).put(f"key-{number}", number) for number in range(5)]
    request_all(alice)
    for change in changes[:3]:
        link = subscribe(alice, bob, {alice: change})
        script.settle()
        link.cut()


@scenario("35", "14", "20", "37")
def after_the_answer(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """After the answer to Bob, changes of the application and of Carol follow; then Bob leaves and requests again."""
    alice.put("before", 0)
    link = subscribe(alice, bob)
    to_carol = alice.link(carol)
    for number in range(3):
        alice.after(1_000).put(f"mine-{number}", number)
        to_carol.update(f"theirs-{number}", number)
    script.settle()
    link.cut()
    alice.put("meanwhile", 1)
    subscribe(alice, bob, {alice: 1})
    request_all(alice)


@scenario("36")
def two_connections(script: Script, alice: Part, bob: Peer) -> None:
    """Bob opens two connections and requests updates on the second; later the first one breaks."""
    first = alice.link(bob)
    script.settle()
    subscribe(alice, bob)
    script.settle()
    alice.put("door", "open")
    script.settle()
    first.update("window", "shut")
    script.settle()
    first.cut()
    alice.put("gate", "open")


@scenario("02", "33", "37", long=True)
def many_from_one(script: Script, alice: Part, bob: Peer) -> None:
    """520 records arrive one by one on a connection; others request all of them, or those after a revision."""
    link = alice.link(bob)
    updates = [link.update(f"record-{number}", number) for number in range(520)]
    alice.observe()
    request_all(alice)
    # An implementation may truncate its answers.
    for number, known in enumerate(updates[49::150]):
        subscribe(alice, script.peer(f"asking-{number}"), {bob: known})
        script.settle()


@scenario("37")
def several_at_once(script: Script, alice: Part, bob: Peer, carol: Peer) -> None:
    """Seven updates arrive in one piece, while Carol is subscribed."""
    subscribe(alice, carol)
    link = alice.link(bob)
    link.send(*(bob.update(f"record-{number}", number) for number in range(7)), joined=True)
    request_all(alice)


@scenario("37", "29", "35")
def a_cut_in_the_middle(script: Script, alice: Part, alan: Part) -> None:
    """The link of two peers breaks within the third update; on a new link the rest arrives."""
    line = alice.link(alan).hold()
    for number in range(6):
        alice.after(1_000).put(f"record-{number}", "x" * 50)
    script.settle()
    line.let_through(alice, 1_000)
    line.cut()
    alice.link(alan)
    request_all(alan)


@scenario("37", "29")
def a_message_is_cut(script: Script, alice: Part, bob: Peer) -> None:
    """The connection breaks within the third message, which arrives whole on the next connection."""
    link = alice.link(bob)
    link.update("one", 1)
    link.update("two", 2)
    third = bob.update("three", 3)
    link.send(third.part(end=-40))
    link.cut()
    link = alice.link(bob)
    script.settle()
    link.send(third)
    request_all(alice)
