"""The metadata and the content of the distribution."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
WHEEL = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
PACKAGES = [folder for folder in WHEEL["only-include"] if (REPOSITORY / folder / "__init__.py").is_file()]


def test_the_distribution_has_all_packages() -> None:
    roots = [REPOSITORY / name for name in WHEEL["dev-mode-dirs"]]
    found = {path.parent for root in roots for path in root.glob("*/__init__.py") if path.parent.name != "tests"}
    assert {REPOSITORY / package for package in PACKAGES} == found


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_read_every_package(package: str) -> None:
    assert "Typing :: Typed" in PYPROJECT["project"]["classifiers"]
    assert (REPOSITORY / package / "py.typed").is_file()


def test_a_package_index_links_the_source_and_the_specification() -> None:
    urls = PYPROJECT["project"]["urls"]
    assert {"Source", "Issues", "Changelog", "Specification"} <= set(urls)
    assert all(url.startswith("https://") for url in urls.values())
