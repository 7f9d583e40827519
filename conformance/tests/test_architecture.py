"""The rules of the house that no single package can keep by itself: size, what stays apart, and what is private."""

from __future__ import annotations

import ast
import re
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest

from run_helpers import REPOSITORY
from source_imports import imported

LAYERS = {
    "sds_proto": REPOSITORY / "reference" / "sds_proto",
    "clearskies_proto": REPOSITORY / "reference" / "clearskies_proto",
    "sds_testee": REPOSITORY / "reference" / "sds_testee",
    "sds_reference": REPOSITORY / "reference" / "sds_reference",
    "clearskies_reference": REPOSITORY / "reference" / "clearskies_reference",
    "sds_harness": REPOSITORY / "harness" / "sds_harness",
    "sds_conformance": REPOSITORY / "conformance" / "sds_conformance",
}
"""The packages, from the bottom up."""
TESTS = sorted(REPOSITORY.glob("*/tests/**/*.py"))

NOT_OURS = {
    *(".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox", ".venv"),
    *("__pycache__", "build", "dist", "node_modules"),
}
"""Folders that are made on a machine and not kept."""
HOSTS = re.compile(
    r"https?://[\w.:@-]*(?:registry|artifactory|nexus|mirror|devpi|pythonhosted|localhost|127\.0\.0\.1)[\w.:-]*"
)
MACHINE_PATHS = re.compile(r"(?<![\w.<~/-])/(?:work|home|root|Users|mnt|opt|tmp/venv)/[\w.-]+")


def modules() -> list[Path]:
    return sorted(path for folder in LAYERS.values() for path in folder.rglob("*.py"))


def texts() -> list[Path]:
    """The text files of the project."""
    out = []
    for path in sorted(REPOSITORY.rglob("*")):
        parts = path.relative_to(REPOSITORY).parts
        made = NOT_OURS.intersection(parts) or any(part.endswith(".egg-info") for part in parts)
        if not made and path.is_file() and not path.is_symlink() and b"\0" not in path.read_bytes()[:8192]:
            out.append(path)
    return out


