"""Excerpts of traces: what is in them, that they say what the trace says, and that nothing wrong is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import pytest

from diagrams import SVG, of_class, parsed, texts
from run_helpers import T, stage
from sds_conformance.drawing import excerpt
from sds_conformance.drawing.excerpt import Excerpts, group_trace_of
from sds_harness.sds.stage import Stage
from sds_harness.sds.trace import Trace

HOSTILE = '</text><script>alert("x")</script>&\x00\x1b[31m\u202e'


def drawn(trace: Trace, blamed: int, shown: Iterable[int]) -> ElementTree.Element:
    svg = Excerpts(trace).svg(blamed, tuple(shown))
    assert svg
    return parsed(svg)


def names(svg: ElementTree.Element) -> list[str]:
    return [*texts(svg, "name"), *texts(svg, "name peer")]


def arrows(svg: ElementTree.Element) -> list[str]:
    """What each arrow says when one hovers over it."""
    return [group[0].text or "" for group in of_class(svg, "arrow") if group[0].tag == f"{SVG}title"]


def rows(svg: ElementTree.Element) -> list[str]:
    """The steps that are numbered at the side."""
    return [text for text in texts(svg, "step") if text not in ("step", "time")]


def waiting() -> Stage:
    """bob-2 waits for bob-1, and a state is shown."""
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    first = bob.content(T + 1)
    alice.receive(bob.content(T + 2, first))
    alice.after(5).tick()
    alice.receive(first)
    alice.observe()
    return on


def test_steps_have_the_numbers_of_the_trace_and_the_one_that_is_blamed_is_marked() -> None:
    svg = drawn(waiting().trace, 4, (1, 2, 4))
    assert rows(svg) == ["1", "2", "4"]
    (blame,) = of_class(svg, "blame")
    (delivers,) = [text for text in of_class(svg, "deliver") if (text.text or "").startswith("delivers")]
    assert abs(float(blame.get("cy", "0")) - float(delivers.get("y", "0"))) < 20
    assert "Step 4 of alice is marked." in (svg[1].text or "")


def test_steps_that_are_left_out_are_not_drawn_and_reported_of() -> None:
    on = stage()
    alice, bob = on.open(), on.peer("bob")
    for _ in range(6):
        alice.receive(bob.content(T))
    svg = drawn(on.trace, 6, (1, 2, 6))
    assert rows(svg) == ["1", "2", "6"]
    assert texts(svg, "note") == ["…"]
    assert "says bob-3" not in texts(svg)
    assert texts(drawn(on.trace, 3, (1, 2, 3)), "note") == []


def test_what_one_participant_broadcasts_flies_to_the_other() -> None:
    on = stage()
    alice, dora = on.open(), on.open("dora")
    sent = alice.send(b"hello")
    dora.receive(sent)
    group_trace = group_trace_of(on.trace)
    assert [packet.sender for packet in group_trace.packets] == ["alice"]
    svg = drawn(on.trace, 4, (2, 4))
    assert names(svg) == ["alice", "dora"]
    assert rows(svg) == ["2", "3", "4"], "the broadcast that arrives is drawn, too"
    (arrow,) = arrows(svg)
    assert "broadcast by alice at T (step 3); arrives at dora" in arrow


def test_of_a_trace_that_is_too_long_or_a_crowd_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    on = stage()
    alice = on.open()
    for number in range(12):
        alice.receive(on.peer(f"bob{number}").content(T))
    assert Excerpts(on.trace).svg(13, range(8, 14))
    assert Excerpts(on.trace).svg(13, range(1, 14)) == ""
    monkeypatch.setattr(excerpt, "MAX_STEPS", 12)
    assert Excerpts(on.trace).svg(13, range(8, 14)) == ""


def test_hostile_names_are_text() -> None:
    on = stage()
    on.open().receive(on.peer(HOSTILE).content(T, message_id=HOSTILE))
    svg = Excerpts(on.trace).svg(2, (1, 2))
    root = parsed(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert any("alert" in text for text in texts(root))
    assert not {character for character in svg if not character.isprintable()} - {"\n"}
