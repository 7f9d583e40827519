"""Limits of database peers: who holds less is found at exactly that size, and the reference has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clearskies_proto.testee.v1 import testee_pb2 as pb
from clearskies_reference.mutants import MUTANTS
from clearskies_vectors import Handle, altered, reference
from sds_conformance.exploration.limits.measurement import MeasurementOrder, measure, perform_handshake
from sds_conformance.exploration.limits.row import LimitRow, Weight
from sds_conformance.protocols.clearskies.dimensions import DIMENSIONS
from sds_conformance.protocols.clearskies.rules import RULES
from sds_harness.link import Limits, LocalLink


def row(handle: Handle, name: str, most: int) -> LimitRow:
    dimension = DIMENSIONS[name].of_text(RULES, "clearskies-database", "full")
    assert dimension is not None
    limited = replace(dimension, most=most)
    order = MeasurementOrder(
        lambda _: LocalLink(handle), Limits(), RULES, RULES.current, "full", None, False, [limited], 600.0
    )
    out = perform_handshake(order)
    measure(order, out)
    (only,) = out.rows
    return only


def peer(mutant: str) -> Handle:
    return reference(peer=MUTANTS[mutant].peer_class)


@pytest.mark.parametrize("name", [name for name in DIMENSIONS if name != "cost"])
def test_the_reference_has_no_limit(name: str) -> None:
    found = row(reference(), name, 20)
    assert (found.weight, found.held, found.reason) == (Weight.HELD, 20, "no larger size is played")


@pytest.mark.parametrize(
    ("mutant", "name", "held", "requirement"),
    [
        ("stores-at-most-256-records", "records", 256, "CSDB-02"),
        ("remembers-ten-deletions", "tombstones", 10, "CSDB-56"),
        ("reads-a-mebibyte", "body", 1 << 20, "CSDB-02"),
    ],
)
def test_who_holds_less_is_found_at_exactly_that_size(mutant: str, name: str, held: int, requirement: str) -> None:
    found = row(peer(mutant), name, 4 * held)
    assert (found.weight, found.held, found.exact, found.requirement) == (Weight.FINDING, held, True, requirement)


def hides_its_limits(request: pb.Request, reply: pb.Reply) -> None:
    if reply.HasField("hello"):
        reply.hello.ClearField("limits")


@pytest.mark.parametrize(("name", "held"), [("depth", 100), ("clock", 8_192)])
def test_a_limit_that_is_not_declared_is_found_and_only_reported(name: str, held: int) -> None:
    found = row(altered(hides_its_limits)(), name, 16_384)
    assert (found.weight, found.held, found.exact) == (Weight.WARNING, held, True)
