"""The pytest hooks that are active if there is an implementation: collect items, run them, and end the process."""

from __future__ import annotations

import shlex
from collections.abc import Generator
from pathlib import Path

import pytest

from sds_harness.declaration import clean_text, printable
from sds_harness.family import dismiss

from ..judging.formats import format_count
from . import stages
from .engagement import Engagement
from .items import EXERCISED, ROOT
from .items import SuiteCollector as SuiteNode
from .session_options import read_session_options
from .stages import ENGAGEMENT, GROUP_TRACE
from .stories import COLUMNS, SdsWarning, StoryError, describe_breakdown

PROPERTY = "sds_exercised"
"""Name of the report property that has the number of observations of an item."""


class SuiteSession:
    """One pytest session with an implementation."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options, and prepare the session. Raises UsageError."""
        self._asked = read_session_options(config)
        self._engagement = config.stash[ENGAGEMENT] = Engagement(self._asked)
        self._only: list[str] | None = None
        """The node IDs of the suite in the command line; None for all."""
        self._ran = self._exercised = 0

    def pytest_report_header(self) -> str:
        what = self._asked.what
        environments = ", ".join(environment.name for environment in what.environments)
        lines = [f"sds: {self._command_line}", f"sds: {what.revision}, {what.profile}, played in {environments}"]
        lines += [f"sds: configuration: {self._asked.configured}"] if self._asked.configured else []
        return "\n".join(lines)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        """Hide node IDs of the suite from pytest, because they are not files."""
        config = session.config
        args = config.args
        ours = [arg for arg in args if _is_suite_node(arg, config.invocation_params.dir)]
        if config.args_source is pytest.Config.ArgsSource.ARGS or not self._asked.adds_items:
            self._only = ours
        config.args = [arg for arg in args if arg not in ours]
        try:
            return (yield)
        finally:
            config.args = args  # xdist also passes these arguments to a worker that replaces a crashed one

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the items of the suite before other plugins select items."""
        if self._only == []:
            return
        wanted = [arg.rstrip(":") for arg in self._only or [ROOT]]
        only = None if ROOT in wanted else {arg.split("::")[1] for arg in wanted}
        node = SuiteNode.from_parent(session, name=ROOT, nodeid=ROOT, engagement=self._engagement, only=only)
        ours = list(session.genitems(node))
        if only is not None:
            for arg in wanted:
                if not any(_is_selected_by(item.nodeid, arg) for item in ours):
                    raise pytest.UsageError(f"not found: {arg} (`pytest --collect-only -q {ROOT}` lists all items)")
            ours = [item for item in ours if any(_is_selected_by(item.nodeid, arg) for arg in wanted)]
        items += ours

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        return (yield from stages.set_up(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        return (yield from stages.call(pyfuncitem))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if EXERCISED in item.stash and (call.when == "call" or not report.passed):
            report.user_properties.append((PROPERTY, item.stash[EXERCISED]))
        if call.excinfo is not None and isinstance(call.excinfo.value, StoryError):
            text = call.excinfo.getrepr(style="value")
            if text.reprcrash is not None:
                text.reprcrash.message = call.excinfo.value.brief
            report.longrepr = text
        if isinstance(report.longrepr, tuple) and Path(report.longrepr[0]).parent == Path(__file__).parent:
            # Show the item as the location, not the line of this plugin that skips the item.
            path, line, _ = item.reportinfo()
            report.longrepr = (str(path), line or 0, report.longrepr[2])
        if GROUP_TRACE in item.stash:
            _make_printable(report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count observations from reports, because with xdist the main process receives only reports."""
        counts = [count for name, count in report.user_properties if name == PROPERTY]
        self._ran += len(counts)
        self._exercised += sum(int(str(count)) for count in counts)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """After the last item, close stdin of the implementation. If the process does not exit, the item gets a
        warning, or fails with --sds-strict.
        """
        for broken in self._engagement.close() if nextitem is None else ():
            if self._asked.strict:
                raise describe_breakdown(broken)
            item.warn(SdsWarning(f"{broken.breakdown.detail}: {broken.breakdown.advice}"))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Kill the process of the implementation. Make the session fail if no requirement was exercised."""
        self._engagement.kill()
        if self._exercised_nothing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if self._exercised_nothing and exitstatus == pytest.ExitCode.OK:
            terminalreporter.write_sep("=", "nothing was exercised", yellow=True)
            ran = f"{format_count(self._ran, 'item')} ran, and no requirement was exercised."
            terminalreporter.write_line(f"No verdict on {self._command_line}: {ran}")
            terminalreporter.write_line("`pytest -rs` shows why items were skipped, such as an undeclared capability.")

    def pytest_unconfigure(self) -> None:
        self._engagement.kill()
        dismiss()

    @property
    def _exercised_nothing(self) -> bool:
        return self._ran > 0 and not self._exercised

    @property
    def _command_line(self) -> str:
        return printable(shlex.join(self._asked.command), 4 * COLUMNS)


def _make_printable(report: pytest.TestReport) -> None:
    """Make the output of a user's own test printable, because it may contain values of the implementation."""
    report.sections = [(name, clean_text(text)) for name, text in report.sections]
    for traceback, crash, _ in getattr(report.longrepr, "chain", ()):
        if crash is not None:
            crash.message = clean_text(crash.message)
        for entry in traceback.reprentries:
            for part in (entry, getattr(entry, "reprlocals", None)):
                if part is not None:
                    part.lines[:] = map(clean_text, part.lines)


def _is_suite_node(arg: str, folder: Path) -> bool:
    """Is an argument a node ID of the suite? An existing file with this name takes precedence."""
    first, _, rest = arg.partition("::")
    return first == ROOT and (bool(rest) or not (folder / first).exists())


def _is_selected_by(nodeid: str, arg: str) -> bool:
    return nodeid == arg or nodeid.startswith(f"{arg}::")
