"""Helpers for tests of the harness of ClearSkies: stages on the model, in this process."""

from __future__ import annotations

import json
from itertools import count
from random import Random
from typing import Any

from clearskies_reference.testee.server import Testee, TesteeOptions
from sds_harness.clearskies.actor import Actor
from sds_harness.clearskies.language import open_session
from sds_harness.clearskies.stage import Stage
from sds_harness.environment import PLAIN, Environment
from sds_harness.link import Limits, LocalLink
from sds_harness.session import Session

REVISION = "clearskies-database"
_seeds = count()


def session_of(testee: Any = None, **options: Any) -> Session:
    """A session with a model, or with anything that answers requests."""
    if testee is None:
        draw = Random(next(_seeds)).randbytes
        testee = Testee(TesteeOptions("1", draw=draw, **options))
    return open_session(lambda: LocalLink(testee.handle), Limits(), REVISION)


def stage_of(environment: Environment = PLAIN, testee: Any = None, **options: Any) -> Stage:
    return Stage(session_of(testee, **options), "a schedule", None, environment)


def values(actor: Actor) -> dict[str, Any]:
    """The values that the application of a peer sees, by key."""
    state = actor.observe()
    assert state is not None
    return {record.key: json.loads(record.value) for record in state.records if not record.deleted}


def without(*capabilities: int) -> dict[str, Any]:
    """Options of a model that does not declare some capabilities."""
    return {"without": frozenset(capabilities)}
