"""A message that names an empty ID may wait for it, and what is unmet is asked for (AMB-46)."""

from __future__ import annotations

import pytest

from run_helpers import outcomes, reference, stage, view
from sds_conformance.judging.judgement import Outcome
from sds_conformance.protocols.sds.checks.repair import fields
from sds_harness.sds.stage import Stage
from sds_proto.testee.v1 import testee_pb2 as pb
from sds_reference.variants import VARIANTS


def asked(*dependencies: str) -> Stage:
    """A message names these IDs, which never come, and their request is due."""
    on = stage(reference(participant=VARIANTS["asks-for-the-empty-id"].participant_class))
    alice = on.open(configuration=pb.Configuration(sds_r=True, t_min_ms=30_000, t_max_ms=120_000))
    alice.receive(on.peer("bob").content(on.now_ms + 1, *dependencies))
    alice.after(120_000).send()
    return on


@pytest.mark.parametrize("dependencies", [("",), ("never-sent", ""), ("never-sent",)])
def test_a_request_for_the_empty_id_that_a_message_named_is_legal(dependencies: tuple[str, ...]) -> None:
    seen = view(asked(*dependencies))
    wire = next(sent.wire for sent in seen.repair.carriers)
    assert sum(field.number == 13 for field in wire.fields or ()) == len(dependencies)
    assert Outcome.VIOLATED not in outcomes(fields.requests_in_field_13, seen)
