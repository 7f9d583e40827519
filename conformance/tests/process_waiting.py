"""Waiting for what other processes do, and asking whether they are still there."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

PATIENCE_S = 120


def wait_for(what: Callable[[], object], limit_s: float = PATIENCE_S) -> bool:
    """Did it come about in time?"""
    deadline = time.monotonic() + limit_s
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def lives(pid: int) -> bool:
    """Does a process run?"""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
