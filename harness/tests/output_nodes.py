"""Makes every kind of node that an output path can name, in a folder of the test."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

OTHER = 65534
"""The user ID of a user who is not root."""


def _regular(path: Path) -> None:
    path.write_text("old")


def _device(path: Path, kind: int, major: int, minor: int) -> None:
    if os.geteuid():
        pytest.skip("only root makes devices")
    try:
        os.mknod(path, kind | 0o666, os.makedev(major, minor))
        if kind == stat.S_IFCHR:
            os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"devices are not allowed here: {error.strerror}")


def _null(path: Path) -> None:
    _device(path, stat.S_IFCHR, 1, 3)


def full(path: Path) -> None:
    """A device that is always full."""
    _device(path, stat.S_IFCHR, 1, 7)
    assert stat.S_ISCHR(path.lstat().st_mode)


def _block(path: Path) -> None:
    _device(path, stat.S_IFBLK, 7, 0)


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the path of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _link(path: Path) -> None:
    target = path.with_name(f"{path.name}-target")
    target.write_text("old")
    path.symlink_to(target)


def _link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name(f"{path.name}-target"))


def _hard_link(path: Path) -> None:
    other = path.with_name(f"{path.name}-other")
    other.write_text("old")
    path.hardlink_to(other)


def _read_only(path: Path) -> None:
    path.write_text("old")
    path.chmod(0o444)


def _of_another(path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    path.write_text("old")
    path.chmod(0o600)
    os.chown(path, OTHER, OTHER)


NODES: dict[str, Callable[[Path], None]] = {
    "new": lambda path: None,
    "regular": _regular,
    "read-only": _read_only,
    "of-another": _of_another,
    "hard-link": _hard_link,
    "link": _link,
    "link-to-nothing": _link_to_nothing,
    "fifo": os.mkfifo,
    "device": _null,
    "block-device": _block,
    "socket": _socket,
    "folder": Path.mkdir,
}
FILES = ("new", "regular", "read-only", "of-another", "hard-link", "link", "link-to-nothing")
"""Names of nodes that are, or become, a regular file."""
STREAMS = ("fifo", "device")
"""Names of nodes that are not replaced: the text is written to them."""
REFUSED = ("block-device", "socket", "folder")
