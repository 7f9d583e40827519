"""Affinity, cgroups and free memory limit the processors and the memory that the suite uses."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from sds_harness import resources
from sds_harness.resources import explain, socket_folder, usable_memory, usable_processors

V2 = "30 23 0:26 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"


def machine(root: Path, mounts: str, group: str, **files: str) -> Path:
    """A machine with these files and a process in this cgroup. In the names of files, ``__`` stands for a slash."""
    for name, text in {"proc/self/mountinfo": mounts, "proc/self/cgroup": group, **files}.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def v2(root: Path, mounted: str = "/", path: str = "/a/b", **files: str) -> Path:
    return machine(
        root, V2.format(root=mounted), f"0::{path}\n", **{f"sys/fs/cgroup/{name}": text for name, text in files.items()}
    )


@pytest.mark.parametrize(
    ("files", "processors"),
    [
        ({}, 64),
        ({"a/b/cpu.max": "max 100000\n"}, 64),
        ({"a/b/cpu.max": "150000 100000\n"}, 2),
        ({"a/b/cpu.max": "800000 100000\n", "a/cpu.max": "400000 100000\n", "cpu.max": "200000 100000"}, 2),
        ({"a/b/cpu.max": "9900000 100000\n"}, 64),
        ({"a/b/cpu.max": "nonsense\n"}, 64),
        ({"a/b/cpu.max": "100000 0\n"}, 64),
    ],
)
def test_the_quota_of_every_group_above_counts(tmp_path: Path, files: dict[str, str], processors: int) -> None:
    assert usable_processors(v2(tmp_path, **files), affinity=64) == processors


@pytest.mark.parametrize("mounted", ["/docker/x", "/"])
def test_in_a_container_the_mount_begins_at_its_group(tmp_path: Path, mounted: str) -> None:
    where = "" if mounted != "/" else "docker/x/"
    root = v2(tmp_path, mounted, "/docker/x", **{f"{where}cpu.max": "200000 100000\n"})
    assert usable_processors(root, affinity=64) == 2


def test_memory_is_what_the_group_and_the_machine_have_left(tmp_path: Path) -> None:
    root = v2(tmp_path, **{"a/memory.max": f"{1 << 30}\n", "a/memory.current": f"{1 << 29}\n"})
    assert usable_memory(root) == 1 << 29
    (root / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:     1024 kB\n", "utf-8")
    assert usable_memory(root) == 1 << 20


def test_nothing_is_known_of_a_machine_without_proc(tmp_path: Path) -> None:
    assert usable_processors(tmp_path, affinity=8) == 8
    assert usable_memory(tmp_path) is None


@pytest.mark.parametrize("length", [20, 200])
def test_a_socket_fits_into_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    folder = tmp_path / ("x" * length)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert len(os.fsencode(socket_folder())) <= 70


def test_without_any_folder_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(resources.MissingResourceError, match="set TMPDIR to one that can"):
        socket_folder()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
def test_what_the_machine_lacks_is_said_in_one_line(number: int) -> None:
    said = explain(OSError(number, os.strerror(number), "/some/where"))
    assert said.startswith(f"/some/where: {os.strerror(number)}: ")
    assert "\n" not in said


def test_a_thread_that_cannot_be_started_is_what_the_machine_lacks() -> None:
    assert explain(RuntimeError("can't start new thread")).startswith("The machine starts no more processes: raise")
