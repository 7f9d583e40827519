"""Finds the likely reason why a command does not start, or ends before the suite has sent a request."""

from __future__ import annotations

import errno
import shlex
import shutil
from collections.abc import Sequence
from os import X_OK, access
from pathlib import Path

from .declaration import printable
from .faults import FaultKind

_RUN_BY = {".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".rb": "ruby", ".sh": "sh", ".pl": "perl"}
"""Maps the name endings of scripts that usually are not executable to the program that runs them."""
_SOURCES = {*_RUN_BY, ".jar", ".lua", ".php", ".ts", ".exs"}
_NOT_FOUND = 127
"""The exit code of shells and of env for a program that they do not find."""
_LONGEST_LINE = 256
"""Maximum length of the first line of a script in bytes: systems read no more."""


def why_not_started(command: Sequence[str], error: Exception) -> str:
    """A hint for a command that the system could not start."""
    word, number = command[0], getattr(error, "errno", None)
    path = Path(word)
    if number == errno.ENOENT and not path.exists() and len(word.split()) > 1:
        typed = _type_instead(_split_first_word(command))
        return f"{_quote(word)} is read as the name of one program. Remove the quotes: {typed}"
    if number == errno.ENOENT and "/" not in word:
        if path.is_file():
            return (
                f"{_quote(word)} is a file of this folder, and not on the PATH: {_type_instead(_with_folder(command))}"
            )
        return f"The program {_quote(word)} is not on the PATH: is it installed, and is the name correct?"
    if number == errno.ENOENT and not path.exists():
        return f"The file {_quote(word)} does not exist{_in_this_folder(path)}: is it built, and is the name correct?"
    if number == errno.ENOENT:
        return (
            _interpreter_question(path)
            or f"{_quote(word)} needs an interpreter or a library that is not on this machine."
        )
    if path.is_dir():
        return f"{_quote(word)} is a folder: name the program in it."
    if number in (errno.EACCES, errno.ENOEXEC) and path.is_file():
        runs = _RUN_BY.get(path.suffix)
        otherwise = f", or name the program that runs it: {_type_instead([runs, *command])}" if runs else ""
        if access(path, X_OK):
            return (
                f"{_quote(word)} is not a program of this machine, and has no first line `#!...` "
                f"with an interpreter{otherwise}"
            )
        return f"{_quote(word)} is not executable: type `chmod +x {shlex.quote(printable(word))}`{otherwise}"
    return FaultKind.NO_START.advice


def why_ended_at_once(command: Sequence[str], status: int | None) -> str:
    """A hint for a process that ended before its first answer. ``status`` is its exit code; None if it is not known."""
    for word in command[1:]:
        path = Path(word)
        if path.suffix in _SOURCES and not word.startswith("-") and not path.exists():
            return (
                f"The file {_quote(word)} does not exist{_in_this_folder(path)}: is it built, and is the name correct?"
            )
    asked_for = _interpreter_question(Path(shutil.which(command[0]) or command[0])) if status == _NOT_FOUND else ""
    return asked_for or FaultKind.NO_START.advice


def _interpreter_question(path: Path) -> str:
    """A question about the interpreter in the first line of a script; "" if the file is not a script."""
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            line = file.readline(_LONGEST_LINE)
    except OSError:
        return ""
    if not line.startswith(b"#!"):
        return ""
    if line.endswith(b"\r\n"):
        return (
            f"The lines of {_quote(str(path))} end with CR LF, as on "
            "Windows, so the name of the interpreter ends with CR: use LF only."
        )
    shebang = line[2:].decode("utf-8", "replace").split()
    words = (
        [word for word in shebang[1:] if not word.startswith("-")]
        if shebang and shebang[0].endswith("/env")
        else shebang
    )
    name = words[0] if words else ""
    first = f"The first line of {_quote(str(path))}, `#!{printable(' '.join(shebang))}`,"
    return f"{first} names {_quote(name)}: is it installed at that path?"


def _split_first_word(command: Sequence[str]) -> list[str]:
    try:
        return [*shlex.split(command[0]), *command[1:]]
    except ValueError:
        return [*command[0].split(), *command[1:]]


def _with_folder(command: Sequence[str]) -> list[str]:
    """The command as the user must type it, if its first word is a file of this folder."""
    runs = _RUN_BY.get(Path(command[0]).suffix)
    return [runs, *command] if runs else [f"./{command[0]}", *command[1:]]


def _type_instead(words: Sequence[str]) -> str:
    return f"type `-- {printable(shlex.join(words), 300)}`"


def _quote(word: str) -> str:
    return repr(printable(word))


def _in_this_folder(path: Path) -> str:
    return "" if path.is_absolute() else " in this folder"
