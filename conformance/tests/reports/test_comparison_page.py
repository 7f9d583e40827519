"""The page of a comparison in a browser: the filter leaves what was asked for, and without it all is there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sds_conformance.reports.comparing.columns import ReportColumn
from sds_conformance.reports.comparing.comparison import compare
from sds_conformance.reports.comparing.page import comparison_page
from sds_conformance.reports.report import Report
from short_reports import made

ROW = re.compile(r'<tr id="(SDS-[A-Z0-9-]+)"([^>]*)>')
NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
TELLS = "<script>window.onerror = (what) => { document.documentElement.dataset.error = what; }</script>"
TYPES = """<script>addEventListener("load", () => {
  const rows = [...document.querySelectorAll("#requirements tbody tr")], seen = [];
  const [text, verdict, only, shown] =
    ["text", "verdict", "differences", "shown"].map((id) => document.getElementById(id));
  const names = () => rows.filter((row) => !row.hidden).map((row) => row.id.slice(4)).join(" ");
  const look = () => seen.push(`${names()}: ${shown.textContent}`);
  const set = (what, value) => { what.value = value; what.dispatchEvent(new Event("input", {bubbles: true})); look(); };
  look();
  only.click(); look();
  only.click(); set(verdict, "fail"); set(verdict, ""); set(text, " Recv-0"); set(text, "no such");
  document.documentElement.dataset.seen = seen.join("|");
});</script>"""


@pytest.fixture(scope="module")
def page() -> str:
    several = [
        made("a", RECV_01="pass", RECV_02="pass", RECV_03="fail", MSG_01="skipped"),
        made("b", RECV_01="pass", RECV_02="fail", RECV_03="fail", MSG_01="skipped"),
    ]
    return comparison_page(compare([ReportColumn.from_report(Report(data)) for data in several]))


def test_without_the_script_all_is_there_and_what_differs_stands_first(page: str) -> None:
    rows = ROW.findall(page)
    assert [id_ for id_, _ in rows] == ["SDS-RECV-02", "SDS-MSG-01", "SDS-RECV-01", "SDS-RECV-03"]
    assert not any("hidden" in rest for _, rest in rows)
    assert '<div id="filter" class="filters" hidden' in page


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_filter_leaves_what_is_asked_for(page: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    # Before the policy of the page, which would let neither of them run.
    file.write_text(page.replace("<head>", f"<head>{TELLS}{TYPES}"), "utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    # The link leads to a row that does not differ, which the filter hides at first.
    command = [str(BROWSER), *options, f"{file.as_uri()}#SDS-RECV-03"]
    made_of_it = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "data-error" not in made_of_it
    seen = re.search(r'data-seen="([^"]*)"', made_of_it)
    assert seen is not None
    everything = "RECV-02 MSG-01 RECV-01 RECV-03: 4 of 4 shown"
    assert seen[1].split("|") == [
        everything,
        "RECV-02: 1 of 4 shown",
        "RECV-02 RECV-03: 2 of 4 shown",
        everything,
        "RECV-02 RECV-01 RECV-03: 3 of 4 shown",
        ": 0 of 4 shown",
    ]
