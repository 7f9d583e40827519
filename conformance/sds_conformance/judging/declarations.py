"""Random declarations, tested with the unchanged model and with models whose faults no declaration may hide.

The declaration of an implementation decides which checks apply to it, so a declaration can hide a fault. Some faults
are so severe that no declaration may hide them:

- *deaf*: the model drops every message that it receives;
- *half-deaf*: the model drops every second message;
- *refusing*: the model rejects every message;
- *mute*: the model sends nothing;
- *forgetful*: the model loses its state after each command.

`examine_declaration` plays a model with each of these faults, and the unchanged model, with one declaration.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sds_harness.declaration import VIRTUAL_CLOCK
from sds_harness.language import Language
from sds_harness.link import Limits, Link

from .certification import Certification, certify
from .exercise import Model
from .exits import Exit
from .plan import plan
from .rules import Rules
from .run_player import VERDICTS
from .verdict import Verdict

HONEST = "honest"
DEAF = "deaf"
HALF_DEAF = "half-deaf"
REFUSING = "refusing"
MUTE = "mute"
FORGETFUL = "forgetful"
BROKEN = (DEAF, HALF_DEAF, REFUSING, MUTE, FORGETFUL)
MOST_CHANGES = 3
"""Maximum number of changes to a declaration."""
_LARGEST = (1 << 64) - 1
_EDGES = (0, 1, 2, 1_000, 60_000, _LARGEST)
"""Values to declare for every limit, besides the smallest and largest supported value of the limit and the values next
to these.
"""
PRIVATE = "private"
"""The name of a profile that the suite does not implement."""
_ADVERSE_VERDICTS = (Verdict.FAIL, Verdict.WARN, Verdict.ERROR)


@dataclass(frozen=True)
class Declared:
    """One declaration, as changes to the declaration of the model."""

    revision: str
    capabilities: frozenset[int]
    limits: Mapping[str, int] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)

    def summary(self, language: Language) -> str:
        """One line with the revision, the declared or the missing capabilities, the limits and the profiles."""
        missing = _all_capabilities(language) - self.capabilities
        few, how = (self.capabilities, "only") if len(self.capabilities) < len(missing) else (missing, "without")
        names = ", ".join(sorted(map(language.name_of, few)))
        parts = [self.revision]
        parts += [f"{how} {names}" if names else "no capabilities" if how == "only" else "all capabilities"]
        parts += [f"{name} {value}" for name, value in self.limits.items()]
        parts += [f"{name} profile {profile!r}" for name, profile in self.profiles.items()]
        return ", ".join(parts)


def _all_capabilities(language: Language) -> frozenset[int]:
    """Return all capabilities except those that declare a restriction of the implementation."""
    names = language.capabilities.items()
    return frozenset(number for name, number in names if number and not name.endswith("-required"))


def declarations(rules: Rules, count: int, seed: int) -> Iterator[Declared]:
    """Draw ``count`` declarations with one to three changes each. Equal seeds give equal declarations."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _draw(rules, chance)


def _draw(rules: Rules, chance: random.Random) -> Declared:
    language = rules.language
    every, revision = _all_capabilities(language), chance.choice(list(rules.revisions))
    hello = language.reply().hello.DESCRIPTOR.fields_by_name
    limits = [each.name for each in hello["limits"].message_type.fields]
    profiles = [each.name for each in hello["profiles"].message_type.fields if each.name != "dialect"]
    dialects = [name for name in rules.dialects if rules.dialect(revision, name) is not None]
    capabilities = set(chance.choice((every, frozenset())))
    declared, private = dict[str, int](), dict[str, str]()
    for _ in range(chance.randint(1, MOST_CHANGES)):
        kind = chance.choice(("limit", "limit", "capability", "capabilities", "profile", "dialect"))
        if kind == "limit":
            name = chance.choice(limits)
            honoured = language.honoured.get(name)
            edges = (honoured.least, honoured.most) if honoured is not None else ()
            near = [edge + step for edge in edges for step in (-1, 0, 1) if 0 <= edge + step <= _LARGEST]
            declared[name] = chance.choice([*_EDGES, *near])
        elif kind == "capability":
            capabilities ^= {chance.choice(sorted(every))}
        elif kind == "capabilities":
            capabilities = {capability for capability in sorted(every) if chance.random() < 0.5}
        elif kind == "profile":
            private[chance.choice(profiles)] = chance.choice((PRIVATE, ""))
        elif dialects:
            private["dialect"] = chance.choice(dialects)
    return Declared(revision, frozenset(capabilities), declared, private)


