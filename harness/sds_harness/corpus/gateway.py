"""The Java process behind PySpark, and how it is ended: in order when the work is done, at once when somebody asks for
the end, with all that it has started."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import psutil

from .class_archive import MOST_S, ClassArchive

_END_S = 3.0
_AT_ONCE_S = 0.5
_ROUNDS = 5


def end_gateway(archive: ClassArchive | None) -> None:
    """End the Java process: PySpark would keep it, with the settings of this session, for the next one."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    with contextlib.suppress(Exception):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        with contextlib.suppress(Exception):
            process.stdin.close()
        try:
            if archive is not None and not archive.there:
                if sys.stderr.isatty():
                    print("Java keeps Spark's classes for quicker starts: once, some seconds.", file=sys.stderr)
                archive.keep(lambda: process.wait(MOST_S) == 0)
            with contextlib.suppress(Exception):
                process.wait(_END_S)
        finally:
            process.kill()


def end_at_once() -> None:
    """Kill the Java process, Spark's workers and the implementations that these have started, however busy they are.

    Java is stopped before, so that it puts no other workers in the place of those that go.
    """
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    with contextlib.suppress(psutil.Error):
        java = psutil.Process(process.pid)
        java.suspend()
        for _ in range(_ROUNDS):  # who is killed may just have started somebody
            family = java.children(recursive=True)
            for one in family:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            if not psutil.wait_procs(family, _AT_ONCE_S / _ROUNDS)[1] and not java.children():
                break
    process.kill()
    with contextlib.suppress(Exception):
        process.wait(_AT_ONCE_S)
