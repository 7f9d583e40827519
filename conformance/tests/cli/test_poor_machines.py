"""Machines that lack a folder for temporary files, room for semaphores, or processes to look at."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from run_helpers import reference_command

SUITE = [sys.executable, "-m", "sds_conformance"]
FUZZ = ("fuzz", "--jobs", "2", "--schedules", "2", "--participants", "3")
RUN = ("run", "--jobs", "2", "--environment", "plain", "--select", "SDS-RECV-06")
SELFTEST = ("selftest", "--only", "starts-at-zero", "--jobs", "2")
READ_ONLY = "mount -t tmpfs -o ro none {}"
FULL = "mount -t tmpfs -o size=4k none {0} && dd if=/dev/zero of={0}/full bs=4k count=1 status=none"
NO_TEMPORARY = "; ".join(
    [
        "mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp",  # the checkout may stand in it
        *(READ_ONLY.format(folder) for folder in ("/var/tmp", "/dev/shm")),
    ]
)


@cache
def may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "-m", "sh", "-c", "mount --make-rprivate / && mount -t tmpfs none /mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def suite(*arguments: str, mounts: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """A command of the suite, with mounts that only it sees."""
    command = [*SUITE, *arguments]
    if mounts:
        if not may_mount():
            pytest.skip("needs the right to mount in a namespace of its own")
        script = f"mount --make-rprivate / && {{ {mounts}; }} && cd /proc && exec {shlex.join(command)}"
        command = ["unshare", "-m", "sh", "-c", script]
    without = {
        name: value for name, value in os.environ.items() if name not in ("TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR")
    }
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env={**without, **environment},
        timeout=120,
        check=False,
    )


def plays(ended: subprocess.CompletedProcess[str], note: str = "") -> None:
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    assert note in ended.stderr


@pytest.mark.parametrize(
    ("command", "mount"),
    [(FUZZ, READ_ONLY), pytest.param(SELFTEST, FULL, marks=pytest.mark.exhaustive)],
    ids=["fuzz-read-only", "selftest-full"],
)
def test_without_room_for_semaphores_one_process_plays(command: tuple[str, ...], mount: str) -> None:
    plays(
        suite(*command, mounts=mount.format("/dev/shm")),
        "Using --jobs 1 instead of 2: /dev/shm has no room for semaphores",
    )


def test_without_a_folder_for_temporary_files_one_process_plays() -> None:
    plays(suite(*FUZZ, mounts=NO_TEMPORARY), "No folder for temporary files can be written: set TMPDIR")


def test_a_server_without_a_folder_for_its_socket_is_no_fault_of_ours() -> None:
    pytest.importorskip("grpc")
    ended = suite(*RUN, "--grpc", "auto", "--", *reference_command(), mounts=NO_TEMPORARY)
    assert ended.returncode == 70
    assert "No folder for temporary files can be written: set TMPDIR" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "folder", ["x" * 90, pytest.param("missing/folder", marks=pytest.mark.exhaustive)], ids=["long", "missing"]
)
def test_the_folder_for_temporary_files_may_be_far_away(tmp_path: Path, folder: str) -> None:
    if "/" not in folder:
        (tmp_path / folder).mkdir()
    plays(suite(*FUZZ, TMPDIR=str(tmp_path / folder)))
