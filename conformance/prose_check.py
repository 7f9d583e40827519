"""Finds phrases in docstrings, comments, messages and Markdown that readers have to read twice, and vague module names.

Run it from the root of a checkout: ``python conformance/prose_check.py``. If there are more than ``--limit`` hits per
thousand words, or any vague module name, it prints each of them as ``file:line: pattern: text`` and exits with 1. The
patterns are hints: quotations from a protocol text may match. Generated code and JSON are not read.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT = 0.5
"""Hits per thousand words that are accepted, for quotations and names."""
FEWEST_WORDS = 4
"""String literals with fewer words are names, not prose."""

PATTERNS = {
    "a clause as subject": re.compile(
        r"(?:^|[.:;] )(?:What|Who|Whoever|Of what|Of whom) (?:is|was|are|has|had|does|it|a|the)\b"
    ),
    "somebody, nobody": re.compile(r"\b(?:some|no)body\b", re.IGNORECASE),
    "told": re.compile(r"\b(?:is|are|was|were|be|being|been) told\b|\b(?:told|tells?) of\b"),
    "comes of": re.compile(r"\b(?:comes?|came|becomes?|became) of (?:it|this|that|them|each|an?|the)\b"),
    "stands in": re.compile(r"\b(?:stands?|stood) (?:in|with|there|under|beside)\b"),
    "beside": re.compile(r"\bbeside (?:it|this|that|them|each|the)\b"),
    "of which": re.compile(r", of (?:which|whom)\b"),
    "once more, anew": re.compile(r"\b(?:once more|anew)\b"),
    "for want of, at hand": re.compile(r"\b(?:for want of|at hand|all the same|in the way of|as far as)\b"),
}
NAMED_BY_A_VERB = re.compile(r"[a-z_]*ing|again|anew|elsewhere|here|known|later|near|once|otherwise|said|shown|told")
FIELD_WORDS = frozenset(
    [
        "encoding",
        "framing",
        "hashing",
        "ordering",
        "recording",
        "shrinking",
        "signing",
        "string",
        "timing",
        "tracing",
        "typing",
    ]
)
"""Words of the field that end in -ing."""


@dataclass(frozen=True)
class Hit:
    """A phrase that matches a pattern."""

    path: str
    line: int
    pattern: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.pattern}: {self.text}"


def prose_of_python(source: str) -> Iterator[tuple[int, str]]:
    """The first line and the text of each docstring, longer string literal and comment."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = " ".join(node.value.split())
            if text.count(" ") >= FEWEST_WORDS - 1:
                yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#! ")


def prose_of_markdown(source: str) -> Iterator[tuple[int, str]]:
    """The first line and the text of each paragraph and table row outside fenced code."""
    fenced, first = False, 0
    lines: list[str] = []
    for number, line in enumerate([*source.splitlines(), ""], 1):
        text = line.strip()
        fence = text.startswith("```")
        fenced ^= fence
        if not text or fence or fenced or text.startswith("|"):
            if lines:
                yield first, " ".join(lines)
            lines = []
            if text.startswith("|") and not fenced:
                yield number, text
        else:
            first = number if not lines else first
            lines.append(text)


def hits_in(path: str, source: str) -> tuple[list[Hit], int]:
    """The hits in a file, and its number of words."""
    prose = list((prose_of_python if path.endswith(".py") else prose_of_markdown)(source))
    hits = [
        Hit(path, line, name, text[max(0, match.start() - 40) : match.end() + 40])
        for line, text in prose
        for name, pattern in PATTERNS.items()
        for match in pattern.finditer(text)
    ]
    return hits, sum(len(text.split()) for _, text in prose)


def is_vague(path: str) -> bool:
    """Return whether a module is named by an adverb or a participle. Tests are named by what they test."""
    file = Path(path)
    named = file.suffix == ".py" and "tests" not in file.parts and file.stem not in FIELD_WORDS
    return named and NAMED_BY_A_VERB.fullmatch(file.stem) is not None


def tracked() -> list[str]:
    """The Python and Markdown files of the checkout in the current folder, without this script and its tests."""
    listed = subprocess.run(["git", "ls-files", "*.py", "*.md"], capture_output=True, text=True, check=True).stdout
    skipped = ("_pb2", "prose_check.py")
    return [path for path in listed.splitlines() if Path(path).is_file() and not any(map(path.count, skipped))]


def main() -> int:
    """Check the files that are named, or all. Returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", help="files to check; by default all tracked files")
    parser.add_argument("--limit", type=float, default=LIMIT, help="accepted hits per thousand words (%(default)s)")
    arguments = parser.parse_args()
    paths = arguments.paths or tracked()
    hits: list[Hit] = []
    words = 0
    for path in paths:
        found, number = hits_in(path, Path(path).read_text("utf-8"))
        hits += found
        words += number
    vague = [path for path in paths if is_vague(path)]
    share = 1_000 * len(hits) / max(words, 1)
    if share > arguments.limit or vague:
        print(*hits, *(f"{path}: name the module with a noun" for path in vague), sep="\n")
    print(f"{len(hits)} hits in {words:,} words, {share:.2f} per thousand; {len(vague)} vague module names")
    return int(share > arguments.limit or bool(vague))


if __name__ == "__main__":
    sys.exit(main())
