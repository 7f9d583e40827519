"""Finds the machine's resources for the suite: processors, memory, a folder for sockets, semaphores.

In a container, the CPU quota and the memory limit of the cgroup, or of one of its parents, apply.
"""

from __future__ import annotations

import errno
import math
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .safe_path import safe_path

WORKER_BYTES = 200 << 20
"""Memory of one worker with its implementation: about 60 MiB of the suite, and a Python or Node process."""
MOST_JOBS = 256
_LONGEST_FOLDER = 70
"""Maximum length of a folder path in bytes. A socket path may have 104, and multiprocessing appends up to 32."""
_MISSING = {
    errno.EAGAIN: "the machine starts no more processes: raise `ulimit -u`, or use fewer --jobs",
    errno.EDQUOT: "the quota of the disk is used up: free some room, or set TMPDIR to a folder that has some",
    errno.EMFILE: "too many files are open: raise `ulimit -n`, or use fewer --jobs",
    errno.ENFILE: "the machine can open no more files: use fewer --jobs",
    errno.ENOMEM: "the memory is exhausted: use fewer --jobs",
    errno.ENOSPC: "the disk is full: free some space, or set TMPDIR to a folder on another disk",
    errno.EROFS: "the file system is read-only: set TMPDIR to a folder that can be written",
}
_NO_THREAD = "can't start new thread"
"""The message of the RuntimeError that Python raises if the machine cannot start more threads."""


class MissingResourceError(Exception):
    """The machine lacks a resource; the message names it and the remedy."""


def explain(error: BaseException) -> str:
    """A sentence that names the resource that the machine lacks and the remedy, if ``error`` shows a lack; otherwise
    "".
    """
    if isinstance(error, MissingResourceError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"{_MISSING[errno.ENOMEM].capitalize()}."
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return f"{_MISSING[errno.EAGAIN].capitalize()}."
    if isinstance(error, FileNotFoundError) and "No usable temporary directory" in str(error):
        return "No folder for temporary files can be written: set TMPDIR to one that can."
    if not isinstance(error, OSError) or error.errno not in _MISSING:
        return ""
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{os.strerror(error.errno)}: {_MISSING[error.errno]}."


# ---- Processors and memory -----------------------------------------------------------------------------------------


def usable_jobs() -> int:
    """The number of worker processes that this machine can run at the same time, each with one implementation."""
    return jobs_for(usable_processors(), usable_memory())


def jobs_for(processors: int, memory: int | None) -> int:
    """The number of worker processes for ``processors`` and for ``memory`` in bytes (None if it is not known)."""
    jobs = processors if memory is None else min(processors, memory // WORKER_BYTES)
    return max(1, min(jobs, MOST_JOBS))


def usable_processors(root: Path = Path("/"), affinity: int | None = None) -> int:
    """How many processors this process may use.

    ``root`` is the folder in which /proc and the cgroups are looked up. ``affinity`` is the number of processors that
    the system lets this process run on; None asks the system.
    """
    if affinity is None:
        has_affinity = hasattr(os, "sched_getaffinity")
        affinity = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    quotas = [quota for group, version in _cgroups(root, "cpu") if (quota := _quota(group, version)) is not None]
    return max(1, min([affinity, *map(math.ceil, quotas)]))


def usable_memory(root: Path = Path("/")) -> int | None:
    """Bytes of memory available to this process; None if unknown."""
    left = [_free_in_cgroup(group, version) for group, version in _cgroups(root, "memory")]
    available = re.search(r"^MemAvailable:\s+(\d+) kB$", _text(root / "proc/meminfo"), re.MULTILINE)
    known = [each for each in [*left, int(available[1]) << 10 if available else None] if each is not None]
    return min(known, default=None)


def _cgroups(root: Path, controller: str) -> Iterator[tuple[Path, int]]:
    """The folders of the cgroups that limit this process, innermost first, each with the version of the hierarchy."""
    paths = {}
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            paths[2] = path
        elif controller in controllers.split(","):
            paths[1] = path
    for line in _text(root / "proc/self/mountinfo").splitlines():
        mounted, _, kind = line.partition(" - ")
        fields, kinds = mounted.split(), kind.split()
        if len(fields) < 5 or len(kinds) < 3:
            continue
        version = 2 if kinds[0] == "cgroup2" else 1 if kinds[0] == "cgroup" else 0
        if version == 0 or version not in paths or (version == 1 and controller not in kinds[2].split(",")):
            continue
        top, path = fields[3].rstrip("/"), paths[version]
        # In a container the mount may begin at the cgroup of the container, while the path is still the full one.
        inner = path.removeprefix(top) if path == top or path.startswith(f"{top}/") else ""
        folder = root / fields[4].lstrip("/").replace("\\040", " ")
        parts = [part for part in inner.split("/") if part not in ("", "..")]
        for end in range(len(parts), -1, -1):
            yield folder.joinpath(*parts[:end]), version


def _quota(group: Path, version: int) -> float | None:
    """The CPU quota of a cgroup, as a number of processors; None if there is no quota."""
    if version == 2:
        quota, _, period = _text(group / "cpu.max").strip().partition(" ")
    else:
        quota, period = (_text(group / f"cpu.cfs_{what}_us").strip() for what in ("quota", "period"))
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else None


def _free_in_cgroup(group: Path, version: int) -> int | None:
    """Bytes that a cgroup may still use; None if there is no limit. Its file cache counts as free."""
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    limit, used = (_text(group / name).strip() for name in names)
    if not limit.isdecimal() or int(limit) >= 1 << 62:
        return None
    cached = re.search(r"^(?:total_)?inactive_file (\d+)$", _text(group / "memory.stat"), re.MULTILINE)
    taken = (int(used) if used.isdecimal() else 0) - (int(cached[1]) if cached else 0)
    return max(0, int(limit) - max(0, taken))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


# ---- Sockets and semaphores ----------------------------------------------------------------------------------------


@cache
def why_alone() -> str:
    """The reason why worker processes cannot be used, with the remedy; "" if they can be used."""
    import multiprocessing  # imported late because it is slow; only needed to start processes

    try:
        socket_folder()
        with safe_path():  # creating a lock starts a Python process that cleans up locks
            multiprocessing.get_context("fork").Lock()
    except MissingResourceError as missing:
        return str(missing)
    except (OSError, ImportError) as error:
        reason = getattr(error, "strerror", None) or error
        return f"/dev/shm has no room for semaphores ({reason}): mount it so that it can be written."
    return ""


def socket_folder() -> str:
    """A folder for temporary files whose path is short enough for a socket. Raises MissingResourceError."""
    try:
        usual = tempfile.gettempdir()
    except FileNotFoundError as error:
        raise MissingResourceError(explain(error)) from None
    for folder in (usual, os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/var/tmp", "/dev/shm"):
        if folder and len(os.fsencode(folder)) <= _LONGEST_FOLDER and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise MissingResourceError(
        f"{usual} is too long for a socket, and no other folder can be written: set TMPDIR to one."
    )


@contextmanager
def in_socket_folder() -> Iterator[None]:
    """Temporary folders made in this block have paths that are short enough for a socket. Raises
    MissingResourceError."""
    before, tempfile.tempdir = tempfile.tempdir, socket_folder()
    try:
        yield
    finally:
        tempfile.tempdir = before
