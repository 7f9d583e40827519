"""Content of a story: the steps that explain a finding, described for readers."""

from __future__ import annotations

from collections.abc import Callable

from run_helpers import T, altered, reference, stage
from sds_conformance.judging.verdict import Finding, Verdict
from sds_conformance.presentation.evidence import AFTER, LINES, RECENT, ROOM, Evidence, Exhibit
from sds_conformance.protocols.sds.protocol import PROTOCOL
from sds_conformance.protocols.sds.scenarios.repair.live import open_with_repairs
from sds_conformance.protocols.sds.scenarios.repair.participants import T_MAX_MS, T_MIN_MS
from sds_conformance.protocols.sds.words import LOG_SHOWN, Narrator
from sds_conformance.reports.stories import Found, _turn
from sds_harness.sds.actor import Actor
from sds_harness.sds.peer import entries_with_senders
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Trace
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference import HistoryEntry


def finding(step: int, expected: str, seen: str = "nothing") -> Finding:
    return Finding("SDS-X-01", "wrong", "by-hand", "plain", "alice", "c1", step, expected, seen, "", Verdict.FAIL)


def evidence_of(trace: Trace, found: Finding) -> Evidence:
    return Evidence(found, trace, PROTOCOL.narrator(trace))


def shown(trace: Trace, step: int, expected: str, seen: str = "nothing") -> list[Exhibit]:
    return evidence_of(trace, finding(step, expected, seen)).exhibits()


def numbers(exhibits: list[Exhibit]) -> list[int | None]:
    return [exhibit.step.index if exhibit.step is not None else None for exhibit in exhibits]


def chatter(actor: Actor, count: int) -> None:
    bystander = actor.stage.peer("bystander")
    for _ in range(count):
        actor.receive(bystander.content(T))


def test_what_a_finding_does_not_name_is_left_out_and_counted() -> None:
    on = stage()
    alice = on.open()
    chatter(alice, 10)
    late = on.peer("bob").content(T + 99)
    alice.receive(late)
    exhibits = shown(on.trace, 12, f"{late.message_id!r} delivered")
    assert numbers(exhibits) == [1, None, 12]
    assert exhibits[1].text == "10 more steps"
    assert exhibits[2].blamed
    assert exhibits[2].effects == ("delivers it",)


def test_what_follows_on_a_message_that_should_have_come_is_shown() -> None:
    on = stage()
    alice = on.open()
    bob = on.peer("bob")
    root = bob.content(T + 1)
    alice.receive(bob.content(T + 2, root))
    chatter(alice, 3)
    alice.receive(root)
    alice.tick()
    alice.tick()
    exhibits = shown(on.trace, 2, "'bob-2' delivered")
    assert numbers(exhibits) == [1, 2, None, 6, None]
    assert exhibits[-1].text == "2 more steps, 2 of them periodic work"


def test_a_long_story_keeps_its_beginning_and_its_end() -> None:
    on = stage()
    alice = on.open()
    own = alice.send()
    bob = on.peer("bob")
    for number in range(30):
        alice.receive(bob.content(T + number, own))
    exhibits = shown(on.trace, 32, f"{own.message_id!r} once")
    assert numbers(exhibits) == [1, 2, None, 30, 31, 32]
    assert len([e for e in exhibits if e.step is not None]) == ROOM
    later = shown(on.trace, 3, f"{own.message_id!r} once")
    assert len([e for e in later if e.step is not None]) == 3 + AFTER


def test_what_follows_is_left_out_where_something_was_seen() -> None:
    on = stage()
    alice = on.open()
    bob = on.peer("bob")
    root = bob.content(T + 1)
    alice.receive(root)
    alice.receive(root)
    alice.tick()
    assert numbers(shown(on.trace, 2, "'bob-1' to wait", "its delivery")) == [1, 2]


def test_a_finding_that_names_no_message_shows_the_last_steps() -> None:
    on = stage()
    alice = on.open()
    for _ in range(20):
        alice.observe()
        alice.send()
    exhibits = shown(on.trace, 41, "a message without a bloom filter", "one")
    assert numbers(exhibits) == [1, None, 33, None, 35, None, 37, None, 39, None, 41]
    assert len(exhibits) == 2 * RECENT + 3


