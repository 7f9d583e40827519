"""Plays the schedules of a recording. Unlike a campaign, a recording continues after any number of breakdowns."""

from __future__ import annotations

import contextlib

from sds_harness.corpus.errors import NotDrivenError
from sds_harness.corpus.recorder import Replay, raise_corpus_errors
from sds_harness.declaration import Declaration
from sds_harness.schedules import GroupTrace, Schedule

from ..exploration.campaign import CampaignOrder
from ..exploration.cast_under_test import CastUnderTest
from ..exploration.casts import NotPlayedError
from ..protocols import repertoire_of


def compare_twins(revision: str, group_trace: GroupTrace, replay: Replay) -> None:
    """Examine the properties that compare ``group_trace`` with a changed schedule (its twin), so that twins are played
    and recorded. The results are ignored: a check of the corpus examines the properties again.
    """
    properties = repertoire_of(revision).properties
    with raise_corpus_errors(replay) as played, contextlib.suppress(Exception):
        properties.examine(group_trace, played, [name for name, entry in properties.items() if entry.twin])


class RestartingCast:
    """Plays schedules with a cast, and creates a new cast when the implementation of the old one is abandoned.

    A campaign ends after a few consecutive breakdowns, but a recording goes on and contains all breakdowns. See
    ``recorder.RecordingCast``.
    """

    def __init__(self, order: CampaignOrder) -> None:
        self._order = order
        self._cast_under_test: CastUnderTest = order.cast_under_test()

    def start(self) -> Declaration:
        return self._cast_under_test.start()

    def schedule(self, index: int) -> Schedule:
        return self._order.schedule(index)

    def play(self, schedule: Schedule) -> GroupTrace:
        try:
            return self._cast_under_test.play(schedule)
        except NotPlayedError:
            self._cast_under_test.kill()
            self._cast_under_test = self._order.cast_under_test()
        try:
            self._cast_under_test.restart()
            return self._cast_under_test.play(schedule)
        except NotPlayedError as again:
            raise NotDrivenError(f"{schedule.name} was not played: {again}.") from None

    def participants_under_test(self, schedule: Schedule) -> tuple[str, ...]:
        return self._cast_under_test.participants_under_test(schedule)

    def compare(self, group_trace: GroupTrace, replay: Replay) -> None:
        compare_twins(self._order.revision, group_trace, replay)

    def kill(self) -> None:
        self._cast_under_test.kill()
