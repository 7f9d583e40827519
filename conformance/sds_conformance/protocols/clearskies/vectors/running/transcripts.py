"""Vectors of one peer of a club that are played step by step."""

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
from .subject import ClearSkiesSubject, arrive, found, keys_of, let_time_pass, lowered, same_found, same_json, tell

Seen = dict[str, Any]


def ask_transcript(subject: ClearSkiesSubject, vector: Vector) -> VectorResult:
    """Play the steps, and compare the result of each."""
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


def _matches(seen: Seen, outcome: Outcome) -> bool:
    """Does the result match the outcome? Parts that the outcome leaves out may have any value."""
    if "since" in outcome and seen.get("since") != outcome["since"]:
        return False
    for link, updates in outcome.get("updates", {}).items():
        got = seen["updates"].get(link, [])
        if len(got) != len(updates) or not all(map(_has_values, got, updates)):
            return False
    return "keys" not in outcome or same_found(seen, outcome)


def _has_values(got: Seen, wanted: Seen) -> bool:
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
        self._does: dict[str, Callable[[dict[str, Any]], None]] = {
            "connect": self._connect,
            "disconnect": lambda step: self._open(step).cut(),
            "ask": lambda step: arrive(self._open(step), self._asking(step)),
            "update": lambda step: tell(self._actor, self._open(step), step["update"]),
            "repeat": lambda step: arrive(self._open(step), self._repeated(step)),
            "put": lambda step: self._ignored(self._actor.put(step["key"], json.loads(step["value"]))),
            "delete": lambda step: self._ignored(self._actor.delete(step["key"])),
            "look": lambda step: None,
        }

    def play(self, step: dict[str, Any]) -> Seen:
        """Play a step and return the result. Skips the vector if a link that it needs is closed."""
        self._does[step["do"]](step)
        let_time_pass(self._actor)
        seen: Seen = {"updates": {}}
        for name, link in self._links.items():
            new = link.updates[self._known.get(name, 0) :]
            self._known[name] = len(link.updates)
            if new:
                seen["updates"][name] = _drop_superseded(_without_copies(map(_update_in_vectors, new)))
                if "binds" in step:
                    self._bound[step["binds"]] = new[0]
        if step["do"] == "connect":
            seen["since"] = self._requested_revisions(self._open(step))
        if step["do"] == "look":
            seen.update(found(self._actor, keys_of(step)))
        return seen

    def _connect(self, step: dict[str, Any]) -> None:
        peer = self._stage.peer(step["link"], read_only=step["access_level"] == "read_only")
        peer.peer_id = step["peer_id"]
        self._links[step["link"]] = self._actor.link(peer)

    def _requested_revisions(self, link: ScriptedLink) -> Any:
        """The revisions in its request; None if it sent none. Its own entry and zero entries are optional."""
        if not link.requests:
            return None
        since = link.requests[0].body.members.get("since")
        if not isinstance(since, dict):
            return since
        known = {peer: rev for peer, rev in since.items() if type(rev) is not int or rev}
        return {peer: _in_vectors(rev) for peer, rev in known.items() if peer != self._actor.peer_id}

    def _open(self, step: dict[str, Any]) -> ScriptedLink:
        if step["link"] not in self._links:
            raise VectorSkippedError(f"there is no link {step['link']}")
        return self._links[step["link"]]

    def _asking(self, step: dict[str, Any]) -> Frame:
        return self._open(step).peer.get_updates(numbers(step["since"]))

    def _repeated(self, step: dict[str, Any]) -> Frame:
        if step["update"] not in self._bound:
            raise VectorSkippedError(f"{step['update']} was never sent")
        message = self._bound[step["update"]]
        return Frame(message.body.raw, message.signature)

    def _ignored(self, step: object) -> None:
        """Do nothing: the effect of a change is read from the links."""


def _without_copies(told: Iterable[Seen]) -> list[Seen]:
    """Remove repetitions: a second copy of an update has no effect."""
    out: list[Seen] = []
    for each in told:
        if not any(same_json(each, other) for other in out):
            out.append(each)
    return out


def _drop_superseded(updates: list[Seen]) -> list[Seen]:
    """Remove versions of a record that a later one of the same writer follows: a peer may answer with all versions."""

    def is_superseded(one: Seen) -> bool:
        return any(_same_record(one, other) and _is_later(other, one) for other in updates)

    return [update for update in updates if not is_superseded(update)]


def _same_record(one: Seen, other: Seen) -> bool:
    return all(same_json(one[name], other[name]) for name in ("uuid", "last_updated_by"))


def _is_later(one: Seen, other: Seen) -> bool:
    """Does it have a greater revision? A revision that is not an integer is not comparable."""
    revisions = one["last_updated_rev"], other["last_updated_rev"]
    return all(isinstance(each, str) for each in revisions) and int(revisions[0]) > int(revisions[1])


def _update_in_vectors(message: Message) -> Seen:
    members = message.body.members
    said = {name: members.get(name) for name in ("last_updated_by", "key")} | {"uuid": lowered(members.get("uuid"))}
    revision = _in_vectors(members.get("last_updated_rev"))
    return {**said, "last_updated_rev": revision, "deleted": members.get("deleted", False)}


def _in_vectors(value: Any) -> Any:
    """An integer in the form of vectors; any other value unchanged, so that it differs from an integer."""
    return str(value) if type(value) is int else [value]
