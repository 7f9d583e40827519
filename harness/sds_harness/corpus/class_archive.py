"""Class-data sharing: Java keeps the classes that Spark loads in an archive, and is there in half the time with it.

Half of the time until a first query is spent on loading some ten thousand classes out of Spark's 280 jars. The first
session on a machine has Java write them to one file in the user's cache folder when it ends, which takes some seconds,
once; the sessions after it map that file. Java looks itself whether the file fits, and does without it if not.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from .java import Java

APPLICATION = "sds-conformance"
_QUIET = "-Xshare:auto -Xlog:disable -Xlog:all=off"
"""An archive that does not fit is no reason to say or to end anything."""
_PLAIN = re.compile(r"/[A-Za-z0-9_./+@=-]*")
"""A folder that the options of Java can name: absolute, without a character at which Spark or Java splits options."""
MOST_S = 120.0
"""Longest wait for Java to write it."""


@dataclass
class ClassArchive:
    """The archive of one Java and one PySpark."""

    file: Path
    half: Path
    """What it is called while it is being written."""

    @property
    def there(self) -> bool:
        return self.file.is_file()

    @property
    def options(self) -> str:
        """For the command line of Java."""
        if self.there:
            return f"-XX:SharedArchiveFile={self.file} {_QUIET}"
        return f"-XX:ArchiveClassesAtExit={self.half} {_QUIET}"

    def keep(self, ended: Callable[[], bool]) -> None:
        """Java is about to end: wait until it has, and give the archive its name. ``ended`` waits, and says whether
        Java ended by itself: a file is whole only then."""
        try:
            if ended() and self.half.is_file():
                self.half.replace(self.file)
        except (OSError, subprocess.TimeoutExpired):
            return  # a full disk, or a Java that does not end: it goes without
        finally:
            with contextlib.suppress(OSError):
                self.half.unlink(missing_ok=True)


def class_archive(java: Java) -> ClassArchive | None:
    """The archive for this Java; None where there can be none. A machine of a CI is new each time and never gets
    anything back from it."""
    base = java.home / "lib" / "server" / "classes.jsa"
    spark = find_spec("pyspark")
    if os.environ.get("CI") or not base.is_file() or spark is None or spark.origin is None:
        return None
    home = Path(spark.origin).parent
    try:
        folder = user_cache_path(APPLICATION)
        if not _PLAIN.fullmatch(str(folder)):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        of = (
            java.home.resolve(),
            java.major,
            base.stat().st_mtime_ns,
            home,
            version("pyspark"),
            home.stat().st_mtime_ns,
        )
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    name = f"spark-{hashlib.blake2b(repr(of).encode(), digest_size=8).hexdigest()}"
    return ClassArchive(folder / f"{name}.jsa", folder / f"{name}-{uuid.uuid4().hex}.tmp")
