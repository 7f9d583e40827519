"""Faults by rule: what can be changed in a source, under which name, and a copy of the model with one change."""

from __future__ import annotations

import ast
import sys
from importlib import import_module

import pytest

import sds_reference
from sds_conformance.judging.alterations.copies import copied
from sds_conformance.judging.alterations.places import AlterationPlace, altered, places, text_of
from sds_conformance.judging.alterations.source import Configuration, ModelSource
from sds_conformance.judging.alterations.syntax import alterations
from sds_conformance.protocols.sds.source import MODULES, SOURCE


def changes(source: str) -> list[tuple[str, str]]:
    """The rule and the first line that is another one, for each change to a source."""
    found = []
    for number, _ in enumerate(alterations(ast.parse(source))):
        tree = ast.parse(source)
        [*alterations(tree)][number].apply()
        before, after = ast.unparse(ast.parse(source)).splitlines(), ast.unparse(tree).splitlines()
        line = next(new for new, old in zip(after, before, strict=True) if new != old)
        found.append(([*alterations(ast.parse(source))][number].rule, line.strip()))
    return found


def named(name: str) -> AlterationPlace:
    return next(place for place in PLACES if place.name == name)


PLACES = places(SOURCE)


def test_a_choice_that_the_text_leaves_open_is_no_place_and_what_stands_beside_it_is() -> None:
    names = {place.name for place in PLACES}
    assert not [name for name in names if name.endswith("always: self.config.cascade_on_receive")]
    assert "channel.Channel.buffer: without: regular" in names
    assert "channel.Channel.buffer: without: self.config.buffer_syncs" not in names
    assert "sender.Sender.__init__: without: config.sds_r" in names


def test_what_the_model_does_not_take_from_its_caller_is_no_place_and_what_it_refuses_of_others_is() -> None:
    names = {place.name for place in PLACES}
    assert not [name for name in names if name.startswith("participant.Participant.channel:")]
    assert "participant.Participant.receive: never: not message.channel_id" in names


# ---- The rules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", [("opposite", "a >= b"), ("boundary", "a <= b")]),
        ("a == b", [("opposite", "a != b")]),
        ("0 < a <= b", [("opposite", "0 >= a <= b"), ("boundary", "0 <= a <= b")]),
        ("a in b", [("opposite", "a not in b")]),
        ("a and b or c", [("without", "c"), ("without", "a and b"), ("without", "b or c"), ("without", "a or c")]),
        ("f(a)", [("dropped", "pass")]),
        ("x = f(a, b, *c)", [("swapped", "x = f(b, a, *c)")]),
        ("x = f(a, a)", []),
        ("x = 1", [("one-more", "x = 2"), ("one-less", "x = 0")]),
        ("x = True", [("flipped", "x = False")]),
        ("x = not a", [("negated", "x = a")]),
        ("x += a", [("sign", "x -= a")]),
        ("x = a - b", [("sign", "x = a + b")]),
        ("if a: pass", [("always", "if True:"), ("never", "if False:"), ("negated", "if not a:")]),
        ("x = [a for a in b if a]", [("always", "x = [a for a in b if True]")]),
    ],
)
def test_what_a_rule_makes_of_it(source: str, expected: list[tuple[str, str]]) -> None:
    found = changes(source)
    assert [one for one in found if one in expected] == expected
    assert expected or not found


@pytest.mark.parametrize(
    "source",
    [
        '"""Words about what is 1."""',
        "assert a < 1, f(a)",
        "raise ValueError(f(a, 1))",
        "x = f'{a + 1}'",
        "def f(a: Literal[1] = 2) -> Literal[3]: return a",
        "@cache(1)\nclass C:\n    x: Literal[1]",
    ],
)
def test_what_only_words_and_types_depend_on_is_left_alone(source: str) -> None:
    assert changes(source) == []


# ---- The places ------------------------------------------------------------------------------------------------------


def test_every_place_has_a_name_of_its_own() -> None:
    assert len({place.name for place in PLACES}) == len(PLACES) > 800
    assert {place.module for place in PLACES} == set(MODULES)


def test_a_name_says_where_and_what_and_outlives_the_numbers_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "bloom_filter.RollingBloomFilter.to_wire: opposite: self._wire is None"
    place, moved = named(name), "# A remark.\n\n" + text_of(SOURCE.package, "bloom_filter")
    monkeypatch.setattr("sds_conformance.judging.alterations.places.text_of", lambda package, module: moved)
    later = next(p for p in places(ModelSource("sds_reference", ("bloom_filter",), (), SOURCE.start)) if p.name == name)
    assert later.line == place.line + 2
    assert (place.old, place.new) == ("self._wire is None", "self._wire is not None")


def test_of_several_alike_in_a_function_each_has_its_number() -> None:
    first = "bloom_profiles._masked: one-more: 1"
    assert named(first).line <= named("bloom_profiles._masked: one-less: 1").line
    assert any(place.name.endswith(" #2") for place in PLACES)


# ---- The copies ------------------------------------------------------------------------------------------------------


def test_a_copy_has_the_change_and_the_model_has_not() -> None:
    place = named("lamport_clock.LamportClock.next: one-more: 1")
    with copied("sds_reference", {place.module: altered("sds_reference", place)}) as name:
        copy = import_module(name)
        assert import_module(f"{name}.lamport_clock").LamportClock(10).next(0) == 12
        assert copy.Participant is not sds_reference.Participant
        assert isinstance(import_module(f"{name}.variants").VARIANTS, dict)
    assert import_module("sds_reference.lamport_clock").LamportClock(10).next(0) == 11
    assert not any(module.startswith(name) for module in sys.modules)
    with pytest.raises(ModuleNotFoundError):
        import_module(name)


def test_the_configurations_are_all_that_is_legal() -> None:
    first = SOURCE.configurations[0]
    assert first == Configuration("sds-2026-01")
    assert {c.variant for c in SOURCE.configurations} == {"", *import_module("sds_reference.variants").VARIANTS}
    assert {c.environment for c in SOURCE.configurations if c.variant} == {"plain"}
    assert Configuration("forum-2024", environment="sds-r") not in SOURCE.configurations
