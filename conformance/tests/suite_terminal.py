"""Types command lines of the suite in this process and looks at what they print."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from click.testing import CliRunner, Result
from rich.cells import cell_len

from run_helpers import reference_command
from sds_conformance.cli import main

SCENARIOS = ("every-kind-*", "named-*", "nobody-*", "own-*", "transport-*", "ties", "a-chain-*", "foreign-*")
SOME = [part for name in SCENARIOS for part in ("--scenario", name)]
"""Options that leave a few scenarios in which much happens."""
MUTANT = reference_command("--mutant", "starts-at-zero")
"""The command of an implementation with a fault."""


def typed(*arguments: str | Path, **environment: str) -> Result:
    """Run a command line. An exception of the suite is one of the test."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def too_wide(text: str) -> list[str]:
    """Lines of more than 80 columns, apart from command lines and addresses that are there to be copied."""
    copied = re.compile(r"^  ((Again|Next)\s+)?sds-conformance |^https://|^  (Report|Kept in|Page|Baseline) ")
    return [line for line in text.splitlines() if cell_len(line) > 80 and not copied.match(line)]


def words(text: str) -> str:
    """Text without its line ends."""
    return " ".join(text.split())


def controls(text: str) -> set[str]:
    """Characters that make a terminal do something else than show them."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}