def name(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("package", LAYERS)
def test_no_package_imports_tests_or_adapters(package: str) -> None:
    local = {path.stem for path in TESTS}
    assert "run_helpers" in local
    for path in LAYERS[package].rglob("*.py"):
        assert imported(path.read_text("utf-8")) & local == set(), name(path)


def test_each_test_is_run_by_an_environment() -> None:
    tox = ConfigParser(interpolation=None)
    tox.read(REPOSITORY / "tox.ini", "utf-8")
    commands, once, quick = (tox[env]["commands"] for env in ("testenv", "testenv:once", "testenv:quick"))
    marked = {name(path) for path in TESTS if "pytest.mark.every_" + "python" in path.read_text("utf-8")}
    everywhere = tuple(part for part in commands.split() if part.count("/"))
    assert len(marked) > 20
    assert {path for path in marked if not path.startswith(everywhere)} == set()
    on_spark = {name(path) for path in TESTS if "pytest.mark." + "spark" in path.read_text("utf-8")}
    corpora = tuple(part for part in tox["testenv:spark"]["commands"].split() if part.count("/"))
    assert {path for path in on_spark if not path.startswith(corpora)} == set()
    assert '-m "every_python and not exhaustive and not spark"' in commands
    assert '-m "not exhaustive and not spark"' in once
    assert [part for part in once.split() if part.count("/")] == []
    for path in (*everywhere, *corpora, *(part for part in quick.split() if part.count("/"))):
        assert (REPOSITORY / path).exists(), path
    assert {"py312", "py313", "once", "spark"} <= set(re.split(r",\s*", tox["tox"]["env_list"]))


@pytest.mark.parametrize(
    ("pattern", "text", "seen"),
    [
        (HOSTS, "index-url = http://" + "nexus.example.com/simple", True),
        (HOSTS, "https://" + "files" + ".pythonhosted.org/packages/x.whl", True),
        (HOSTS, "https://pypi.org/project/sds-conformance", False),
        (MACHINE_PATHS, "see /" + "home/alice/x.py", True),
        (MACHINE_PATHS, "../home/alice and/work/together", False),
    ],
)
def test_a_host_of_a_registry_and_a_path_of_a_machine_would_be_seen(
    pattern: re.Pattern[str], text: str, seen: bool
) -> None:
    assert bool(pattern.search(text)) == seen


@pytest.mark.parametrize("pattern", [HOSTS, MACHINE_PATHS], ids=["hosts", "paths"])
def test_no_file_knows_the_machine_it_was_written_on(pattern: re.Pattern[str]) -> None:
    seen = {
        name(path): found.group()
        for path in texts()
        if (found := pattern.search(path.read_text("utf-8", errors="replace")))
    }
    assert seen == {}


WRITERS = {
    "harness/sds_harness/files.py": "the one writer of files",
    "harness/sds_harness/nodes.py": "its part for FIFOs, devices and descriptors",
    "harness/sds_harness/transcript/writer.py": "appends to a file that the writer has made",
    "harness/sds_harness/clock.py": "into a private temporary folder",
    "harness/sds_harness/corpus/java.py": "into a private temporary folder",
    "harness/sds_harness/corpus/spark.py": "into a private temporary folder",
    "conformance/sds_conformance/cli/certificate/signing.py": "into a private temporary folder",
    "conformance/sds_conformance/cli/__init__.py": "the stream of stderr",
}
"""The modules that may open a file for writing, with the reason."""
PLACES = {
    "harness/sds_harness/corpus/recorder.py",
    "conformance/sds_conformance/corpus/report.py",
    "conformance/sds_conformance/cli/command_groups.py",
}
"""Modules that call ``Place.write_text``, which writes through Arrow, also to Hadoop file systems; or the method of
that name of click's help formatter."""


def writes(call: ast.Call) -> bool:
    """Does a call write a file, or open one for writing?"""
    function, said = call.func, ast.unparse(call)
    if isinstance(function, ast.Attribute):
        if function.attr in ("write_text", "write_bytes"):
            return True
        if ast.unparse(function) == "os.open":
            return "O_RDONLY" not in said and "devnull" not in said and "O_" in said
    named = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    modes = [*call.args[:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return named == "open" and any(re.fullmatch(r"[rbt]*[wax+][wax+bt]*", text) for text in texts)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("path.write_text('a')", True),
        ("os.open(path, os.O_WRONLY)", True),
        ("os.open(path, os.O_RDONLY)", False),
        ("path.open('rb')", False),
    ],
)
def test_a_call_that_writes_a_file_would_be_seen(text: str, seen: bool) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert bool(writes(call)) == seen


def test_files_are_written_by_one_module() -> None:
    """A user may name /dev/stdout, a FIFO or a link: one module handles them."""
    found = {
        name(path)
        for path in modules()
        if re.search(r"open\(|write_", text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and writes(node)
    }
    assert found - WRITERS.keys() - PLACES == set()
    assert WRITERS.keys() <= found


UNPICKLING = {
    *("_pickle", "cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "pickle", "shelve"),
    *("numpy.load", "pandas.read_pickle", "pyspark.cloudpickle", "pyspark.serializers"),
}


def test_one_module_unpickles() -> None:
    """Bytes that are unpickled can run any code. ruff rejects imports of what unpickles."""
    lint = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert lint["flake8-tidy-imports"]["banned-api"].keys() >= UNPICKLING
    excused = {place for place, rules in lint["per-file-ignores"].items() if "TID251" in rules}
    assert excused == {"conformance/sds_conformance/judging/trace_storage.py", "*/tests/**"}
    lines = [line for path in modules() for line in path.read_text("utf-8").splitlines() if "noqa: TID251" in line]
    assert [line for line in lines if "time.time" not in line] == []