def test_a_timestamp_that_a_finding_names_is_introduced_by_the_step_that_carries_it() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    chatter(alice, 3)
    alice.receive(bob.content(T + 500))
    chatter(alice, 20)
    alice.send()
    told = f"lamport_timestamp {T + 1} = max(now {T}, previous {T} + 1): other channels change nothing"
    exhibits = shown(on.trace, 26, told, str(T + 501))
    assert 5 in numbers(exhibits)
    assert "Lamport T+500" in next(e.text for e in exhibits if e.step is not None and e.step.index == 5)


def test_a_timestamp_that_only_another_participant_saw_is_introduced_there() -> None:
    on = stage()
    carol = on.open("carol")
    carol.receive(on.peer("bob").content(T + 500))
    on.open().send()
    assert 2 in numbers(shown(on.trace, 4, f"a message after those before it, the last of which has Lamport {T + 500}"))


def test_the_request_for_a_message_is_shown_also_in_a_copy() -> None:
    on = stage()
    alice, bob, carol = open_with_repairs(on), on.peer("bob"), on.peer("carol")
    here = bob.content(T + 1)
    known = carol.content(T + 2)
    alice.receive(here, known)
    chatter(alice, 8)
    again = carol.content(T + 2, message_id=known.message_id, requests=entries_with_senders(here))
    alice.receive(again)
    chatter(alice, 8)
    alice.tick()
    last = len(on.trace.steps)
    exhibits = shown(on.trace, last, f"{here.message_id!r}, asked for in a copy, sent again")
    request = next(e for e in exhibits if e.step is not None and e.step.index == 12)
    assert f"asks for {here.message_id!r}" in request.text


def test_other_channels_that_use_the_same_id_are_left_out() -> None:
    on = stage()
    alice = on.open(channels=("c1", "c2"))
    for channel in ("c2", "c1", "c2"):
        alice.receive(on.peer("bob", channel).content(T, message_id="twice"))
    assert numbers(shown(on.trace, 3, "'twice' delivered")) == [1, None, 3, None]


def test_a_gap_says_that_nothing_in_it_speaks_for_the_message() -> None:
    on = stage()
    alice = on.open()
    own = alice.send(message_id="own")
    chatter(alice, 3)
    alice.tick()
    exhibits = shown(on.trace, 6, f"{own.message_id!r} unacknowledged: nothing speaks for it", "acknowledged")
    assert [e.text for e in exhibits if e.step is None] == ["3 more steps, none with 'own'"]


def test_periodic_work_of_which_the_same_comes_out_is_shown_twice_at_most() -> None:
    on = stage()
    alice = on.open()
    own = alice.send(message_id="own")
    for _ in range(20):
        on.advance(90_000)
        alice.tick()
    exhibits = shown(on.trace, 22, f"no copy of {own.message_id!r}", "one")
    assert len([e for e in exhibits if e.step is not None and e.step.command == "tick"]) <= 3


def test_of_a_state_the_parts_are_shown_that_the_finding_is_about() -> None:
    on = stage()
    alice, bob = open_with_repairs(on), on.peer("bob")
    alice.receive(bob.content(T + 2, "lost"))
    alice.observe()
    narrator, step = Narrator(on.trace), on.trace.steps[-1]
    assert {line.split(":")[0] for line in narrator.came_out(step)} >= {"Lamport timestamp T", "log", "incoming buffer"}
    assert narrator.came_out(step, told="the local timestamp 5") == ["Lamport timestamp T"]
    assert narrator.came_out(step, told="'bob-1' before 'bob-2' in the log")[0].startswith("log: ")
    assert narrator.came_out(step, told="'x' among what is to be answered") == ["to answer for: nothing"]


def test_deliveries_are_told_in_their_order() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    root = bob.content(T + 1, message_id="z-root")
    first = bob.content(T + 2, root, message_id="m-1")
    alice.receive(first, bob.content(T + 3, first, message_id="a-2"), root)
    told = shown(on.trace, 4, "'m-1' delivered after 'a-2'", "before it")[-1].effects
    assert told == ("delivers 'z-root', then 'm-1', then 'a-2'",)


