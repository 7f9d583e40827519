"""The files of a public project: workflows, issue forms, the citation, hooks, and the one variable for the owner."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from run_helpers import REPOSITORY

GITHUB = REPOSITORY / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(one for one in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if one.name != "config.yml")
CHECKED = [
    *((path, "vendor.github-workflows") for path in WORKFLOWS),
    *((path, "vendor.github-issue-forms") for path in FORMS),
    (GITHUB / "ISSUE_TEMPLATE" / "config.yml", "vendor.github-issue-config"),
    (REPOSITORY / "CITATION.cff", "vendor.citation-file-format"),
]
PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
CHECK = REPOSITORY / "conformance" / "release_check.py"


def parsed(path: Path) -> Any:
    """As plain JSON: dates are text."""
    return json.loads(json.dumps(YAML(typ="safe", pure=True).load(path.read_text("utf-8")), default=str))


@pytest.mark.parametrize(("path", "schema"), CHECKED, ids=lambda value: getattr(value, "name", ""))
def test_it_fits_its_schema(path: Path, schema: str) -> None:
    errors = Draft7Validator(get_builtin_schema(schema)).iter_errors(parsed(path))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_environments_and_scripts_that_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    environments = re.findall(r"\[testenv:(\w+)\]", (REPOSITORY / "tox.ini").read_text("utf-8"))
    named = re.findall(r"tox -e (\w+)", text)
    for job in parsed(path)["jobs"].values():
        named += job.get("strategy", {}).get("matrix", {}).get("environment", [])
        assert job["timeout-minutes"] <= 360
    assert set(named) <= {*environments, "py"}
    for script in re.findall(r"python (conformance/\S+)", text):
        assert (REPOSITORY / script).is_file(), script


def test_the_tests_run_on_every_system_and_python_that_is_promised() -> None:
    matrix = parsed(GITHUB / "workflows" / "tests.yml")["jobs"]["every-python"]["strategy"]["matrix"]
    classifiers = PYPROJECT["project"]["classifiers"]
    versions = [one.rpartition(" :: ")[2] for one in classifiers if re.search(r"Python :: 3\.\d+$", one)]
    assert matrix["python"] == versions
    assert any("MacOS" in one for one in classifiers) == any(name.startswith("macos") for name in matrix["system"])


def test_hooks_use_the_tools_of_lint() -> None:
    (repository,) = parsed(REPOSITORY / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    lint = (REPOSITORY / "tox.ini").read_text("utf-8").partition("[testenv:lint]")[2].partition("[testenv")[0]
    for hook in repository["hooks"]:
        assert hook["entry"].replace(" --force-exclude", "") in lint


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that the check reads, in a repository of their own."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name in ("pyproject.toml", "CITATION.cff", "SECURITY.md", "CHANGELOG.md", "docs/ci.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    variable = "conformance/sds_conformance/presentation/project.py"
    (tmp_path / variable).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / variable, tmp_path / variable)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def checked(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, str(CHECK), *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ})
    return done.returncode, done.stdout + done.stderr


def test_all_addresses_name_the_owner_of_the_variable() -> None:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("this is no checkout")
    assert checked(REPOSITORY) == (0, "")


def test_a_release_without_an_owner_is_rejected(checkout: Path) -> None:
    status, said = checked(checkout, "--release")
    assert status == 1
    assert "OWNER is the placeholder" in said
    assert "is still (unreleased)" in said


def test_an_owner_is_written_into_all_files(checkout: Path) -> None:
    variable = checkout / "conformance/sds_conformance/presentation/project.py"
    variable.write_text(variable.read_text("utf-8").replace('\nOWNER = "OWNER"', '\nOWNER = "some-one"'), "utf-8")
    status, said = checked(checkout)
    assert status == 1
    for name in ("pyproject.toml", "CITATION.cff", "SECURITY.md", "docs/ci.md"):
        assert f"{name}:" in said
    assert checked(checkout, "--write") == (0, "")
    assert "OWNER" not in (checkout / "CITATION.cff").read_text("utf-8")
    assert "uses: some-one/sds-conformance@" in (checkout / "docs/ci.md").read_text("utf-8")
    assert runpy.run_path(str(variable))["documentation"]() == "https://some-one.github.io/sds-conformance/"


def test_the_distribution_has_all_packages_with_their_types() -> None:
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    packages = [folder for folder in wheel["only-include"] if (REPOSITORY / folder / "__init__.py").is_file()]
    roots = [REPOSITORY / name for name in wheel["dev-mode-dirs"]]
    found = {path.parent for root in roots for path in root.glob("*/__init__.py") if path.parent.name != "tests"}
    assert {REPOSITORY / package for package in packages} == found
    assert [package for package in packages if not (REPOSITORY / package / "py.typed").is_file()] == []
