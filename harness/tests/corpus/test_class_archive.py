"""The archive of Spark's classes: made once, used when whole, and never in anybody's way."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
from sds_harness.corpus.class_archive import ClassArchive, class_archive
from sds_harness.corpus.java import Java
from sds_harness.corpus.spark import SparkOptions, spark_session

pytestmark = pytest.mark.spark


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    """One with an archive of its own classes, which is what others build upon."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    base = tmp_path / "java" / "lib" / "server" / "classes.jsa"
    base.parent.mkdir(parents=True)
    base.touch()
    return Java(tmp_path / "java", 17, "JAVA_HOME")


def archive(java: Java) -> ClassArchive:
    found = class_archive(java)
    assert found is not None
    return found


def test_the_first_writes_it_and_the_next_reads_it(java: Java) -> None:
    first = archive(java)
    assert first.options.startswith(f"-XX:ArchiveClassesAtExit={first.half} ")

    def ended() -> bool:
        first.half.write_text("classes")
        return True

    first.keep(ended)
    assert (first.file.read_text(), first.half.exists()) == ("classes", False)
    second = archive(java)
    assert second.file == first.file
    assert second.options.startswith(f"-XX:SharedArchiveFile={first.file} ")
    another = archive(Java(java.home, 21, "JAVA_HOME"))
    assert another.file != first.file


def test_half_an_archive_is_none(java: Java) -> None:
    def killed() -> bool:
        found.half.write_text("cla")
        return False

    def endless() -> bool:
        found.half.write_text("cla")
        raise subprocess.TimeoutExpired("java", 1.0)

    for ended in (killed, endless):
        found = archive(java)
        found.keep(ended)
        assert not found.there
        assert not found.half.exists()


def test_where_there_can_be_none_there_is_none(java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert class_archive(Java(tmp_path, 17, "JAVA_HOME")) is None, "a Java without an archive of its own"
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "with a blank"))
        assert class_archive(java) is None
    (tmp_path / "file").touch()
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert class_archive(java) is None
    monkeypatch.setenv("CI", "true")
    assert class_archive(java) is None


@pytest.mark.exhaustive
def test_java_writes_one_and_starts_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for _ in range(2):
        with spark_session(SparkOptions("local[1]", "512m")) as spark:
            assert spark.range(5).count() == 5
    (kept,) = (tmp_path / "cache").rglob("*.*")
    assert kept.suffix == ".jsa"
    assert kept.stat().st_size > 1 << 20