def test_malformed_messages_are_shown_as_bytes() -> None:
    on = stage()
    alice = on.open()
    alice.receive(b"\x80")
    alice.receive(bytes(range(0x80, 0xC2)))
    one, many = (Narrator(on.trace).done(step) for step in on.trace.steps[-2:])
    assert one == "alice receives 1 byte that is no SDS message: 80"
    assert many.startswith("alice receives 66 bytes that are no SDS message: 80818283 84858687 ")
    assert many.endswith(" bcbdbebf ... and 2 more bytes")


def test_times_are_told_from_the_start_and_ids_as_in_the_steps() -> None:
    on = stage()
    own = on.open().send().message_id
    evidence = evidence_of(on.trace, finding(2, f"{own!r} with {T + 5}, after ['bob-1', 'bob-2']", f"{T - 7} and []"))
    assert evidence.expected == f"'{own[:8]}…{own[-4:]}' with T+5, after 'bob-1', 'bob-2'"
    assert evidence.seen == "T-7 and none"


def test_a_number_that_is_part_of_an_id_is_no_time() -> None:
    on = stage()
    on.open()
    evidence = evidence_of(on.trace, finding(1, f"'m-{T}' and '{T}' and {2**63}"))
    assert evidence.expected == f"'m-{T}' and '{T}' and {2**63}"


def test_what_looks_the_same_is_spelt_out() -> None:
    on = stage()
    on.open()
    assert evidence_of(on.trace, finding(1, "'alicé'", "'alice\u0301'")).difference == (
        "'alice\\u0301' where 'alic\\xe9' was expected"
    )
    assert evidence_of(on.trace, finding(1, "'alice'", "'Alice'")).difference == ""


# ---- What is left out is counted, and what the finding rests on never is ---------------------------------------------


def crowded(change: Callable[[pb.Request, pb.Reply], None]) -> tuple[Stage, Actor]:
    on = stage(altered(change))
    return on, on.open()


def test_effects_that_are_left_out_are_counted_and_those_that_are_named_are_shown_in_order() -> None:
    def delivers_ten(request: pb.Request, reply: pb.Reply) -> None:
        if request.HasField("receive"):
            for number in range(10):
                event = reply.effects.events.add(channel_id="c1")
                event.delivered.message_id = f"m-{number}"

    on, alice = crowded(delivers_ten)
    alice.receive(on.peer("bob").content(T, message_id="m-0"))
    blamed = shown(on.trace, 2, "'m-0' before 'm-9'")[-1]
    assert blamed.effects == ("delivers 'm-0', then 'm-0', then 'm-1', then 'm-9' and 7 more",)


def test_broadcasts_that_are_left_out_are_counted() -> None:
    on = stage()
    alice = on.open()
    for number in range(9):
        alice.send(message_id=f"own-{number}")
    on.advance(90_000)
    alice.tick()
    blamed = shown(on.trace, 11, "no copy of the message", "one")[-1]
    assert blamed.effects[-1] == f"… {9 - LINES} more"
    assert len(blamed.effects) == LINES + 1


def test_entries_that_are_left_out_are_counted_and_those_that_are_named_are_shown() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    names = [f"lost-{number}" for number in range(9)]
    alice.receive(bob.content(T + 5, *names))
    for _ in range(8):
        alice.receive(bob.content(T + 9, "never"))
    alice.observe()
    narrator, (received, observed) = Narrator(on.trace), (on.trace.steps[1], on.trace.steps[-1])
    assert "after 'lost-0', 'lost-1', 'lost-2' and 6 more" in narrator.done(received)
    assert "after 'lost-0', 'lost-1', 'lost-8' and 6 more" in narrator.done(received, frozenset({"lost-8"}))
    (signal,) = narrator.came_out(received, frozenset({"lost-8"}))
    assert signal == "signals missing: 'lost-0', 'lost-1', 'lost-2', 'lost-8' and 5 more"
    (waiting,) = [line for line in narrator.came_out(observed, frozenset({"bob-9"})) if line.startswith("incoming")]
    assert "'bob-9'" in waiting
    assert waiting.endswith(" and 3 more")


