"""The pytest items: ``sds::SCENARIO::REQUIREMENT``, one for each requirement of a scenario."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from sds_harness.declaration import printable

from ..judging.formats import format_count
from ..judging.registry import IN, Run
from ..judging.verdict import Verdict
from .engagement import Engagement, RunOutcome
from .stories import LONGEST, SdsWarning, StoryError

ROOT = "sds"
"""The first part of every node ID of the suite."""
HANDSHAKE, OTHERS, EXPECTATIONS = "handshake", "others", "expectations"
"""Names of the items that belong to no requirement."""
EXERCISED = pytest.StashKey[int]()
"""Key under which an item stores, when it has run, its number of observations."""


class SuiteCollector(pytest.Collector):
    """The collector of the suite, which contains a collector for each scenario."""

    def __init__(self, *, engagement: Engagement, only: Collection[str] | None, **node: Any) -> None:
        """``only`` are the names of the wanted children; None for all."""
        super().__init__(**node)
        self._engagement, self._only = engagement, only

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        if self._only is None or HANDSHAKE in self._only:
            yield Handshake.from_parent(self, name=HANDSHAKE, engagement=self._engagement)
        for run in self._engagement.asked.what.runs:
            if self._only is None or run.name in self._only:
                yield PlayedScenario.from_parent(self, name=run.name, engagement=self._engagement, run=run)


class PlayedScenario(pytest.Collector):
    """Collector for a scenario in an environment, which is played once for all items below it."""

    def __init__(self, *, engagement: Engagement, run: Run, **node: Any) -> None:
        super().__init__(**node)
        self._engagement, self._run = engagement, run
        if self.config.pluginmanager.hasplugin("xdist"):
            # xdist would cut the name of the group at the last @, which separates the environment.
            self.add_marker(pytest.mark.xdist_group(run.name.replace(IN, ".")))

    def collect(self) -> Iterator[pytest.Item]:
        judged = self._engagement.asked.what.requirements
        for requirement in self._run.scenario.exercises:
            if requirement in judged:
                yield RequirementItem.from_parent(self, name=requirement, engagement=self._engagement, run=self._run)
        yield Others.from_parent(self, name=OTHERS, engagement=self._engagement, run=self._run)
        file = self._run.scenario.file
        if file is not None and file.expected:
            yield Expectations.from_parent(self, name=EXPECTATIONS, engagement=self._engagement, run=self._run)


class SdsItem(pytest.Item):
    """Base class of the pytest items of the suite."""

    def __init__(self, *, engagement: Engagement, **node: Any) -> None:
        super().__init__(**node)
        self.engagement = engagement
        self.stash[EXERCISED] = 0

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location that pytest prints before the name of an item: a path that does not exist, because items
        of the suite belong to no file.
        """
        return self.config.rootpath / ROOT, 0, self.nodeid


class Handshake(SdsItem):
    """Tests the handshake, and that an unknown command is rejected."""

    def setup(self) -> None:
        self.engagement.start()

    def runtest(self) -> None:
        self.engagement.honesty()


class _RunItem(SdsItem):
    def __init__(self, *, run: Run, **node: Any) -> None:
        super().__init__(**node)
        self.run = run
        self.outcome = RunOutcome()

    def setup(self) -> None:
        """Play the run. An error of the suite or of its environment fails the item here, before its test."""
        self.outcome = self.engagement.outcome(self.run)
        if self.outcome.unplayed:
            pytest.skip(printable(self.outcome.unplayed, LONGEST))
        if self.outcome.error:
            error = printable(self.outcome.error, LONGEST)
            raise StoryError(f"Fault of the suite: {error}", error)


class RequirementItem(_RunItem):
    """Item for one requirement, judged on one run of a scenario that was written for the requirement."""

    def setup(self) -> None:
        super().setup()
        judged = self.outcome.judged.get(self.name)
        if judged is not None and judged.verdict is Verdict.ERROR:
            raise StoryError(judged.story, judged.brief)

    def runtest(self) -> None:
        judged = self.outcome.judged.get(self.name)
        if judged is not None:
            self.stash[EXERCISED] = judged.exercised
            if known := self.engagement.known_reason(self.run, self.name, judged):
                pytest.xfail(known)
            if judged.verdict is Verdict.FAIL:
                raise StoryError(judged.story, judged.brief)
        if self.outcome.broke is not None:
            raise self.outcome.broke.with_traceback(None)
        assert judged is not None
        if judged.verdict is Verdict.WARN:
            self.warn(SdsWarning(f"{self.name} {judged.brief}"))
        elif judged.verdict is Verdict.SKIPPED:
            pytest.skip(printable(judged.reason, LONGEST))
        elif judged.verdict is Verdict.INCONCLUSIVE:
            pytest.skip(f"inconclusive: {printable(judged.reason, LONGEST)}")


class Others(_RunItem):
    """Item for all requirements for which the scenario was not written. It fails if the run violates such a
    requirement, and no run of the scenarios that were written for the requirement shows the violation.
    """

    def runtest(self) -> None:
        self.stash[EXERCISED] = self.outcome.exercised_beside
        found = self.engagement.unrelated_findings(self.run)
        bad = {name: judged for name, judged in found.items() if judged.verdict is not Verdict.WARN}
        known = {
            name: why for name, judged in bad.items() if (why := self.engagement.known_reason(self.run, name, judged))
        }
        if bad and known.keys() == bad.keys():
            pytest.xfail("; ".join(f"{name}: {why}" for name, why in known.items()))
        bad = {name: judged for name, judged in bad.items() if name not in known}
        if bad:
            names = ", ".join(bad)
            message = (
                f"violates {format_count(len(bad), 'requirement')} for which other scenarios were written: {names}"
            )
            raise StoryError("\n\n".join(judged.story for judged in bad.values()), message)
        if self.outcome.broke is not None:
            raise self.outcome.broke.with_traceback(None)
        for name, judged in found.items():
            self.warn(SdsWarning(f"{name} {judged.brief}"))
        if not self.outcome.exercised_beside:
            pytest.skip("inconclusive: not exercised")


class Expectations(_RunItem):
    """Item for the expectations of a scenario file."""

    def runtest(self) -> None:
        self.stash[EXERCISED] = 1
        if found := self.outcome.surprises:
            raise StoryError("\n\n".join(found), found[0])
        if self.outcome.broke is not None:
            raise self.outcome.broke.with_traceback(None)
        if self.outcome.unchecked:
            pytest.skip(f"inconclusive: {printable(self.outcome.unchecked, LONGEST)}")
