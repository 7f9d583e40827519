"""Machines, folders and Pythons that lack something: the suite plays, or says in a line what to do."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from functools import cache
from pathlib import Path

import pytest

import sds_conformance
from run_helpers import REPOSITORY, reference_command
from suite_terminal import typed

SUITE = [sys.executable, "-m", "sds_conformance"]
FUZZ = ("fuzz", "--jobs", "2", "--schedules", "2", "--participants", "3")
RUN = ("run", "--environment", "plain", "--select", "SDS-RECV-06")
SELFTEST = ("selftest", "--only", "starts-at-zero", "--jobs", "2")
REFERENCE = ("--", *reference_command())


@cache
def may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = ["unshare", "-m", "sh", "-c", "mount --make-rprivate / && mount -t tmpfs none /mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def ended(*command: str, cwd: Path | None = None, mounts: str = "", **environment: str) -> tuple[int, str]:
    """Exit code and output of a command, with mounts that only it sees."""
    if mounts:
        if not may_mount():
            pytest.skip("needs the right to mount in a namespace of its own")
        script = f"mount --make-rprivate / && {{ {mounts}; }} && cd /proc && exec {shlex.join(command)}"
        command = ("unshare", "-m", "sh", "-c", script)
    unset = ("TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR", "PYTHONSAFEPATH")
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**{name: value for name, value in os.environ.items() if name not in unset}, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stdout
    return done.returncode, done.stdout


# ---- Other systems ---------------------------------------------------------------------------------------------------

WITHOUT_LINUX = """
import ctypes, os, psutil
psutil.PROCFS_PATH = "/nowhere"
for name in ("pidfd_open", "sched_getaffinity", "posix_fadvise", "memfd_create", "eventfd", "splice"):
    if hasattr(os, name):
        delattr(os, name)
class WithoutPrctl(ctypes.CDLL):
    def __getattr__(self, name):
        if name == "prctl":
            raise AttributeError(name)
        return super().__getattr__(name)
ctypes.CDLL = WithoutPrctl
"""
WINDOWS = """
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


@pytest.mark.parametrize("command", [RUN, FUZZ], ids=lambda command: command[0])
def test_programs_and_their_workers_play_without_what_only_linux_has(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_LINUX)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    code, output = ended(*SUITE, *command, *REFERENCE, cwd=tmp_path, PYTHONPATH=path)
    assert code == 0, output


def test_windows_is_told_what_to_do_by_whatever_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Windows")
    for arguments in (["run"], ["--help"], ["corpus", "record", "here"]):
        result = typed(*arguments)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert "On Windows, use it in WSL" in result.stderr


def test_windows_gets_that_far() -> None:
    """The modules that are imported before need nothing that Windows lacks."""
    code, output = ended(sys.executable, "-c", WINDOWS, "run")
    assert (code, output.count("\n")) == (2, 1)
    assert output.startswith("sds-conformance needs the processes and signals of Linux or macOS.")


def test_the_package_says_where_it_runs() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    systems = {line for line in project["classifiers"] if line.startswith("Operating System")}
    assert systems == {"Operating System :: POSIX :: Linux", "Operating System :: MacOS"}
    assert "Linux or macOS (on Windows: WSL)" in (REPOSITORY / "README.md").read_text("utf-8")


# ---- Poor machines ---------------------------------------------------------------------------------------------------

READ_ONLY = "mount -t tmpfs -o ro none {}"
FULL = "mount -t tmpfs -o size=4k none {0} && dd if=/dev/zero of={0}/full bs=4k count=1 status=none"
NO_TEMPORARY = "; ".join(
    [
        "mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp",  # the checkout may be in /tmp
        *(READ_ONLY.format(folder) for folder in ("/var/tmp", "/dev/shm")),
    ]
)
NO_FOLDER = "No folder for temporary files can be written: set TMPDIR"


@pytest.mark.parametrize(
    ("command", "mounts", "said", "code"),
    [
        (FUZZ, READ_ONLY.format("/dev/shm"), "Using --jobs 1 instead of 2: /dev/shm has no room for semaphores", 0),
        (SELFTEST, FULL.format("/dev/shm"), "Using --jobs 1 instead of 2: /dev/shm has no room for semaphores", 0),
        (FUZZ, NO_TEMPORARY, NO_FOLDER, 0),
        ((*RUN, "--grpc", "auto", *REFERENCE), NO_TEMPORARY, NO_FOLDER, 70),
        (FUZZ, "mount -t tmpfs none /proc", "", 0),
    ],
    ids=["read-only", "full", "no-temporary", "no-socket", "empty-proc"],
)
def test_a_machine_without_room_plays_or_says_what_to_set(
    command: tuple[str, ...], mounts: str, said: str, code: int
) -> None:
    found, output = ended(*SUITE, *command, mounts=mounts)
    assert found == code, output
    assert said in output


