"""The option that names the built site."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--site``."""
    parser.addoption("--site", type=Path, help="the folder of the built site")


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Path:
    """The folder of the built site; without one, the test is skipped."""
    folder: Path | None = request.config.getoption("--site")
    if folder is None:
        pytest.skip("needs a built site: type tox -e docs")
    return folder