def test_a_page_shows_the_entry_that_the_finding_names_among_many() -> None:
    on = stage()
    alice, bob = open_with_repairs(on), on.peer("bob")
    alice.receive(bob.content(T, *(HistoryEntry(f"lost-{number:02}", None, "bob") for number in range(30))))
    alice.observe()
    row = {"severity": "fail", "step": 3, "expected": "no request for 'lost-27'", "seen": "one"}
    turn = _turn(Narrator(on.trace), on.trace.steps[-1], [Found("SDS-X-01", row)])
    (line,) = [line for line in turn.effects if line.startswith("to ask for: ")]
    assert "'lost-27' at T+" in line
    assert " and 24 more" in line


def test_of_an_outgoing_buffer_the_rest_is_counted() -> None:
    on = stage()
    alice = on.open()
    for number in range(9):
        alice.send(message_id=f"own-{number}")
    alice.observe()
    lines = Narrator(on.trace).came_out(on.trace.steps[-1])
    assert [line for line in lines if line.startswith("outgoing") and line.endswith(" and 3 more")]


def test_two_entries_of_a_log_that_stand_far_apart_are_both_shown() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    for number in range(20):
        alice.receive(bob.content(T + number, message_id=f"m-{number:02}"))
    alice.observe()
    (log,) = [line for line in shown(on.trace, 22, "'m-17' before 'm-03'")[-1].effects if line.startswith("log")]
    assert log == (
        "log: 2 before, 'm-02' (T+2), 'm-03' (T+3), 'm-04' (T+4), 'm-05' (T+5), 'm-06' (T+6), 'm-07' (T+7), "
        "9 between, 'm-17' (T+17), 2 after"
    )


def test_steps_of_others_are_shown_where_they_matter_and_counted_where_not() -> None:
    on = stage()
    alice, carol = on.open(), on.open("carol")
    known = carol.send(message_id="said-before")
    carol.send()
    alice.receive(known)
    exhibits = shown(on.trace, 5, "'said-before' delivered")
    assert numbers(exhibits) == [1, None, 3, None, 5]
    assert [e.text for e in exhibits if e.step is None] == [
        "1 more step of other participants",
        "1 more step of other participants",
    ]
    assert exhibits[2].text.startswith("carol sends ")


def test_a_step_that_the_finding_names_is_shown() -> None:
    on = stage()
    alice, carol = on.open(), on.open("carol")
    carol.tick()
    for _ in range(30):
        alice.send()
    assert {3, 14} <= set(numbers(shown(on.trace, 33, "another filter than at step 14", "that of step 3")))


# ---- Texts of steps --------------------------------------------------------------------------------------------------


def told(on: Stage) -> list[str]:
    narrator = Narrator(on.trace)
    return [narrator.done(step) for step in on.trace.steps]


def test_a_filter_is_told_by_what_it_holds() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    own = [alice.send(message_id=f"own-{number}", content=b"x") for number in range(3)]
    alice.receive(bob.content(T, bloom_filter=on.filter_over("own-0", "own-2")))
    alice.receive(bob.content(T, bloom_filter=on.filter_over("another")))
    alice.receive(bob.content(T, bloom_filter=b"\x00"))
    lines = told(on)
    assert len(own) == 3
    assert "filter that holds 'own-0', 'own-2'" in lines[4]
    assert "filter without any of its own" in lines[5]
    assert "filter of 1 byte)" in lines[6]
    narrator = Narrator(on.trace)
    assert {"own-0", "own-2"} < narrator.touches(on.trace.steps[4])
    assert {"own-0", "own-1", "own-2"} < narrator.touches(on.trace.steps[5])


def test_channels_hints_and_contents_are_told_where_they_matter() -> None:
    on = stage()
    alice = on.open(channels=("c1", "c2"))
    alice.send(b"hello", channel_id="c2", retrieval_hint=b"place")
    alice.receive(on.peer("bob", "c2").content(T, content=b"hello"), retrieval_hint=b"\xff")
    lines = told(on)
    assert lines[1].startswith("alice sends 'hello' as '")
    assert lines[1].endswith(" in c2 at T, with the hint 'place'")
    assert "says 'hello'" in lines[2]
    assert lines[2].endswith(" in c2, with the hint ff")


def test_where_there_is_one_channel_it_is_not_named_again() -> None:
    on = stage()
    on.open().send()
    assert "c1" not in told(on)[1]


