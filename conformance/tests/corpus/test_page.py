"""The page of a diff: both pictures of a schedule, and all of it on a narrow screen and on a dark one."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import escape
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from page_kinds import corpus_diff

BROWSER = shutil.which("chromium")
NARROW = 400


def test_the_picture_of_a_stands_beside_that_of_b() -> None:
    html = corpus_diff()
    (together,) = re.findall(r'<div class="pictures">(.*?)\n</div>', html, re.DOTALL)
    assert re.findall(r'data-side="(.)" tabindex="0"[^>]*><svg.*?<title>(.)</title>', together) == [
        ("A", "A"),
        ("B", "B"),
    ]


def test_charts_are_as_wide_as_the_screen() -> None:
    """Only pictures have a width of their own: what is drawn for a wide screen cannot be read on a narrow one."""
    html = corpus_diff()
    assert html.count("<svg") == 2
    widths = re.findall(r'class="bar" style="width: ([0-9.]+)%', html)
    assert [float(width) for width in widths] == [5.3, 100.0, 1.0]
    assert html.count('class="step"') == 9


@pytest.mark.exhaustive
@pytest.mark.skipif(BROWSER is None, reason="browser tests want Debian's chromium")
@pytest.mark.parametrize("width", [NARROW, 1280])
def test_nothing_is_wider_than_the_screen(width: int, tmp_path: Path) -> None:
    measured = "parent.document.title = `${document.documentElement.scrollWidth} of ${innerWidth}`"
    # Before the policy of the page, which would not let it run.
    script = f'<script>addEventListener("load", () => {{ {measured} }})</script>'
    inner = escape(corpus_diff().replace("<head>", f"<head>{script}"))
    file = tmp_path / "page.html"
    # In a frame, for a window cannot be as narrow.
    file.write_text(f'<body><iframe width="{width}" height="900" frameborder="0" srcdoc="{inner}"></iframe>', "utf-8")
    assert BROWSER is not None
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    command = [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    title = re.search(r"<title>(\d+) of (\d+)</title>", dom)
    assert title is not None
    assert int(title[1]) <= int(title[2]) == width
