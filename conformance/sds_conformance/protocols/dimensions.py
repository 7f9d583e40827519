"""Dimensions: the sizes that `limits` measures, and the schedules that reach a given size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sds_harness.docstrings import first_line
from sds_harness.schedules import GroupTrace, Schedule

from ..judging.rules import Rules

Play = Callable[[Any, int], str]
"""Takes a stage and a size, and plays the schedule of that size. Returns a sentence on optional work that the
implementation did not do, or "".
"""
Plot = Callable[[Any, int], Any]
"""Takes a script and a size, and adds the operations of the schedule to the script. May return the message that has the
size.
"""
Lost = Callable[[GroupTrace, str], str]
"""Takes a group trace and the label of the message that the plot returned, or "". Returns a sentence on optional work
that the implementation did not do, or "".
"""
LENGTH_FACTOR = 1_000
"""Factor by which the limits on the length of a group trace are raised."""


@dataclass(frozen=True)
class Dimension:
    """One size that can grow, such as the number of records."""

    name: str
    """The name on the command line."""
    title: str
    """The title in tables, at most about 25 characters."""
    summary: str
    """A description of the schedule, in one sentence."""
    write: Callable[[int], Schedule]
    """Returns the schedule of a size."""
    play: Play
    about: tuple[str, ...]
    """The requirements that the schedule exercises. If one of these is violated at the smallest size, nothing is
    measured.
    """
    demanded: int
    """The largest size that `run` demands of every implementation. Breaking at this size or below is a failure;
    breaking at a larger size is a warning.
    """
    position: str
    """The position, or a sentence, on sizes above ``demanded``."""
    most: int
    """The maximum size to try. Larger sizes are unrealistic, or do not fit in one message of the testee protocol."""
    fits: Callable[[Any], int] | None = None
    """Returns the largest size that fits the wire format of a revision; None if every size fits."""
    declared: str = ""
    """The name, in the handshake, of the limit that an implementation may declare for this size; "" if there is none.
    """
    declared_from: int = 0
    """The number to add to the declared limit to get the largest size."""
    within: tuple[str, ...] = ()
    """Names of other limits that an implementation may declare and that bound this size."""
    timed: bool = False
    """Does the dimension measure the time of a step as the size grows, instead of the largest size?"""
    at_once: bool = False
    """Does the size belong to a single message? Then no size may end the conversation."""
    file: str = ""
    """The scenario file that is played; "" for a dimension of the suite."""

    def of_text(self, rules: Rules, revision: str, profile: str) -> Dimension | None:
        """Adapt the dimension to a profile of a revision; None if the profile has none of its requirements.

        The result names the requirements that the revision has, or the equivalent requirements of the revision.
        """
        judged = {requirement.id for requirement in rules.judged_requirements(revision, profile)}
        alike = rules.register.counterparts
        about = dict.fromkeys(one for own in self.about for one in (own, *alike.get(own, ())) if one in judged)
        most = min(self.most, self.fits(rules.revisions[revision])) if self.fits is not None else self.most
        return replace(self, about=tuple(about), most=most, demanded=min(self.demanded, most)) if about else None

    def bound(self, limits: Callable[[str], int | None]) -> int | None:
        """The largest size that an implementation declares; None if it declares none.

        ``limits`` returns the declared value of a limit by its name.
        """
        declared = limits(self.declared) if self.declared else None
        return None if declared is None else self.declared_from + declared


class Dimensions(dict[str, Dimension]):
    """The dimensions of a protocol, by name, in the order of reports."""

    def __init__(
        self, prefix: str, script: Callable[[], Any], perform: Callable[[Schedule, Any, int], GroupTrace]
    ) -> None:
        """``prefix`` is the common beginning of the requirement IDs. ``script`` creates an empty script. ``perform``
        plays a schedule on a stage; its last argument is ``LENGTH_FACTOR``.
        """
        super().__init__()
        self._prefix = prefix
        self._script = script
        self._perform = perform

    def dimension(
        self, title: str, *about: str, lost: Lost = lambda group_trace, label: "", **more: Any
    ) -> Callable[[Plot], Plot]:
        """Register a function that writes schedules. The dimension gets the name of the function.

        ``about`` are requirements without the prefix; ``more`` are the other fields of `Dimension`.
        """

        def register(plot: Plot) -> Plot:
            name = plot.__name__.replace("_", "-")
            if name in self:
                raise ValueError(f"two dimensions are called {name}")

            def write(size: int) -> tuple[Schedule, str]:
                script = self._script()
                message = plot(script, size)
                return script.schedule(f"{name}-{size}"), message.label if message is not None else ""

            def play(stage: Any, size: int) -> str:
                schedule, label = write(size)
                return lost(self._perform(schedule, stage, LENGTH_FACTOR), label)

            ids = tuple(f"{self._prefix}{number}" for number in about)
            self[name] = Dimension(name, title, first_line(plot), lambda size: write(size)[0], play, ids, **more)
            return plot

        return register
