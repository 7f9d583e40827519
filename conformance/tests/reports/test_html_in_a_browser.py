"""Pages in a browser: they filter, search, open, copy, and make no request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsers import set_screen, started_browser
from made_reports import FAULT, faulty, hostile
from sds_conformance.reports.comparing.columns import ReportColumn
from sds_conformance.reports.comparing.comparison import compare
from sds_conformance.reports.comparing.page import comparison_page
from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report
from short_reports import made

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

waiting = pytest.importorskip("selenium.webdriver.support.wait", reason="browser tests want selenium")
Show = Callable[..., None]


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    with started_browser() as browser:
        yield browser


@pytest.fixture
def show(browser: Chrome, tmp_path: Path) -> Iterator[Show]:
    """Opens a page; whatever happens on it, no error is logged and nothing is asked for."""
    file = tmp_path / "page.html"

    def shown(page: str, fragment: str = "", width: int = 1280, scheme: str = "light", script: bool = True) -> None:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
        set_screen(browser, width, scheme)
        file.write_text(page, "utf-8")
        open_page(browser, f"{file.as_uri()}{fragment and '#' + fragment}")

    yield shown
    assert logged(browser, "browser") == []
    assert asked_for(browser) <= {file.as_uri()}
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def open_page(browser: Chrome, address: str) -> None:
    """Open a page again, and wait until its script has run."""
    browser.get("about:blank")
    for log in ("browser", "performance"):
        logged(browser, log)
    browser.get(address)
    loaded(browser)


def loaded(browser: Chrome) -> None:
    waiting.WebDriverWait(browser, 60).until(lambda _: run(browser, "document.readyState") == "complete")


def logged(browser: Any, name: str) -> list[str]:
    """The log since the last call."""
    return [entry["message"] for entry in browser.get_log(name)]


def asked_for(browser: Chrome) -> set[str]:
    """The requests of the page."""
    events = [json.loads(message)["message"] for message in logged(browser, "performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return {url for url in asked if not url.startswith(("about:", "data:"))}


def run(browser: Chrome, script: str, *arguments: Any) -> Any:
    """The result of a script on the page."""
    return browser.execute_script(f"return {script}", *arguments)


def ids(browser: Chrome) -> list[str]:
    """The requirements that are to be seen."""
    found: list[str] = run(
        browser,
        "[...document.querySelectorAll('.requirement')].filter(row => row.checkVisibility())"
        ".map(row => row.querySelector('.name').textContent)",
    )
    return found


def click(browser: Chrome, selector: str) -> None:
    browser.find_element("css selector", selector).click()


def status(browser: Chrome) -> str:
    return browser.find_element("id", "shown").text


def test_a_verdict_is_filtered_and_the_address_remembers_it(browser: Chrome, show: Show) -> None:
    report = faulty()
    failing = [row["id"] for row in report.requirements("fail", "error")]
    show(html(report))
    assert len(ids(browser)) == len(report.data["requirements"])
    for verdict in ("pass", "warn", "skipped", "inconclusive"):
        if report.data["summary"][verdict]:
            click(browser, f"#filters input[value={verdict}]")
    assert sorted(ids(browser)) == sorted(failing)
    assert status(browser) == f"{len(ids(browser))} of {len(report.data['requirements'])} are shown."
    assert run(browser, "location.hash") == "#verdict=fail"
    browser.refresh()
    loaded(browser)
    assert sorted(ids(browser)) == sorted(failing)
    click(browser, "#all")
    assert len(ids(browser)) == len(report.data["requirements"])
    assert run(browser, "location.hash") == ""


@pytest.mark.parametrize("what", ["id", "statement", "seen", "scenario"])
def test_a_search_finds_ids_rules_what_was_seen_and_scenarios(browser: Chrome, show: Show, what: str) -> None:
    report = faulty()
    row = next(row for row in report.data["requirements"] if row["id"] == FAULT)
    text = row[what] if what in row else row["findings"][0][what]
    show(html(report))
    field = browser.find_element("id", "search")
    field.send_keys(text[:24].upper())
    assert FAULT in ids(browser)
    assert len(ids(browser)) < len(report.data["requirements"])
    field.send_keys(" no-such-thing")
    assert ids(browser) == []
    assert status(browser).startswith("0 of ")
    assert "find=" in run(browser, "location.hash")


def test_a_link_opens_what_a_filter_hides(browser: Chrome, show: Show) -> None:
    show(html(faulty()), "verdict=pass")
    assert FAULT not in ids(browser)
    click(browser, f"#causes a[href='#{FAULT}']")
    waiting.WebDriverWait(browser, 60).until(lambda _: FAULT in ids(browser))  # hashchange comes after the click
    assert run(browser, "document.getElementById(arguments[0]).checkVisibility()", FAULT)


def test_a_finding_opens_and_leads_to_its_conversation(browser: Chrome, show: Show) -> None:
    show(html(faulty()))
    assert not browser.find_elements("css selector", ".requirement[open]")
    click(browser, f"#causes a[href='#{FAULT}']")
    (first, *_) = browser.find_elements("css selector", f"#{FAULT} .finding")
    waiting.WebDriverWait(browser, 60).until(lambda _: "Expected" in first.text)
    assert first.find_element("css selector", ".blamed").is_displayed()
    link = first.find_element("css selector", "a[href^='#run-']")
    browser.execute_script("arguments[0].scrollIntoView()", link)
    link.click()
    talk = browser.find_element("css selector", ".talk[open]")
    assert f"FAIL {FAULT} at this step" in talk.text
    assert talk.find_element("css selector", ".wire").is_displayed()


def test_the_command_is_copied_with_the_mouse_and_with_the_keyboard(browser: Chrome, show: Show) -> None:
    report = faulty()
    show(html(report))
    origin = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", origin)
    first, second = report.data["causes"][:2]
    buttons = browser.find_elements("css selector", "#causes .command button")
    assert len(buttons) == len(report.data["causes"])
    for button, cause, act in ((buttons[0], first, "click"), (buttons[1], second, "enter")):
        button.click() if act == "click" else button.send_keys("\n")
        said = "document.getElementById('said').textContent"
        browser.execute_async_script(
            f"const done = arguments[0]; const look = () => {said} ? done() : setTimeout(look, 10); look()"
        )
        assert run(browser, said) == "The command is copied."
        assert browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])") == cause["again"]


def test_hostile_text_does_nothing(browser: Chrome, show: Show) -> None:
    show(html(hostile()), width=400)
    browser.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert run(browser, "window.hacked") is None
    assert run(browser, "document.scripts.length") == 1
    assert run(browser, "document.images.length") == 0
    assert "<script>window.hacked=1</script>" in browser.find_element("tag name", "h1").text
    assert run(browser, "document.documentElement.scrollWidth") <= 400


def test_all_can_be_read_without_scripts(browser: Chrome, show: Show) -> None:
    show(html(faulty()), FAULT, script=False)
    assert browser.find_element("css selector", "#causes .command code").is_displayed()
    assert not browser.find_element("id", "filters").is_displayed()
    assert browser.find_element("css selector", f"#{FAULT} .finding").is_displayed()


def test_the_filter_of_a_comparison_leaves_what_is_asked_for(browser: Chrome, show: Show) -> None:
    several = [
        made("a", RECV_01="pass", RECV_02="pass", RECV_03="fail", MSG_01="skipped"),
        made("b", RECV_01="pass", RECV_02="fail", RECV_03="fail", MSG_01="skipped"),
    ]
    page = comparison_page(compare([ReportColumn.from_report(Report(data)) for data in several]))

    def shown() -> tuple[str, str]:
        rows = browser.find_elements("css selector", "#requirements tbody tr")
        return " ".join(str(row.get_attribute("id"))[4:] for row in rows if row.is_displayed()), status(browser)

    everything = ("RECV-02 MSG-01 RECV-01 RECV-03", "4 of 4 shown")
    show(page, "SDS-RECV-03")  # which does not differ: a filter hides it at first
    assert shown() == everything
    click(browser, "#differences")
    assert shown() == ("RECV-02", "1 of 4 shown")
    click(browser, "#differences")
    browser.find_element("id", "verdict").send_keys("fail")
    assert shown() == ("RECV-02 RECV-03", "2 of 4 shown")
    click(browser, "#verdict option[value='']")
    browser.find_element("id", "text").send_keys(" Recv-0")
    assert shown() == ("RECV-02 RECV-01 RECV-03", "3 of 4 shown")
    show(page, script=False)
    assert shown()[0] == everything[0]
    assert not browser.find_element("id", "filter").is_displayed()
