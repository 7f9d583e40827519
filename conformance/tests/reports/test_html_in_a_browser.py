"""The page of a report in a browser: it filters, searches, opens, copies, and makes no request."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pages import FAULT, hostile, sample
from sds_conformance.reports.html import html
from sds_conformance.reports.report import Report

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

webdriver = pytest.importorskip("selenium.webdriver", reason="browser tests want selenium")
waiting = pytest.importorskip("selenium.webdriver.support.wait")
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="browser tests want Debian's chromium and chromium-driver"),
]
Show = Callable[..., None]
HEIGHT = 900


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture
def show(browser: Chrome, tmp_path: Path) -> Iterator[Show]:
    """Opens the page of a report; whatever happens on it, no error is logged and nothing is asked for."""

    def shown(
        report: Report, fragment: str = "", width: int = 1280, scheme: str = "light", script: bool = True
    ) -> None:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
        size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme_of = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme_of)
        file = tmp_path / "report.html"
        file.write_text(html(report), "utf-8")
        open_page(browser, f"{file.as_uri()}{fragment and '#' + fragment}")

    yield shown
    assert logged(browser, "browser") == []
    assert asked_for(browser) <= {(tmp_path / "report.html").as_uri()}
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


def by_verdict(report: Report, *verdicts: str) -> list[str]:
    """In the order of the page."""
    sections = [*report.data["sections"]]
    rows = sorted(report.data["requirements"], key=lambda row: sections.index(row["section"]))
    return [row["id"] for row in rows if row["verdict"] in verdicts]


def test_a_verdict_is_filtered_and_the_address_remembers_it(browser: Chrome, show: Show) -> None:
    report = sample()
    show(report)
    assert len(ids(browser)) == len(report.data["requirements"])
    for verdict in ("pass", "warn", "skipped", "inconclusive"):
        if report.data["summary"][verdict]:
            click(browser, f"#filters input[value={verdict}]")
    assert ids(browser) == by_verdict(report, "fail", "error")
    assert status(browser) == f"{len(ids(browser))} of {len(report.data['requirements'])} are shown."
    assert run(browser, "location.hash") == "#verdict=fail"
    browser.refresh()
    loaded(browser)
    assert ids(browser) == by_verdict(report, "fail", "error")
    click(browser, "#all")
    assert len(ids(browser)) == len(report.data["requirements"])
    assert run(browser, "location.hash") == ""


@pytest.mark.parametrize("what", ["id", "statement", "seen", "scenario"])
def test_a_search_finds_ids_rules_what_was_seen_and_scenarios(browser: Chrome, show: Show, what: str) -> None:
    report = sample()
    row = next(row for row in report.data["requirements"] if row["id"] == FAULT)
    text = row[what] if what in row else row["findings"][0][what]
    show(report)
    field = browser.find_element("id", "search")
    field.send_keys(text[:24].upper())
    assert FAULT in ids(browser)
    assert len(ids(browser)) < len(report.data["requirements"])
    field.send_keys(" no-such-thing")
    assert ids(browser) == []
    assert status(browser).startswith("0 of ")
    assert "find=" in run(browser, "location.hash")


def test_a_link_opens_what_a_filter_hides(browser: Chrome, show: Show) -> None:
    show(sample(), "verdict=pass")
    assert FAULT not in ids(browser)
    click(browser, f"#causes a[href='#{FAULT}']")
    waiting.WebDriverWait(browser, 60).until(lambda _: FAULT in ids(browser))  # hashchange comes after the click
    assert run(browser, "document.getElementById(arguments[0]).checkVisibility()", FAULT)


def test_a_finding_opens_and_leads_to_its_conversation(browser: Chrome, show: Show) -> None:
    show(sample())
    assert not browser.find_elements("css selector", ".requirement[open]")
    click(browser, f"#causes a[href='#{FAULT}']")
    (first, *_) = browser.find_elements("css selector", f"#{FAULT} .finding")
    waiting.WebDriverWait(browser, 60).until(lambda _: "Expected" in first.text)
    assert first.find_element("css selector", ".blamed").is_displayed()
    link = first.find_element("css selector", "a[href^='#run-']")
    browser.execute_script("arguments[0].scrollIntoView()", link)
    link.click()
    talk = browser.find_element("css selector", ".talk[open]")
    assert f"FAIL {FAULT} rests on this step" in talk.text
    assert talk.find_element("css selector", ".wire").is_displayed()


def test_the_command_is_copied_with_the_mouse_and_with_the_keyboard(browser: Chrome, show: Show) -> None:
    report = sample()
    show(report)
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


@pytest.mark.parametrize("width", [1280, 400])
def test_hostile_text_does_nothing(browser: Chrome, show: Show, width: int) -> None:
    show(hostile(), width=width)
    browser.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert run(browser, "window.hacked") is None
    assert run(browser, "document.scripts.length") == 1
    assert run(browser, "document.images.length") == 0
    assert "<script>window.hacked=1</script>" in browser.find_element("tag name", "h1").text
    assert run(browser, "document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_it_fits_and_follows_the_scheme(browser: Chrome, show: Show, width: int, scheme: str) -> None:
    show(sample(), FAULT, width=width, scheme=scheme)
    browser.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert run(browser, "document.documentElement.scrollWidth") <= width
    inks = {
        place: run(browser, "getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", place, what)
        for place, what in (("body", "color"), (".spacetime .name", "fill"), (".spacetime text.deliver", "fill"))
    }
    paper = run(browser, "getComputedStyle(document.body).backgroundColor")
    for ink in inks.values():
        assert (_brightness(ink) > _brightness(paper)) == (scheme == "dark"), (inks, paper)


def _brightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_all_can_be_read_without_scripts(browser: Chrome, show: Show) -> None:
    show(sample(), FAULT, script=False)
    assert browser.find_element("css selector", "#causes .command code").is_displayed()
    assert not browser.find_element("id", "filters").is_displayed()
    assert browser.find_element("css selector", f"#{FAULT} .finding").is_displayed()
