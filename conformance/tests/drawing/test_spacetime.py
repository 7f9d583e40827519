"""Space-time diagrams: their content, no overlaps, and no injected content."""

from __future__ import annotations

import re

import pytest

from diagrams import CAUSES, SVG, arrival, crowd, of_class, parsed, texts, unordered
from player_helpers import message, reference, shown
from sds_conformance.drawing import placement
from sds_conformance.drawing.shapes import Drawing, TextLine
from sds_conformance.drawing.spacetime import draw, spacetime_svg
from sds_harness.sds import operations as ops
from sds_harness.sds.group_trace import GroupTrace
from sds_harness.sds.operations import Member, Operation, Route
from sds_proto.testee.v1 import testee_pb2 as pb

Box = tuple[float, float, float, float]

HOSTILE = '</text><script>alert("x")</script>&\x00\x1b[31m\u202e'


@pytest.fixture(scope="module")
def crowded() -> GroupTrace:
    return crowd()


def overlaps(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def overlapping(labels: list[TextLine]) -> list[tuple[str, str]]:
    return [
        (one.text, other.text)
        for number, one in enumerate(labels)
        for other in labels[:number]
        if overlaps(one.box, other.box)
    ]


def test_a_diagram_is_complete_in_itself_and_has_no_scripts() -> None:
    root = parsed(spacetime_svg(shown(*CAUSES), title="A title"))
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "A title"
    assert "alice, bob, carol" in (root[1].text or "")
    assert not list(root.iter(f"{SVG}script"))
    assert not [e for e in root.iter() for name in e.attrib if name.startswith("on") or name.endswith("href")]


def test_a_diagram_follows_the_scheme_of_its_reader() -> None:
    root = parsed(spacetime_svg(shown(*CAUSES)))
    light, dark = "".join(root[2].text or "").split("@media (prefers-color-scheme: dark)")
    coloured = {name for name in selectors(light) if name != ".spacetime"}
    assert coloured == selectors(dark) - {".spacetime"} >= {".spacetime .paper", ".spacetime .frame"}
    assert of_class(root, "paper")
    assert root[3].get("fill") is None


def selectors(css: str) -> set[str]:
    """Of the rules that give something a colour."""
    rules = re.findall(r"([^{}]+)\{([^{}]*#[0-9a-f]{6}[^{}]*)\}", css)
    return {name.strip() for names, _ in rules for name in names.split(",")}


def test_every_arrival_has_an_arrow_and_every_loss_a_cross() -> None:
    group_trace = shown(
        ops.Send("alice", "m1", route=Route(lost=("bob",), twice=("carol",))),
        ops.Cut(("alice",), ("carol",)),
        ops.Send("alice", "m2", route=Route(late=(("bob", 500),))),
        ops.Sync("bob"),
        ops.Wait(1000),
    )
    arrivals = [act for act in group_trace.acts if act.step.command == "receive"]
    root = parsed(spacetime_svg(group_trace))
    arrows = of_class(root, "arrow")
    assert len(arrivals) == 5
    assert len(group_trace.losses) == 2
    assert len(arrows) == len(arrivals) + len(group_trace.losses)
    assert len(of_class(root, "arrow", "lost")) == len(of_class(root, "cross")) == 2
    assert ["cut" in (e[0].text or "") for e in of_class(root, "arrow", "lost")] == [False, True]
    assert "arrives at bob at T+500" in "".join(e[0].text or "" for e in arrows)


def test_the_step_that_is_blamed_is_marked_and_explained_with_names() -> None:
    group_trace, act = unordered()
    first, second = (message(group_trace, label).message_id for label in ("m1", "m2"))
    caption = f"expected: {first!r} before {second!r}\nseen: after it"
    root = parsed(spacetime_svg(group_trace, act, "G-01", caption))
    assert len(of_class(root, "blame")) == 1
    assert len(of_class(root, "band")) == 1
    assert texts(root, "caption") == ["expected: m1 before m2", "seen: after it"]
    assert texts(root, "where") == [f"Step {act.number}, T+10, bob"]
    assert "Log at step" in " ".join(texts(root, "heading"))


def test_labels_do_not_overlap_where_it_is_crowded(crowded: GroupTrace) -> None:
    drawing = draw(crowded, arrival(crowded, "dave", 30), "A crowd", "expected: this\nseen: that")
    assert len(drawing.labels) > 500
    assert overlapping(drawing.labels) == []
    assert overlapping(drawing.times) == []
    assert overlapping(drawing.texts) == []
    assert overlapping(drawing.notes) == []


def test_all_that_is_drawn_is_inside(crowded: GroupTrace) -> None:
    drawing = draw(crowded, None, "A crowd " * 40)
    for text in [*drawing.labels, *drawing.notes, *drawing.times, *drawing.texts]:
        left, top, right, bottom = text.box
        assert left >= 0
        assert top >= 0
        assert right <= drawing.width
        assert bottom <= drawing.height
    assert all(y <= drawing.height for _, y, *_ in drawing.legend)


def test_of_too_many_steps_those_around_the_blame_are_drawn(
    crowded: GroupTrace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "MAX_STEPS", 100)
    act = crowded.acts[400]
    drawing = draw(crowded, act)
    assert [dot.blamed for dot in drawing.dots].count(True) == 1
    assert len(drawing.dots) < 200
    assert any("steps are not drawn" in text.text for text in drawing.texts)


def hostile() -> GroupTrace:
    long = "x" * 5000
    members = (Member(HOSTILE), Member("bob"), Member("ca" * 900))
    operations: tuple[Operation, ...] = (
        ops.Send(HOSTILE, HOSTILE, content=HOSTILE),
        ops.Say(HOSTILE * 2, long, after=(HOSTILE, long + "y"), content=long),
        ops.Say(HOSTILE * 2, long + "z"),
        ops.Cut((HOSTILE,) * 90, (long,) * 90),
        ops.Look(),
    )
    return shown(*operations, members=members, channels=(HOSTILE,))


def test_hostile_names_and_ids_are_escaped_and_short_and_stay_inside() -> None:
    group_trace = hostile()
    svg = spacetime_svg(group_trace, group_trace.acts[-1], HOSTILE * 99, f"expected: {'x' * 5000!r}\nseen: {HOSTILE}")
    root = parsed(svg)
    assert "<script" not in svg
    assert not list(root.iter(f"{SVG}script"))
    assert len(svg) < 60_000
    assert max(len(e.text or "") for e in root.iter() if not e.tag.endswith("style")) < 400
    assert "\u202e" not in svg
    assert "\x1b" not in svg
    drawing: Drawing = draw(group_trace, group_trace.acts[-1], HOSTILE * 99, "y" * 5000)
    assert all(text.box[2] <= drawing.width for text in [*drawing.labels, *drawing.notes, *drawing.texts])
    assert overlapping(drawing.labels) == []


def test_an_implementation_that_breaks_down_is_shown() -> None:
    def breaks_down(request: pb.Request, _: pb.Reply) -> None:
        if request.HasField("receive"):
            raise RuntimeError("out of order")

    group_trace = shown(ops.Send("alice", "m1"), handle=reference(breaks_down))
    root = parsed(spacetime_svg(group_trace, group_trace.acts[-1]))
    assert "breaks down" in texts(root, "bad")
    assert len(of_class(root, "blame")) == 1
