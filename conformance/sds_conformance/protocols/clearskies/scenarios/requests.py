"""Requests for updates: who asks for what, what is answered, and what follows."""

from __future__ import annotations

from sds_harness.clearskies.frames import PING, UNKNOWN

from .cast import Actor, ScriptedPeer, Stage, listening, look, scenario


@scenario("29", "30", "37")
def a_connection_is_made_again(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A peer hears of changes of two others; the connection breaks, and is there again."""
    link = alice.link(bob)
    link.say(bob.update("one", 1))
    link.say(carol.update("two", 2))
    link.say(bob.update("three", 3))
    stage.settle()
    link.cut()
    link = alice.link(bob)
    stage.settle()
    link.say(bob.update("four", 4))
    link.cut()
    alice.link(carol)


@scenario("29", "37")
def the_newest_is_written_over(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Of two records of one peer somebody else writes the newer one again; then a connection is made again."""
    link = alice.link(bob)
    link.say(bob.update("old", 1))
    new = bob.update("new", 2)
    link.say(new)
    stage.settle()
    alice.after(1_000).put("new", 3)
    stage.settle()
    link.cut()
    alice.link(carol)


@scenario("31", "35")
def both_ends_ask(stage: Stage, alice: Actor, alan: Actor) -> None:
    """Two peers that have something each meet, and each gets what the other one has."""
    alice.put("of-alice", 1)
    alan.put("of-alan", 2)
    alice.link(alan)
    stage.settle()
    alice.put("of-alice-2", 3)
    alan.put("of-alan-2", 4)


@scenario("32")
def nothing_new(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Somebody asks a peer that has nothing; then another one that knows all."""
    link = listening(alice, bob)
    stage.settle()
    link.say(bob.update("door", "open"))
    stage.settle()
    link.cut()
    listening(alice, bob, {bob.peer_id: bob.revision})


@scenario("32", "35", "59", long=True)
def asked_again(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody asks twice for everything, then for what follows a revision; then there are changes."""
    link = listening(alice, bob)
    alice.put("one", 1)
    alice.after(1_000).put("two", 2)
    stage.settle()
    link.ask()
    stage.settle()
    alice.after(1_000).put("three", 3)
    stage.settle()
    revisions = [message.body.members.get("last_updated_rev") for message in link.updates]
    link.ask({alice.peer_id: revisions[-2] if len(revisions) > 1 else 0})
    stage.settle()
    alice.after(1_000).put("four", 4)
    alice.link(carol).say(carol.update("of carol", 5))


@scenario("02", long=True)
def updates_on_two_connections(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """A peer has two connections, and tells of changes on each."""
    listening(alice, carol)
    links = alice.link(bob), alice.link(bob)
    for number, link in enumerate(links):
        link.say(bob.update(f"on link {number}", number))
        look(alice)


@scenario("07", "37", long=True)
def pieces_of_messages(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Messages come in pieces that end within letters, and in such that have one message and a part of the next."""
    listening(alice, carol)
    link = alice.link(bob)
    for number in range(3):
        wire = bob.update(f"key {'x' * number}", "\u2603" * 200).wire
        link.send(wire[: len(wire) // 2], wire[len(wire) // 2 :])
    look(alice)
    wires = b"".join(bob.update(f"record {number}", number).wire for number in range(4))
    place = wires.index(b"}m", len(wires) // 2) - 40
    link.send(wires[:place], wires[place:])
    look(alice)


@scenario("37", long=True)
def a_burst_of_updates(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob sends a request and two hundred updates in one piece; Carol listens."""
    listening(alice, carol)
    link = alice.link(bob)
    updates = b"".join(bob.update(f"record-{number}", number).wire for number in range(200))
    link.send(bob.get_updates().wire + updates)
    look(alice)


@scenario("37", long=True)
def halves_of_messages(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Bob sends a whole message, the first half of another, and its rest seconds later; then Bob and Carol send halves
    in turn."""
    links = alice.link(bob), alice.link(carol)
    links[0].say(bob.update("whole", 0))
    look(alice)
    wire = bob.update("one", 1).wire
    links[0].send(wire[:100])
    for _ in range(2):
        alice.after(1_000).tick()
    links[0].send(wire[100:])
    look(alice)
    wires = bob.update("two", 2).wire, carol.update("three", 3).wire
    for half in (slice(100), slice(100, None)):
        for link, wire in zip(links, wires, strict=True):
            link.send(wire[half])
    look(alice)


@scenario("35", "14", long=True)
def what_ends_no_subscription(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer
) -> None:
    """Of four subscribers, Bob sends a ping, Carol sends a message of an unknown type, Erin sends an update without a
    uuid, and Dave opens a second connection without a request on it. Then the application and Bob change records."""
    erin = stage.peer("erin")
    links = [listening(alice, peer) for peer in (bob, carol, dave, erin)]
    alice.put("before", 0)
    stage.settle()
    links[0].send(PING)
    links[1].send(UNKNOWN)
    links[3].send(erin.update("bad", 1, without=("uuid",)))
    alice.link(dave)
    stage.settle()
    alice.after(1_000).put("after", 1)
    links[0].say(bob.update("of bob", 2))
    stage.settle()
    alice.after(1_000).delete("before")


@scenario("31", "59", long=True)
def asked_by_who_knows_others(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Requests name peers that are unknown here, and name with zero peers that have changed something."""
    alice.link(bob).say(bob.update("one", 1), bob.update("two", 2))
    alice.put("mine", 3)
    stage.settle()
    for since in ({carol.peer_id: 5}, {bob.peer_id: 0}, {bob.peer_id: 1, carol.peer_id: 7, alice.peer_id: 0}):
        link = listening(alice, stage.peer(f"asking {len(stage.trace.steps)}"), since)
        stage.settle()
        link.cut()


@scenario("33", "34", "59", "37")
def answers(
    stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer, dave: ScriptedPeer, eve: ScriptedPeer
) -> None:
    """A peer has records of three others with revisions that lie between each other; it is asked in several ways."""
    listening(alice, eve)
    told = []
    for peer, revisions in ((bob, (3, 9, 12)), (carol, (4, 8)), (dave, (1, 10))):
        link = alice.link(peer)
        for revision in revisions:
            peer.revision = revision - 1
            link.say(peer.update(f"{peer.name}-{revision}", revision))
        told.append(link)
    stage.settle()
    for link in told:
        link.cut()
    for since in (
        {},
        {bob.peer_id: 9},
        {bob.peer_id: 3, carol.peer_id: 4},
        {bob.peer_id: 12, carol.peer_id: 8, dave.peer_id: 1},
        {bob.peer_id: 8, dave.peer_id: 9},
    ):
        link = listening(alice, stage.peer(f"asking {len(stage.trace.steps)}"), since)
        stage.settle()
        link.cut()


@scenario("34", "37")
def its_own_changes_are_asked_for(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody has lost all that it had, and asks for its own changes with those of others."""
    link = alice.link(bob)
    link.say(bob.update("of-bob", 1))
    link.say(carol.update("of-carol", 2))
    look(alice)
    link.cut()
    for since in ({}, {carol.peer_id: 1}):
        link = listening(alice, bob, since)
        stage.settle()
        link.cut()


@scenario("29")
def an_older_change_comes_later(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Of two changes of one peer the second one comes from itself, and then the first one by somebody else."""
    first, second = bob.update("one", 1), bob.update("two", 2)
    alice.link(bob).say(second)
    stage.settle()
    alice.link(carol).say(first)
    stage.settle()
    alice.link(stage.peer("dave"))


@scenario("37", "29")
def others_know_more(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody asks who knows more than the peer does; then connections to others are made."""
    alice.link(bob).say(bob.update("one", 1))
    stage.settle()
    dave = stage.peer("dave")
    listening(alice, dave, {bob.peer_id: 5, carol.peer_id: 7, dave.peer_id: 9})
    stage.settle()
    alice.link(carol)


@scenario("02")
def its_own_changes_come_back(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A peer has lost all that it had; somebody tells it of what it wrote itself."""
    link = listening(alice, bob)
    alice.put("mine", 1)
    alice.after(1_000).put("mine too", 2)
    stage.settle()
    messages = list(link.updates)
    alice.reopen()
    link = alice.link(bob)
    if messages:
        link.send(*messages)
    look(alice)


@scenario("33", "37", "59")
def answers_about_own_changes(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The application has made changes; somebody asks for all, and for what followed each of the first."""
    for number in range(5):
        alice.after(1_000).put(f"key-{number}", number)
    link = look(alice)
    revisions = [message.body.members.get("last_updated_rev") for message in link.updates]
    for revision in revisions[:3]:
        link = listening(alice, bob, {alice.peer_id: revision})
        stage.settle()
        link.cut()


@scenario("35", "14", "20", "37")
def after_the_answer(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Somebody asks and is answered; then changes come from the application and from others, in turn. When nobody
    listens there is one more, and then everything is asked for."""
    alice.put("before", 0)
    link = listening(alice, bob)
    told = alice.link(carol)
    for number in range(3):
        alice.after(1_000).put(f"mine-{number}", number)
        told.say(carol.update(f"theirs-{number}", number))
    stage.settle()
    link.cut()
    alice.put("meanwhile", 1)
    listening(alice, bob, {alice.peer_id: 1})
    look(alice)


@scenario("36")
def two_connections(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """A peer opens two connections, and asks on the second one; then the first one breaks."""
    first = alice.link(bob)
    stage.settle()
    listening(alice, bob)
    stage.settle()
    alice.put("door", "open")
    stage.settle()
    first.say(bob.update("window", "shut"))
    stage.settle()
    first.cut()
    alice.put("gate", "open")


@scenario("02", "33", "37", long=True)
def many_from_one(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """Two hundred and sixty records come on one connection, one by one; somebody asks for all, and for what follows."""
    link = alice.link(bob)
    for number in range(260):
        if not link.broken:
            link.say(bob.update(f"record-{number}", number))
    alice.observe()
    known = len(look(alice).updates)
    # Who cuts its answers has the rest nevertheless.
    while known and (rest := listening(alice, stage.peer(f"asking on {known}"), {bob.peer_id: known + 1})):
        stage.settle()
        known = known + len(rest.updates) if rest.updates else 0


@scenario("37")
def several_at_once(stage: Stage, alice: Actor, bob: ScriptedPeer, carol: ScriptedPeer) -> None:
    """Seven updates come in one piece; somebody listens."""
    listening(alice, carol)
    link = alice.link(bob)
    link.send(b"".join(bob.update(f"record-{number}", number).wire for number in range(7)))
    look(alice)


@scenario("37", "29", "35")
def a_cut_in_the_middle(stage: Stage, alice: Actor, alan: Actor) -> None:
    """The connection of two peers breaks after two updates and a part of one; on the next one the rest comes."""
    line = alice.link(alan).hold()
    for number in range(6):
        alice.after(1_000).put(f"record-{number}", "x" * 50)
    stage.settle()
    line.let_through(alice, 1_000)
    line.cut()
    alice.link(alan)
    look(alan)


@scenario("37", "29")
def a_message_is_cut(stage: Stage, alice: Actor, bob: ScriptedPeer) -> None:
    """The connection breaks within the third message; on the next one that comes whole."""
    link = alice.link(bob)
    link.say(bob.update("one", 1), bob.update("two", 2))
    third = bob.update("three", 3)
    link.send(third.wire[:-40])
    link.cut()
    link = alice.link(bob)
    stage.settle()
    link.say(third)
    look(alice)