class Disguise(Link):
    """The model with another declaration, and optionally with one of the faults in the docstring of this module
    (``how``).
    """

    def __init__(self, model: Link, language: Language, declared: Declared, how: str = HONEST) -> None:
        self._model, self._language, self._declared, self._how = model, language, declared, how
        clock = language.number_of(VIRTUAL_CLOCK)
        self._own_clock = clock is not None and clock not in declared.capabilities
        self._received = 0
        self._opened: dict[int, list[Any]] = {}
        """By handle: the commands that recreate the initial state of the participant."""
        self._handles: dict[int, int] = {}
        """Maps handles of the harness to handles of the model."""

    def call(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        command = request.WhichOneof("command") or ""
        asked_request = self._language.request()
        asked_request.CopyFrom(request)
        fields = getattr(asked_request, command, None)
        if self._own_clock and fields is not None and "now_ms" in fields.DESCRIPTOR.fields_by_name:
            fields.now_ms = time.time_ns() // 1_000_000  # noqa: TID251 - the clock of an implementation
        if command == "receive" and self._is_dropped():
            answer = reply(id=request.id)
            if self._how == REFUSING:
                answer.rejected.reason = "not today"
            else:
                answer.effects.SetInParent()
            return answer
        if self._how == FORGETFUL:
            answer = self._answer_forgetfully(command, asked_request, timeout_s, reply)
        else:
            answer = self._model.call(asked_request, timeout_s, reply)
        if command == "hello":
            self._declare(answer.hello)
        if self._how == MUTE and answer.WhichOneof("answer") == "effects":
            for spoken in ("broadcasts", "sent"):
                if spoken in answer.effects.DESCRIPTOR.fields_by_name:
                    answer.effects.ClearField(spoken)
        return answer

    def call_unknown(self, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        return self._model.call_unknown(request, timeout_s, reply)

    def _is_dropped(self) -> bool:
        """Count an arriving message, and return whether the model must drop or reject it."""
        self._received += 1
        return self._how in (DEAF, REFUSING) or (self._how == HALF_DEAF and self._received % 2 == 0)

    def _declare(self, hello: Any) -> None:
        hello.ClearField("limits")
        del hello.capabilities[:]
        hello.capabilities.extend(sorted(self._declared.capabilities))
        for name, limit in self._declared.limits.items():
            setattr(hello.limits, name, limit)
        for name, profile in self._declared.profiles.items():
            setattr(hello.profiles, name, profile)

    def _answer_forgetfully(self, command: str, request: Any, timeout_s: float, reply: type[Any]) -> Any:
        """Answer a command with a new participant in the initial state, so that no state of earlier commands is
        left.
        """
        fields = getattr(request, command, None)
        handle = getattr(fields, "handle", 0)
        if command not in ("open", "close") and handle in self._opened:
            for number, before in enumerate(self._opened[handle]):
                again = self._language.request()
                again.CopyFrom(before)
                if number:
                    getattr(again, again.WhichOneof("command")).handle = self._handles[handle]
                made = self._model.call(again, timeout_s, reply)
                if not number and made.WhichOneof("answer") == "opened":
                    self._handles[handle] = made.opened.handle
            assert fields is not None, "what has a handle"
            fields.handle = self._handles[handle]
        answer = self._model.call(request, timeout_s, reply)
        if command == "open" and answer.WhichOneof("answer") == "opened":
            handle = answer.opened.handle = len(self._opened) + 1_000_000
            self._opened[handle] = [request]
        elif command == "connect" and handle in self._opened:
            self._opened[handle].append(request)
        elif command == "disconnect" and handle in self._opened:
            self._opened[handle] = [
                each
                for each in self._opened[handle]
                if each.WhichOneof("command") != "connect" or each.connect.link != request.disconnect.link
            ]
        return answer


@dataclass(frozen=True)
class DeclarationResults:
    """The results of one declaration."""

    protocol: str
    declared: str
    """The declaration in one line."""
    broken: Mapping[str, int]
    """Maps each fault that the model was given to the exit code of its run."""
    honest: tuple[str, ...]
    """Failures of the model without a fault; empty if there are none."""

    @property
    def is_sound(self) -> bool:
        """Is each model with a fault rejected, and the unchanged model accepted?"""
        return all(code == Exit.NON_CONFORMANT for code in self.broken.values()) and not self.honest


def examine_declaration(
    rules: Rules, model: Model, name: str, declared: Declared, how: Iterable[str] = (HONEST, *BROKEN)
) -> DeclarationResults:
    """Play the model with a declaration and each fault of ``how``, in the plain environment.

    A model with a fault is played until a requirement fails. If none fails, the exit code must still report a failure.
    """
    codes, wrong = dict[str, int](), tuple[str, ...]()
    for each in how:
        if each == HONEST:
            wrong = _unexplained_failures(rules, model, declared)
        else:
            codes[each] = _play(rules, model, declared, each).exit_code
    return DeclarationResults(name, declared.summary(rules.language), codes, wrong)


def _play(rules: Rules, model: Model, declared: Declared, how: str) -> Certification:
    without = frozenset(number for number in rules.language.capabilities.values() if number) - declared.capabilities
    dialect, start = declared.profiles.get("dialect", ""), model.start_in_dialect
    assert start is not None, "a model that can be played with other declarations"

    def connect(_: Mapping[str, str]) -> Link:
        return Disguise(start(dialect, without), rules.language, declared, how)

    stop = None if how == HONEST else lambda failing: True
    return certify(connect, plan(rules, revision=declared.revision), Limits(), keep=VERDICTS, enough=stop)


def _unexplained_failures(rules: Rules, model: Model, declared: Declared) -> tuple[str, ...]:
    """Failures of the model without a fault, except those that only its private wire layout causes."""
    wrong = _failures_and_breakdowns(rules, model, declared)
    if wrong and (dialect := declared.profiles.get("dialect", "")):
        alone = Declared(declared.revision, _all_capabilities(rules.language), {}, {"dialect": dialect})
        layout = _failures_and_breakdowns(rules, model, alone)
        return tuple(accusation for accusation in wrong if accusation not in layout)
    return tuple(wrong)


def _failures_and_breakdowns(rules: Rules, model: Model, declared: Declared) -> dict[str, None]:
    outcome = _play(rules, model, declared, HONEST)
    wrong = [f"{v.requirement.id} {v.verdict.value}" for v in outcome.verdicts if v.verdict in _ADVERSE_VERDICTS]
    wrong += [f"broke down: {b.breakdown.kind.value}" for b in outcome.breakdowns]
    wrong += [f"exit {outcome.exit_code}"] if outcome.exit_code and not wrong else []
    return dict.fromkeys(wrong)