def test_the_folder_for_temporary_files_may_be_far_away(tmp_path: Path) -> None:
    (tmp_path / ("x" * 90)).mkdir()
    code, output = ended(*SUITE, *FUZZ, TMPDIR=str(tmp_path / ("x" * 90)))
    assert code == 0, output


# ---- Modules ---------------------------------------------------------------------------------------------------------

WRONG = ("random", "typing", "click", "json", "threading", "selectors", "psutil", "google/__init__", "rich/__init__")
INSTALLED = [sys.executable, "-c", "import sys; sys.path.remove(''); from sds_conformance.cli import main; main()"]
"""The suite without the current folder in its own path, as the installed command."""
ADAPTER = "import helper\nfrom sds_reference.testee.command import main\nmain([])\n"


def test_only_implementations_import_from_the_folder_of_the_user(tmp_path: Path) -> None:
    wrong, own = tmp_path / "wrong", tmp_path / "own"
    for name in WRONG:
        path = wrong / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("raise SystemExit('the wrong module')\n", "utf-8")
    for command in ([*INSTALLED, *FUZZ], [*INSTALLED, *RUN], [*SUITE, "--version"]):
        code, output = ended(*command, cwd=wrong)
        assert (code, "the wrong module" in output) == (0, False), output
    own.mkdir()
    (own / "my_adapter.py").write_text(ADAPTER, "utf-8")
    (own / "helper.py").write_text("", "utf-8")
    code, output = ended(*INSTALLED, *FUZZ, "--", sys.executable, "-m", "my_adapter", cwd=own)
    assert code == 0, output


def test_the_program_starts_as_a_file_as_spark_submit_starts_it(tmp_path: Path) -> None:
    file = Path(sds_conformance.__path__[0]) / "__main__.py"
    code, output = ended(sys.executable, str(file), "--version", cwd=tmp_path)
    assert (code, output.partition(":")[0]) == (0, "sds-conformance")


def test_what_only_some_need_is_not_imported_by_run_and_fuzz() -> None:
    slow = ("jsonschema", "ruamel.yaml", "pyspark", "hypothesis", "grpc")
    program = f"import sds_conformance.cli.run, sds_conformance.cli.fuzz, sys; print({{*{slow}}} & {{*sys.modules}})"
    assert ended(sys.executable, "-c", program) == (0, "set()\n")


# ---- PYTHONOPTIMIZE=2 drops docstrings and asserts -------------------------------------------------------------------

TYPED = textwrap.dedent(
    """
    import json, sys
    from sds_conformance.cli import main
    for arguments in json.loads(sys.argv[1]):
        print("$", *arguments)
        try:
            main(arguments)
        except SystemExit as end:
            print("exit", end.code)
    """
)


@pytest.mark.exhaustive
def test_commands_print_the_same_without_docstrings_and_asserts(tmp_path: Path) -> None:
    folder, page = str(tmp_path / "report"), tmp_path / "page.md"
    mutant = ("--", *reference_command("--mutant", "starts-at-zero"))
    commands = [
        *(["requirements", name, "--no-run"] for name in ("SDS-RECV-06", "a-diamond", "G-01")),
        ["run", "--environment", "plain", "--select", "SDS-STATE-02", "--report", folder, *mutant],
        ["report", folder, "--markdown", str(page)],
        ["report", folder],
        ["fuzz", "--schedules", "2", "--jobs", "1", "--out", str(tmp_path), *REFERENCE],
        ["fuzz", "--help"],
        ["scenarios", "list"],
    ]
    varying = re.compile(r", for about \d+ s\b|\d+\.\d+ s\b|\d{4}-\d\d-\d\d[T ]?[\d:]*Z?")
    seen = set()
    for level in ("", "2"):
        code, output = ended(sys.executable, "-c", TYPED, json.dumps(commands), PYTHONOPTIMIZE=level)
        assert code == 0, output
        assert ("exit 1" in output, "exit 70" in output) == (True, False)
        seen.add(varying.sub("", output + page.read_text("utf-8")))
    assert len(seen) == 1
