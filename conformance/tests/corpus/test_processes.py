"""Recording as a process: what is left when it is interrupted, when a worker is killed, and when PySpark is missing."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from run_helpers import broken_adapter, reference_command

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from pyarrow import parquet as pq

pytestmark = pytest.mark.spark

SCHEDULES = 256
"""Four shards for two workers: when the first is committed, others are being recorded."""
PATIENCE_S = 240.0
T = TypeVar("T")


def command(folder: Path, *options: str, adapter: Sequence[str] = tuple(reference_command())) -> list[str]:
    return [
        *(sys.executable, "-m", "sds_conformance", "corpus", "record", "--out", str(folder)),
        *("--schedules", str(SCHEDULES), "--master", "local[2]", "--spark-memory", "512m", "--framing", "binary"),
        *("--no-twins", *options, "--", *adapter),
    ]


@contextmanager
def recording(
    folder: Path, *options: str, adapter: Sequence[str] = tuple(reference_command()), temporary: str = ""
) -> Iterator[subprocess.Popen[str]]:
    line, variables = command(folder, *options, adapter=adapter), {"TMPDIR": temporary} if temporary else {}
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | variables
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(process: subprocess.Popen[str], look: Callable[[], list[T]]) -> list[T]:
    """The first output."""
    end = time.monotonic() + PATIENCE_S
    while not (seen := look()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)
    return seen


def shards(folder: Path) -> list[Path]:
    return sorted((folder / "schedules").glob("part-*"))


def whole(folder: Path) -> bool:
    """Is every schedule there once?"""
    numbers = pq.read_table(folder / "schedules", columns=["schedule"])["schedule"].to_pylist()
    rows = pq.read_table(folder / "steps", columns=["schedule", "position"])
    keys = set(zip(rows["schedule"].to_pylist(), rows["position"].to_pylist(), strict=True))
    return numbers == list(range(SCHEDULES)) and len(keys) == rows.num_rows


def workers(process: subprocess.Popen[str], name: str = "sds_reference") -> list[psutil.Process]:
    """Spark's workers below a command that have an implementation running: these come and go while one looks."""
    out = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # or a zombie
            if name in " ".join(child.cmdline()) and (parent := child.parent()):
                out.append(parent)
    return out


def test_an_interrupt_keeps_what_is_committed_and_leaves_no_process(tmp_path: Path) -> None:
    """Before that, Spark replaces a worker that is killed. The same command goes on, also without a stderr."""
    folder = tmp_path / "c"
    with recording(folder) as process:
        wait_until(process, lambda: list((folder / "steps").glob(".tmp-*")))
        wait_until(process, lambda: workers(process))[0].kill()
        wait_until(process, lambda: shards(folder))
        wait_until(process, lambda: workers(process))
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert stderr.splitlines()[-2:] == [
        f"The recorded part is kept in {folder}: the same command continues there.",
        "Interrupted.",
    ]
    assert "Traceback" not in stderr
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    kept = {file: file.stat().st_mtime_ns for file in shards(folder)}
    assert not (folder / "_SUCCESS").exists()
    line = ["sh", "-c", f"exec {shlex.join(command(folder))} 2>&-"]
    again = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    assert "had been recorded before" in again.stdout
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert whole(folder)
    assert (folder / "_SUCCESS").exists()


def test_who_is_terminated_waits_for_no_implementation(tmp_path: Path) -> None:
    """One that hangs, and may do so for ten minutes. No process stays, and no temporary folder, whatever its name."""
    folder, temporary = tmp_path / "c", tmp_path / "with a blank"
    temporary.mkdir()
    hanging = broken_adapter("hangs-on-close")
    with recording(folder, "--timeout", "600", adapter=hanging, temporary=str(temporary)) as process:
        wait_until(process, lambda: list((folder / "steps").glob(".tmp-*")))
        wait_until(process, lambda: workers(process, "hangs-on-close"))
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (143, ""), stderr
    assert "The recorded part is kept in" in stderr
    assert "Traceback" not in stderr
    assert psutil.wait_procs(family, timeout=10)[1] == []
    assert list(temporary.iterdir()) == []


def test_java_that_is_killed_is_reported_and_is_no_wrong_use(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with recording(folder) as process:
        wait_until(process, lambda: list((folder / "steps").glob(".tmp-*")))
        (java,) = [one for one in psutil.Process(process.pid).children(recursive=True) if one.name() == "java"]
        java.kill()
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (70, ""), stderr
    assert "its Java process has ended" in stderr
    assert "the same command continues there" in stderr
    assert "Traceback" not in stderr


def test_without_pyspark_a_sentence_says_what_to_type(tmp_path: Path) -> None:
    for name in ("pyspark", "pyarrow"):
        hidden = f"import sys; sys.modules[{name!r}] = None; from sds_conformance.cli import main; main()"
        line = [sys.executable, "-c", hidden, "corpus", "record", "--out", str(tmp_path / "c"), "--schedules", "2"]
        done = subprocess.run([*line, "--", *reference_command()], capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr
        assert "pip install 'sds-conformance[spark]'" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
