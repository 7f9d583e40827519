"""Output paths of every kind: each is written as its kind requires, or refused, and none is replaced by mistake."""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from output_nodes import NODES, REFUSED
from sds_harness import nodes
from sds_harness.files import check_folder, check_named, make_folder, write_named, write_new

LARGE = "x" * (1 << 20)
"""A text that is larger than the buffer of a FIFO."""


@contextmanager
def reading(path: Path, most: int = -1) -> Iterator[list[bytes]]:
    """Reads a FIFO in a thread, to its end or up to a number of bytes."""
    seen: list[bytes] = []

    def read() -> None:
        with path.open("rb", buffering=0) as file:
            seen.append(file.read(most) if most >= 0 else file.readall() or b"")

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    yield seen
    thread.join(20)


# ---- Paths that the user named -----------------------------------------------------------------------------------


def test_a_reader_that_goes_away_or_never_reads_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "PROGRESS_S", 0.2)
    path = tmp_path / "out"
    os.mkfifo(path)
    with reading(path, most=1), pytest.raises(BrokenPipeError, match="the reader closed the FIFO"):
        write_named(path, LARGE)
    idle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(TimeoutError, match=r"the reader read nothing for 0\.2 s"):
            write_named(path, LARGE)
    finally:
        os.close(idle)


@pytest.mark.parametrize("kind", REFUSED)
def test_other_nodes_are_refused_and_stay(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    NODES[kind](path)
    (tmp_path / "link").symlink_to(path)
    before = path.lstat()
    for named in (path, tmp_path / "link"):
        for write in (check_named, lambda named: write_named(named, "text")):
            with pytest.raises(OSError, match=f"{kind.replace('-', ' ')}, not a regular file|Is a directory"):
                write(named)
    assert path.lstat().st_ino == before.st_ino


# ---- Descriptors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["/dev/fd/{0}", "/proc/self/fd/{0}", "/proc/{1}/fd/{0}", "link", "links"])
def test_a_descriptor_is_written_to_where_it_stands(named: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    number = os.open(tmp_path / "log", os.O_WRONLY)
    os.lseek(number, 0, os.SEEK_END)
    (tmp_path / "link").symlink_to(f"/dev/fd/{number}")
    (tmp_path / "links").symlink_to("link")
    path = tmp_path / named if named.startswith("link") else Path(named.format(number, os.getpid()))
    try:
        if named.startswith("/proc") and not path.parent.exists():
            pytest.skip("there is no /proc")
        check_named(path)
        write_named(path, "report\n")
        os.write(number, b"after\n")
    finally:
        os.close(number)
    assert (tmp_path / "log").read_text() == "before\nreport\nafter\n"


def test_a_descriptor_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    number = os.open(tmp_path / "file", os.O_RDONLY)
    try:
        with pytest.raises(OSError, match=f"descriptor {number} is open for reading only"):
            check_named(Path(f"/dev/fd/{number}"))
    finally:
        os.close(number)
    with pytest.raises(OSError, match=f"descriptor {number} is not open"):
        write_named(Path(f"/dev/fd/{number}"), "text")


@pytest.mark.parametrize("named", ["/proc/{}/fd/1", "/proc/{0}/task/{0}/fd/1"])
def test_a_descriptor_of_another_process_is_refused(named: str) -> None:
    with pytest.raises(OSError, match="descriptor of another process"):
        check_named(Path(named.format(os.getppid())))


# ---- Regular files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_file_that_cannot_be_replaced_is_written_in_place_and_that_is_said_once(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    path = tmp_path / "out"
    path.write_text("the old one was longer than the new one")
    before = path.stat().st_ino
    monkeypatch.setattr(os, "replace", refused)
    with caplog.at_level(logging.WARNING):
        for text in ("short", LARGE, "short"):
            write_named(path, text)
            assert path.read_text() == text
    assert path.stat().st_ino == before
    assert caplog.messages == [f"{path} was written in place, because it cannot be replaced: {os.strerror(error)}."]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    with pytest.raises(OSError, match=os.strerror(error)):
        write_named(tmp_path / "new", "text")


@pytest.mark.parametrize("where", ["beside", "in place"])
def test_a_full_disk_costs_nothing(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    path = tmp_path / "out"
    path.write_text("old")
    if where == "beside":
        monkeypatch.setattr(os, "fsync", full_disk)
    elif not hasattr(os, "posix_fallocate"):
        pytest.skip("room cannot be reserved here")
    else:
        monkeypatch.setattr(os, "replace", busy)
        monkeypatch.setattr(os, "posix_fallocate", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_named(path, "new and longer")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


# ---- File names of the suite in a folder that the user named ---------------------------------------------------------


def test_a_folder_of_ours_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "traces").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").touch()
    for name in ("traces", "file"):
        for check in (check_folder, make_folder):
            with pytest.raises(NotADirectoryError, match=f"{name} in it is"):
                check(tmp_path / name)
    for _ in range(2):
        make_folder(tmp_path / "made")
        check_folder(tmp_path / "made")


def test_a_new_file_takes_no_place_of_another(tmp_path: Path) -> None:
    write_new(tmp_path / "new", b"text")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"other")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "link", b"other")
    assert (tmp_path / "new").read_bytes() == b"text"
