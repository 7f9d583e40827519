"""Where the suite runs: Linux, macOS, which has less, and Windows, where it says in a line what to do."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from run_helpers import REPOSITORY, reference_command
from suite_terminal import typed

ONLY_LINUX = ("pidfd_open", "sched_getaffinity", "posix_fadvise", "memfd_create", "eventfd", "splice")
"""Of what ``os`` has."""
RUN = ("run", "--environment", "plain", "--scenario", "two-channels")


@pytest.mark.parametrize("command", [RUN, ("fuzz", "--schedules", "2", "--jobs", "2")], ids=lambda command: command[0])
def test_programs_and_their_workers_play_without_it(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        textwrap.dedent(
            f"""
            import ctypes, os, psutil
            psutil.PROCFS_PATH = "/nowhere"
            for name in {ONLY_LINUX}:
                if hasattr(os, name):
                    delattr(os, name)
            class WithoutPrctl(ctypes.CDLL):
                def __getattr__(self, name):
                    if name == "prctl":
                        raise AttributeError(name)
                    return super().__getattr__(name)
            ctypes.CDLL = WithoutPrctl
            """
        )
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [sys.executable, "-m", "sds_conformance", *command, "--", *reference_command()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr


def test_windows_is_told_what_to_do_by_whatever_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    for arguments in (["run"], ["--help"], ["corpus", "record", "here"]):
        result = typed(*arguments)
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
        assert "On Windows, use it in WSL" in result.stderr
        assert result.stdout == ""


def test_windows_gets_that_far() -> None:
    """The modules that are imported before need nothing that Windows lacks."""
    program = """
        import click, multiprocessing, os, platform, psutil, secrets, signal, subprocess, sys  # they know about Windows
        for name in ("fcntl", "resource", "pwd", "grp", "termios", "pty"):
            sys.modules[name] = None
        platform.system = lambda: "Windows"
        for name in ("SIGHUP", "SIGKILL", "SIGALRM", "setitimer"):
            delattr(signal, name)
        for name in ("getsid", "setsid", "killpg", "register_at_fork", "openpty"):
            delattr(os, name)
        from sds_conformance.cli import main
        main()
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), "run"], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("sds-conformance needs the processes and signals of Linux or macOS.")
    assert result.stderr.count("\n") == 1


def test_the_package_says_where_it_runs() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    systems = {line for line in project["classifiers"] if line.startswith("Operating System")}
    assert systems == {"Operating System :: POSIX :: Linux", "Operating System :: MacOS"}
    assert "Linux or macOS (on Windows: WSL)" in (REPOSITORY / "README.md").read_text("utf-8")
