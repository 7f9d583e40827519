"""Plays vectors on Lamport timestamps that count from 0, as in the proposal of 2024.

A received message sets the local timestamp. Only timestamps that the proposal defines are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sds_harness.sds.actor import Actor
from sds_harness.stage import ScheduleStoppedError

from .....vectors.model import Vector
from .....vectors.running.subject import REFUSAL, Status, VectorResult, VectorSkippedError, judge_outcome
from .subject import SdsSubject, observed_part, refused
from .timestamps import LARGEST_INT32 as LARGEST
from .timestamps import PLAUSIBLE

RunOperation = Callable[[SdsSubject, Actor, str, int | None], dict[str, Any]]


def ask_counting(subject: SdsSubject, vector: Vector, run_operation: RunOperation) -> VectorResult:
    """Bring the local timestamp to the value of the vector, run the operation, and compare the new timestamp.

    An implementation that counts in larger steps reaches a larger value. All expected values are then larger by the
    same difference.
    """
    local = int(vector["local"])
    stage = subject.stage(vector["id"])
    stage.now_ms = int(vector["now_ms"])
    actor = stage.open()
    further = _reach_timestamp(actor, local) if local else 0
    if isinstance(further, VectorResult):
        return further
    received = int(vector["received"]) if "received" in vector else None
    if further and max(local, received or 0) + further + PLAUSIBLE > LARGEST:
        raise VectorSkippedError("counts in larger steps than one, so its timestamps would exceed 31 bits")
    seen = run_operation(subject, actor, vector["operation"], received + further if received is not None else None)
    if seen.get("sent") == "None":
        return VectorResult(Status.FAIL, "a message with a timestamp", "one without")
    if "sent" in seen:
        seen["sent"] = str(int(seen["sent"]) - further)
    now = observed_part(actor, "lamport_timestamp")
    if now is not None:
        seen["local"] = str(now - further)
    else:  # read the timestamp from the next message
        with suppress(ScheduleStoppedError):
            seen["next"] = str((actor.send().lamport_timestamp or 0) - further)
    return judge_outcome(seen, vector["outcomes"], _is_allowed)


def _reach_timestamp(actor: Actor, local: int) -> int | VectorResult:
    """Receive a message and send one; return by how much the timestamp of the sent message exceeds ``local``."""
    if local > 1:
        actor.receive(actor.stage.peer("setter").content(local - 1))
        if refused(actor):
            if local >= LARGEST - 1:
                raise VectorSkippedError("refuses timestamps at the end of 31 bits")
            return VectorResult(Status.FAIL, f"the timestamp {local - 1} to be accepted", "refused", difference=REFUSAL)
    try:
        reached = actor.send().lamport_timestamp or 0
    except ScheduleStoppedError:
        if local >= LARGEST - 1:
            raise VectorSkippedError("sends nothing at the largest 31-bit timestamp, which is legal") from None
        raise
    if reached < local:
        return VectorResult(Status.FAIL, f"a timestamp of {local} at least", f"{reached} in the message sent")
    if reached > local + PLAUSIBLE:
        raise VectorSkippedError(
            f"has the timestamp {reached} after a few messages, although the proposal requires only {local}"
        )
    return reached - local


def _is_allowed(seen: dict[str, Any], outcome: dict[str, Any]) -> bool:
    if bool(seen.get("rejected")) != bool(outcome.get("rejected")) or ("sent" in seen) != ("sent" in outcome):
        return False
    least = int(outcome["local"])
    most = int(outcome.get("up_to", least))
    if "next" in seen and not least < int(seen["next"]) <= most + PLAUSIBLE:
        return False
    return all(least <= int(seen[key]) <= most for key in ("sent", "local") if key in seen)
