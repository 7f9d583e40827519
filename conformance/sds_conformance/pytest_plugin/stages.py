"""Runs user tests with the fixture ``stage``: their schedules are judged like the scenarios of the suite."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import pytest

from sds_harness.declaration import printable
from sds_harness.faults import TesteeError
from sds_harness.stage import ScheduleStoppedError, Stage

from ..judging.registry import Run, Scenario
from ..judging.runner import BrokenRun
from ..judging.verdict import Verdict
from .engagement import Engagement
from .items import EXERCISED
from .stories import LONGEST, SdsWarning, StoryError, brief_of, describe_breakdown, story_of

ENGAGEMENT = pytest.StashKey[Engagement]()
"""Key under which the configuration stores the implementation of this session."""
GROUP_TRACE = pytest.StashKey["StageGroupTrace"]()
"""Key under which an item stores the schedule of its test."""
ENDINGS = (ScheduleStoppedError, TesteeError)
"""Exceptions that end a schedule early and do not make the test fail."""
OWN = (Exception, pytest.fail.Exception, pytest.skip.Exception, pytest.xfail.Exception)
"""Exceptions that make the test itself fail; an interrupt is not among them."""


class StageGroupTrace:
    """Plays and judges the schedule of one test.

    It opens the stage, closes the participants at the end, and fails the test if a requirement is violated or the
    implementation breaks down.
    """

    def __init__(self, item: pytest.Item, engagement: Engagement) -> None:
        self._item, self._engagement = item, engagement
        self._requirements = _select_requirements(item, engagement)
        item.stash[EXERCISED] = 0
        scenario = Scenario(printable(item.name), lambda stage: None, ())
        self._run = Run(scenario)
        self.stage: Stage[Any] = engagement.enter(scenario)
        self._over = False

    @contextmanager
    def play_context(self) -> Iterator[None]:
        """Context for playing the schedule to its end. Afterwards `end` does nothing."""
        self._over = True
        with self._engagement.play_context(self.stage):
            yield

    def end(self) -> None:
        """Close the participants, unless they are closed already."""
        if not self._over:
            with self.play_context():
                pass

    def judge(self, own: BaseException | None = None) -> None:
        """Judge the trace.

        Raises the test's exception ``own`` if there is one, otherwise StoryError for a
        violation.
        """
        trace = self.stage.trace
        verdicts, outcome = self._engagement.judge(trace, self._requirements)
        exercised = self._item.stash[EXERCISED] = sum(verdict.exercised for verdict in verdicts)
        bad = [verdict for verdict in verdicts if verdict.verdict in (Verdict.FAIL, Verdict.ERROR)]
        stories = [story_of(verdict, outcome, self._replay_command) for verdict in bad]
        briefs = [f"{verdict.requirement.id}: {brief_of(verdict)}" for verdict in bad]
        if trace.breakdown is not None:
            broken = BrokenRun.at_last_step(trace.schedule, trace.breakdown, trace)
            broke = describe_breakdown(broken, trace, self._replay_command)
            stories.append(str(broke))
            briefs.append(broke.brief)
        for verdict in verdicts:
            if verdict.verdict is Verdict.WARN:
                self._item.warn(SdsWarning(f"{verdict.requirement.id} {brief_of(verdict)}"))
        message = "\n\n".join(stories)
        if own is not None and not (message and isinstance(own, pytest.skip.Exception)):
            if message:
                self._item.add_report_section("call", "sds", message)
            raise own
        if message:
            raise StoryError(message, "; ".join(briefs))
        if trace.stopped:
            pytest.skip(f"inconclusive: {printable(trace.stopped, LONGEST)}")
        if not exercised and self._item.get_closest_marker("sds") is not None:
            pytest.skip("inconclusive: none of the selected requirements was exercised")

    @property
    def _replay_command(self) -> str:
        how = self._engagement.asked.invocation
        options = [f"--sds-{word[2:]}" if word.startswith("--") else word for word in how.options]
        return shlex.join(["pytest", "--sds-testee", shlex.join(how.command), *options, self._item.nodeid])


@contextmanager
def stage_for_test(item: pytest.Item) -> Iterator[Stage[Any]]:
    """Open a stage for a test, and close its participants after the test."""
    group_trace = StageGroupTrace(item, item.config.stash[ENGAGEMENT])
    item.stash[GROUP_TRACE] = group_trace
    yield group_trace.stage
    group_trace.end()


def set_up(item: pytest.Item) -> Generator[None, None, None]:
    """Wrap the set-up of a test. If a fixture ends the schedule early, judge it in the set-up."""
    try:
        yield
    except ENDINGS as early:
        group_trace = item.stash.get(GROUP_TRACE, None)
        if group_trace is None:
            raise
        with group_trace.play_context():
            raise early
        group_trace.judge()


def call(item: pytest.Item) -> Generator[None, object, object]:
    """Wrap the call of a test function, and judge its schedule."""
    group_trace = item.stash.get(GROUP_TRACE, None)
    if group_trace is None:
        return (yield)
    own: BaseException | None = None
    result = None
    with group_trace.play_context():
        try:
            result = yield
        except ENDINGS:
            raise
        except OWN as error:
            own = error
    group_trace.judge(own)
    return result


def _select_requirements(item: pytest.Item, engagement: Engagement) -> Sequence[str]:
    """Return the requirements to judge in a test. Fails the test if a glob matches no requirement."""
    known = engagement.asked.what.requirements
    marker = item.get_closest_marker("sds")
    if marker is None:
        return known
    globs = marker.kwargs.get("select", ())
    if marker.args or set(marker.kwargs) != {"select"} or isinstance(globs, str) or not globs:
        pytest.fail("write the marker as @pytest.mark.sds(select=['SDS-RECV-*'])", pytrace=False)
    for glob in globs:
        if not any(fnmatchcase(requirement, glob) for requirement in known):
            pytest.fail(f"no requirement matches {glob!r}: `sds-conformance requirements` lists them", pytrace=False)
    return [r for r in known if any(fnmatchcase(r, glob) for glob in globs)]
