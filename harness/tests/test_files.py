"""Untrusted files are read within bounds, and written files replace nothing else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from sds_harness.files import FileError, parse_json, read_bytes, try_to_write, write_whole

pytestmark = pytest.mark.every_python

NOTHING = "cannot be read: No such file or directory"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize("make", [_pipe, _device, _socket])
def test_what_is_no_file_is_refused_at_once(make: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    assert callable(make)
    make(Path("odd"))
    with pytest.raises(FileError, match=r"is not a regular file|cannot be read: No such device or address"):
        read_bytes(Path("odd"), 1 << 20)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", NOTHING),
        (".", "cannot be read: Is a directory"),
        ("a\0b", "cannot be read: a file cannot have that name"),
    ],
)
def test_what_cannot_be_read_says_why(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        read_bytes(tmp_path / name, 10)
    assert str(caught.value) == said


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1E999"])
def test_a_number_that_is_not_finite_is_refused(number: str) -> None:
    with pytest.raises(FileError, match=f"{number} is not a number of JSON, or does not fit in 64 bits"):
        parse_json(f'{{"seconds": [{number}]}}')
    assert parse_json("[1e-400, -0.5, 1e308]") == [0.0, -0.5, 1e308]


def test_no_more_is_read_than_may_be(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2048)
    assert len(read_bytes(path, 2048)) == 2048
    with pytest.raises(FileError, match=r"^has more than 1 KiB$"):
        read_bytes(path, 1024)
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a sparse file, which takes no room on the disk
    with pytest.raises(FileError, match=r"^has more than 3 MiB$"):
        read_bytes(path, 3 << 20)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 200_000, "nested too deep"),
        ('{"a":' * 200_000, "nested too deep"),
        ('{"a": 1, "a": 2}', "duplicate key"),
        ('{"a": [', "was cut off"),
        (b"\xff", "is not JSON"),
        ("1" * 10_000, "is not JSON"),
    ],
)
def test_json_that_cannot_be_taken_is_one_clear_error(text: str | bytes, said: str) -> None:
    with pytest.raises(FileError, match=said) as caught:
        parse_json(text)
    assert len(str(caught.value)) < 200


def test_a_link_that_waits_for_us_is_not_followed(tmp_path: Path) -> None:
    """An attacker with write access knows the name of the report, but not the temporary name."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("report.jsonl.tmp", "report.json.tmp", "report.jsonl"):
        (out / name).symlink_to(victim)
    write_whole(out / "report.jsonl", "theirs")
    try_to_write(out)
    assert victim.read_text() == "mine"
    assert (out / "report.jsonl").read_text() == "theirs"
    assert not (out / "report.jsonl").is_symlink()


def test_two_who_write_the_same_file_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report"
    between: list[Path] = []
    replace = os.replace

    def also_another(source: Path, target: Path) -> None:
        if not between:
            between.append(source)
            write_whole(path, "another")
        replace(source, target)

    monkeypatch.setattr(os, "replace", also_another)
    write_whole(path, "one")
    assert path.read_text() == "one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report"]


def test_a_file_is_as_open_as_the_user_wants_it(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", "a surrogate \ud800")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "file").read_text() == "a surrogate \\ud800"
