"""Finds @waku/sds for the tests that drive it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "adapters" / "waku-sds"


def waku_command() -> list[str]:
    """The command of its adapter; a test that needs it is skipped if something is not installed."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: install Node 20 or newer, then `npm ci` in harness/adapters/waku-sds")
    if not (FOLDER / "node_modules" / "@waku" / "sds").is_dir():
        pytest.skip("@waku/sds is not installed: type `npm ci --prefix harness/adapters/waku-sds`")
    return [node, str(FOLDER / "adapter.mjs")]