def test_hostile_names_are_cleaned() -> None:
    def hostile(request: pb.Request, reply: pb.Reply) -> None:
        if reply.effects.message_id:
            reply.effects.message_id = "\x1b[31mred\x07"

    on = stage(altered(hostile, reference()))
    on.open("ali\x1b[31mce").send()
    assert all(line.isprintable() for line in told(on))


# ---- Repairs -----------------------------------------------------------------------------------------------------


def test_what_is_asked_for_is_told_with_its_hints_and_long_lists_are_cut() -> None:
    on = stage()
    alice, bob = open_with_repairs(on), on.peer("bob")
    alice.receive(bob.sync(T, requests=[HistoryEntry("one", b"where"), "two"]))
    alice.receive(bob.sync(T, "root", requests=[f"m-{number}" for number in range(6)]))
    lines = told(on)
    assert lines[1] == (
        "alice receives sync 'sync-bob-1' of bob (Lamport T, asks for 'one' with the hint 'where', 'two')"
    )
    assert lines[2].endswith("(Lamport T, after 'root', asks for 'm-0', 'm-1', 'm-2' and 3 more)")
    narrator = Narrator(on.trace)
    assert {"one", "two"} <= narrator.touches(on.trace.steps[1])
    assert {"root", "m-0", "m-5"} <= narrator.touches(on.trace.steps[2])


def test_requests_and_answers_of_the_participant_are_told() -> None:
    on = stage()
    alice, bob = open_with_repairs(on), on.peer("bob")
    here, lost = bob.content(T + 1), bob.content(T + 2)
    alice.receive(here, bob.content(T + 3, *entries_with_senders(lost)))
    alice.receive(bob.sync(T, requests=entries_with_senders(here)))
    on.advance(T_MAX_MS)
    sent, answered = alice.send(), alice.tick()
    narrator = Narrator(on.trace)
    (broadcast,) = narrator.came_out(on.trace.steps[-2])
    assert "asks for 'bob-2'" in broadcast
    assert narrator.touches(on.trace.steps[-2]) >= {sent.message_id, "bob-2"}
    assert narrator.came_out(answered) == ["broadcasts content 'bob-1' of bob (Lamport T+1)"]
    assert "bob-1" in narrator.touches(answered)


def test_the_buffers_of_repairs_are_told_with_their_times() -> None:
    def fixes_times(request: pb.Request, reply: pb.Reply) -> None:
        if reply.HasField("state"):
            for entry in reply.state.outgoing_repairs.entries:
                entry.due_ms = T + T_MIN_MS
            for entry in reply.state.incoming_repairs.entries:
                entry.due_ms = T

    on = stage(altered(fixes_times))
    alice, bob = open_with_repairs(on), on.peer("bob")
    here = bob.content(T + 1)
    alice.observe()
    alice.receive(here, bob.content(T + 3, HistoryEntry("lost", None, "bob"), requests=entries_with_senders(here)))
    alice.observe()
    narrator = Narrator(on.trace)
    before, after = on.trace.steps[1], on.trace.steps[-1]
    assert not any(line.startswith("to ") for line in narrator.came_out(before))
    assert narrator.came_out(after)[-2:] == ["to ask for: 'lost' at T+30000", "to answer for: 'bob-1' at T"]
    assert narrator.touches(after) >= {"lost", "bob-1"}
    assert narrator.touches(before) == frozenset()


def test_of_a_long_buffer_what_it_is_about_is_shown() -> None:
    on = stage()
    alice, bob = open_with_repairs(on), on.peer("bob")
    entries = [HistoryEntry(f"lost-{number:02}", None, "bob") for number in range(20)]
    alice.receive(bob.content(T, *entries))
    alice.observe()
    narrator, step = Narrator(on.trace), on.trace.steps[-1]
    (line,) = [line for line in narrator.came_out(step, frozenset({"lost-07"})) if line.startswith("to ask for")]
    assert "'lost-07' at T+" in line
    assert line.count("lost-") == LOG_SHOWN
    exhibits = shown(on.trace, step.index, "'lost-07' in the outgoing repair request buffer", "it is not")
    assert numbers(exhibits) == [1, 2, 3]
    assert exhibits[-1].effects[0] == line
