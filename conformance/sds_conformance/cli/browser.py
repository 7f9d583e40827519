"""Opens a page in the browser of the user."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from rich.console import Console


def show_page(err: Console, page: Path | str) -> None:
    """Open a file or a web address in the browser. Without a display or a browser, print what to open."""
    address, what = (page, "address") if isinstance(page, str) else (page.absolute().as_uri(), "file")
    if not _open_browser(address):
        shown = page if isinstance(page, str) else page.absolute()
        err.print(f"No browser can be started here. Open this {what} in one: {shown}", soft_wrap=True)


def _open_browser(address: str) -> bool:
    """Return whether a browser was started. Without a screen, a text browser would take over this terminal."""
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    try:
        return bool(has_screen) and webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
