"""Opens a page in the browser of the user."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from rich.console import Console


def show_page(err: Console, file: Path) -> None:
    """Open a file in the browser. Without a display or a browser, print which file to open."""
    if not _open_browser(file.absolute().as_uri()):
        err.print(f"No browser can be started here. Open this file in one: {file.absolute()}", soft_wrap=True)


def show_address(err: Console, address: str) -> None:
    """Open a web address in the browser. Without a display or a browser, print which address to open."""
    if not _open_browser(address):
        err.print(f"No browser can be started here. Open this address in one: {address}", soft_wrap=True)


def _has_display() -> bool:
    """Return whether there is a screen. Without one, a text browser would take over this terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open_browser(address: str) -> bool:
    try:
        return _has_display() and webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
