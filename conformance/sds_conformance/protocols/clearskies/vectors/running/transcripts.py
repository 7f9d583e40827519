"""Vectors of the shape `club-transcript`: steps of one peer and its links, played one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from sds_harness.clearskies.frames import Frame
from sds_harness.clearskies.links import ScriptedLink
from sds_harness.clearskies.stage import Stage
from sds_harness.clearskies.streams import Message

from .....vectors.model import Outcome, Vector
from .....vectors.running.subject import Status, VectorResult, VectorSkippedError, judge_outcome, worst
from ..fields import numbers
from .subject import (
    ClearSkiesSubject,
    deliver_frames,
    deliver_updates,
    keys_of,
    let_time_pass,
    lower_uuid,
    matches_records,
    read_records,
    same_json,
)

StepResult = dict[str, Any]


def ask_transcript(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Play the steps, and compare the result of each step with its outcomes in the vector."""
    stage = subject.stage(vector["id"])
    player = _Player(subject, stage, vector)
    answers = []
    for number, step in enumerate(vector["steps"], 1):
        seen = player.play(step)
        answer = judge_outcome(seen, step["outcomes"], _matches)
        if answer.status is Status.FAIL:
            return VectorResult(answer.status, answer.expected, f"step {number} ({step['do']}): {answer.seen}")
        answers.append(answer)
    return worst(answers)


def _matches(seen: StepResult, outcome: Outcome) -> bool:
    """Does the result match the outcome? Parts that the outcome leaves out may have any value."""
    if "since" in outcome and seen.get("since") != outcome["since"]:
        return False
    for link, updates in outcome.get("updates", {}).items():
        got = seen["updates"].get(link, [])
        if len(got) != len(updates) or not all(map(_has_values, got, updates)):
            return False
    return "keys" not in outcome or matches_records(seen, outcome)


def _has_values(got: StepResult, wanted: StepResult) -> bool:
    return all(got.get(name) == value for name, value in wanted.items())


class _Player:
    """Plays the steps of one transcript."""

    def __init__(self, subject: ClearSkiesSubject, stage: Stage, vector: Vector) -> None:
        self._stage = stage
        self._actor = subject.peer(stage, vector)
        self._links: dict[str, ScriptedLink] = {}
        self._known: dict[str, int] = {}
        """The number of updates on each link in earlier steps."""
        self._bound: dict[str, Message] = {}
        self._actions: dict[str, Callable[[dict[str, Any]], object]] = {
            "connect": self._connect,
            "disconnect": lambda step: self._open_link(step).cut(),
            "ask": lambda step: deliver_frames(self._open_link(step), self._request_frame(step)),
            "update": lambda step: deliver_updates(self._actor, self._open_link(step), step["update"]),
            "repeat": lambda step: deliver_frames(self._open_link(step), self._repeated_frame(step)),
            "put": lambda step: self._actor.put(step["key"], json.loads(step["value"])),
            "delete": lambda step: self._actor.delete(step["key"]),
            "look": lambda step: None,
        }

    def play(self, step: dict[str, Any]) -> StepResult:
        """Play a step and return the result. Skips the vector if a link or an update that it needs does not exist."""
        self._actions[step["do"]](step)
        let_time_pass(self._actor)
        seen: StepResult = {"updates": {}}
        for name, link in self._links.items():
            new = link.updates[self._known.get(name, 0) :]
            self._known[name] = len(link.updates)
            if new:
                seen["updates"][name] = _drop_superseded(_drop_copies(map(_to_vector_update, new)))
                if "binds" in step:
                    self._bound[step["binds"]] = new[0]
        if step["do"] == "connect":
            seen["since"] = self._requested_revisions(self._open_link(step))
        if step["do"] == "look":
            seen.update(read_records(self._actor, keys_of(step)))
        return seen

    def _connect(self, step: dict[str, Any]) -> None:
        peer = self._stage.peer(step["link"], read_only=step["access_level"] == "read_only")
        peer.peer_id = step["peer_id"]
        self._links[step["link"]] = self._actor.link(peer)

    def _requested_revisions(self, link: ScriptedLink) -> Any:
        """The revisions in a link's request, without the peer's own revision and zeros; None if there is no request."""
        if not link.requests:
            return None
        since = link.requests[0].body.members.get("since")
        if not isinstance(since, dict):
            return since
        known = {peer: rev for peer, rev in since.items() if type(rev) is not int or rev}
        return {peer: _to_vector_value(rev) for peer, rev in known.items() if peer != self._actor.peer_id}

    def _open_link(self, step: dict[str, Any]) -> ScriptedLink:
        if step["link"] not in self._links:
            raise VectorSkippedError(f"link {step['link']} does not exist")
        return self._links[step["link"]]

    def _request_frame(self, step: dict[str, Any]) -> Frame:
        return self._open_link(step).peer.get_updates(numbers(step["since"]))

    def _repeated_frame(self, step: dict[str, Any]) -> Frame:
        if step["update"] not in self._bound:
            raise VectorSkippedError(f"{step['update']} was never sent")
        message = self._bound[step["update"]]
        return Frame(message.body.raw, message.signature)


def _drop_copies(updates: Iterable[StepResult]) -> list[StepResult]:
    """Remove repeated updates: the second of two equal updates has no effect."""
    out: list[StepResult] = []
    for each in updates:
        if not any(same_json(each, other) for other in out):
            out.append(each)
    return out


def _drop_superseded(updates: list[StepResult]) -> list[StepResult]:
    """Remove versions that a later version by the same writer replaces. A peer may answer with all versions."""
    return [update for update in updates if not any(_supersedes(other, update) for other in updates)]


def _supersedes(later: StepResult, update: StepResult) -> bool:
    """Is ``later`` the same record by the same writer, with a greater revision? Only integers are comparable."""
    same = all(same_json(later[name], update[name]) for name in ("uuid", "last_updated_by"))
    revisions = later["last_updated_rev"], update["last_updated_rev"]
    return same and all(isinstance(each, str) for each in revisions) and int(revisions[0]) > int(revisions[1])


def _to_vector_update(message: Message) -> StepResult:
    members = message.body.members
    fields = {name: members.get(name) for name in ("last_updated_by", "key")} | {
        "uuid": lower_uuid(members.get("uuid"))
    }
    revision = _to_vector_value(members.get("last_updated_rev"))
    return {**fields, "last_updated_rev": revision, "deleted": members.get("deleted", False)}


def _to_vector_value(value: Any) -> Any:
    """An integer as a decimal string, as in vectors; any other value in a list, so that it never equals an integer."""
    return str(value) if type(value) is int else [value]
