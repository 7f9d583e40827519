"""Dimensions: in which ways there can be more and more of something, and how somebody is given so much of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sds_harness.docstrings import first_line

from ..judging.rules import Rules

Play = Callable[[Any, int], str | None]
"""Plays a schedule of a size on a stage. What was not done that no requirement demands, in words, else nothing."""


@dataclass(frozen=True)
class Dimension:
    """One way in which there can be more and more."""

    name: str
    """As it is typed."""
    title: str
    """As it stands in a table: some 25 characters."""
    play: Play
    about: tuple[str, ...]
    """The requirements that it asks for: where one of them is violated at the smallest size, nothing is measured."""
    demanded: int
    """The largest size that `run` demands of everybody: what ends before is a fault, what ends later a warning."""
    position: str
    """The position, or the sentence in the place of one, that says what can be expected beyond."""
    most: int
    """The largest size that makes sense, or that fits into one message of the testee protocol."""
    fits: Callable[[Any], int] | None = None
    """The largest size that the wire of a revision has room for, where it has not for all."""
    declared: str = ""
    """The limit by which an implementation may declare how far it holds, by its name in the handshake."""
    declared_from: int = 0
    """What is declared counts from there."""
    within: tuple[str, ...] = ()
    """Limits by which it may declare that it has less room than this takes."""
    timed: bool = False
    """It is not a size that is looked for: does a step cost more as there are more of them?"""
    at_once: bool = False
    """One message is enough to reach any size: then it must not end the conversation, however large."""

    def of_text(self, rules: Rules, revision: str, profile: str) -> Dimension | None:
        """The same for a profile of a revision: about what is judged there, with the requirements of another text that
        say the same in place of those that it does not state. None where nothing is left."""
        judged = {requirement.id for requirement in rules.judged(revision, profile)}
        alike = rules.register.counterparts
        about = dict.fromkeys(one for own in self.about for one in (own, *alike.get(own, ())) if one in judged)
        most = min(self.most, self.fits(rules.revisions[revision])) if self.fits is not None else self.most
        return replace(self, about=tuple(about), most=most, demanded=min(self.demanded, most)) if about else None

    def bound(self, limits: Callable[[str], int | None]) -> int | None:
        """What is declared of it, None if nothing is; ``limits`` gives a declared limit by its name."""
        declared = limits(self.declared) if self.declared else None
        return None if declared is None else self.declared_from + declared

    @property
    def summary(self) -> str:
        """What is played, in a sentence."""
        return first_line(self.play)


class Dimensions(Mapping[str, Dimension]):
    """The dimensions of a protocol, by name, in the order in which they are told."""

    def __init__(self, prefix: str) -> None:
        """``prefix`` is how the IDs of its requirements begin."""
        self._prefix = prefix
        self._known: dict[str, Dimension] = {}

    def dimension(self, title: str, *about: str, **more: Any) -> Callable[[Play], Play]:
        """Register a function as a dimension of its name, about requirements given without the prefix; ``more`` are
        the other fields of a Dimension."""

        def register(play: Play) -> Play:
            name = play.__name__.replace("_", "-")
            if name in self._known:
                raise ValueError(f"two dimensions are called {name}")
            self._known[name] = Dimension(name, title, play, tuple(f"{self._prefix}{i}" for i in about), **more)
            return play

        return register

    def __getitem__(self, name: str) -> Dimension:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
