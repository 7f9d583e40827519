"""Checks the settings of a release. Run it from the root of a checkout: ``python conformance/release_check.py``.

``OWNER`` in ``conformance/sds_conformance/presentation/project.py`` is the variable. The script lists each line that
names another owner, and exits with 1 if there is one. ``--write`` replaces the owner in these lines. ``--release`` also
rejects the placeholder itself, an unreleased version in CHANGELOG.md, and changelog fragments that are not in
CHANGELOG.md yet.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

VARIABLE = Path("conformance/sds_conformance/presentation/project.py")
NAME = "sds-conformance"
_OWNED = re.compile(rf"(?<![\w.-])([A-Za-z0-9][A-Za-z0-9-]*)(?=(?:\.github\.io)?/{NAME}(?![\w-]))")
"""An owner before the name of the project, as in `uses: OWNER/sds-conformance@v1`."""
_BEFORE = ("github.com/", "https://", "uses: ", "ghcr.io/")
_FRAGMENTS = Path("changelog.d")


def owner_of(root: Path) -> str:
    """The owner that the variable names. Raises SystemExit if there is none."""
    found = re.search(r'^OWNER = "([^"]+)"$', (root / VARIABLE).read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit(f'{VARIABLE} sets no OWNER: write OWNER = "account" there')
    return found[1]


def tracked(root: Path) -> list[Path]:
    """The text files under version control, and new ones."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    suffixes = {".md", ".toml", ".yml", ".yaml", ".cff", ".json", ".py", ""}
    return [root / name for name in names if name and Path(name).suffix in suffixes and (root / name).is_file()]


def owned(line: str) -> Iterator[re.Match[str]]:
    """The owners in the addresses of this project in a line."""
    for found in _OWNED.finditer(line):
        if line[: found.start()].endswith(_BEFORE):
            yield found


def foreign(root: Path, owner: str) -> Iterator[tuple[Path, int, str]]:
    """Yield file, line and owner where another owner is named."""
    for path in tracked(root):
        if path.suffix == ".py":
            continue
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            for found in owned(line):
                if found[1] != owner:
                    yield path, number, found[1]


def write(root: Path, owner: str) -> None:
    """Put the owner into all files."""
    for path in sorted({path for path, _, _ in foreign(root, owner)}):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        for number, line in enumerate(lines):
            for found in reversed([*owned(line)]):
                line = f"{line[: found.start()]}{owner}{line[found.end() :]}"
            lines[number] = line
        path.write_text("".join(lines), "utf-8")


def unreleased(root: Path, owner: str) -> Iterator[str]:
    """Yield a sentence for each part that a release lacks."""
    if owner == "OWNER":
        yield f"{VARIABLE}: OWNER is the placeholder: set it to the account, then run this script with --write"
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    heading = re.search(rf"^## {re.escape(version)}\b.*$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if heading is None:
        yield f"CHANGELOG.md has no heading for version {version}"
    elif "unreleased" in heading[0]:
        yield f"CHANGELOG.md: version {version} is still (unreleased): write the date"
    for fragment in sorted((root / _FRAGMENTS).glob("*.*.md")):
        yield f"{_FRAGMENTS}/{fragment.name} is not in CHANGELOG.md: run `towncrier build --version {version}`"


def main() -> None:
    parser = argparse.ArgumentParser(description="List what has to be set before a release.")
    parser.add_argument("--write", action="store_true", help="put the owner into all files")
    parser.add_argument("--release", action="store_true", help="also reject the placeholder and an open changelog")
    asked = parser.parse_args()
    root = Path.cwd()
    owner = owner_of(root)
    if asked.write:
        write(root, owner)
    problems = [
        f"{path.relative_to(root)}:{number}: the owner is {other}, and {VARIABLE} says {owner}"
        for path, number, other in foreign(root, owner)
    ]
    problems += unreleased(root, owner) if asked.release else []
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
