"""Java gets no archive of classes in a folder whose name it would not read as one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("platformdirs")
from sds_harness.corpus import class_archive
from sds_harness.corpus.java import Java


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    base = tmp_path / "java" / "lib" / "server" / "classes.jsa"
    base.parent.mkdir(parents=True)
    base.touch()
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(class_archive, "find_spec", lambda name: SimpleNamespace(origin=str(base)))
    monkeypatch.setattr(class_archive, "version", lambda name: "4.3.0")
    return Java(tmp_path / "java", 17, "JAVA_HOME")


@pytest.mark.parametrize("name", ["two\nlines", "a blank", "a:colon", 'a"quote', "a\\b", "%h"])
def test_an_odd_folder_has_none(java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(class_archive, "user_cache_path", lambda *_, **__: tmp_path / name)
    assert class_archive.class_archive(java) is None
    assert not (tmp_path / name).exists()


def test_a_relative_folder_has_none(java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(class_archive, "user_cache_path", lambda *_, **__: Path("~/.cache"))
    assert class_archive.class_archive(java) is None
    assert not (tmp_path / "~").exists()


def test_nobody_knows_a_home(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(class_archive, "user_cache_path", nobody)
    assert class_archive.class_archive(java) is None


def test_a_plain_folder_has_one(java: Java, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    found = class_archive.class_archive(java)
    assert found is not None
    assert found.file.parent == tmp_path / "cache"
