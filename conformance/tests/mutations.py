"""Mutations of valid inputs: of the values in JSON and YAML, and of the bytes.

Hypothesis draws and shrinks a `Mutation`: the name of its kind and two numbers. The numbers are taken modulo the number
of places and values that the input offers, so every mutation applies to every input.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class Mutation:
    """One change."""

    kind: str
    place: int
    other: int


@dataclass(frozen=True)
class Raw:
    """A text to insert into JSON as it is: it need not be JSON."""

    text: str


def _nested(depth: int, opening: str, closing: str) -> Raw:
    return Raw(opening * depth + closing * depth)


TEXTS: Sequence[str] = (
    *("", " ", "0", "x", "fail", "pass", "alice", "..", "../../../../etc/passwd", "/dev/zero", "a\0b"),
    "\x1b[31m\u202e\u2028\r\n::error::owned",
    "\ufeff",
    "\U0001f600" * 40,
    "%s%n{0}{x}",
    "[red]x[/blue]",
    "<script>alert(1)</script>]]>",
    *("2026-13-45T99:99:99Z", "clearskies-database", "forum-2024", "sds-2026-01"),
    *("x" * 5_000, "x" * 300_000, "*" * 60 + "b", "-1", "1e400"),
    # Texts that are JSON, or nearly, in strings.
    '{"a":NaN}',
    '{"a":1,"a":2}',
    '{"alice":-1,"":1e400,"\\ud800":18446744073709551616}',
    '"\\ud800"',
    "9" * 5_000,
    "[" * 3_000 + "]" * 3_000,
    "[" * 100_000,
    '{"uuid":null,"revision":[],"vector_clock":{"a":{}}}',
    *("nan", "\uff19", "null"),
)
VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 2, 1.0, 0.5, -0.0, 1 << 31, 1 << 53, (1 << 64) - 1, 1 << 64, -(1 << 63)),
    *(10**40, -(10**40), 1e308, Raw("1e400"), Raw("-1e400"), Raw("NaN"), Raw("-Infinity")),
    *(Raw("9" * 5_000), Raw("-" + "9" * 4_000), Raw("1e-400"), Raw("01")),
    Raw(r'"\ud800"'),
    Raw(r'"\udc00\ud800x"'),
    Raw(r'"\u0000"'),
    Raw('{"a":1,"a":2}'),
    Raw(r'{"\ud800":1}'),
    _nested(200, "[", "]"),
    _nested(3_000, "[", "]"),
    Raw('{"a":' * 3_000 + "1" + "}" * 3_000),
    *([], {}, [[]], [{}], {"": None}, {"a": []}, [None], [0], [""], ["x", 1], [[], [[]]], {"type": []}),
    [1] * 20_000,
    ["x"] * 20_000,
    [{}] * 20_000,
    {str(number): number for number in range(20_000)},
    *TEXTS,
)

STRUCTURE = (
    *("replace", "replace", "replace", "tweak", "tweak", "delete", "copy", "copy", "rename", "twice", "many", "wrap"),
)
BYTES = ("flip", "cut", "insert", "splice", "repeat", "crlf", "bom")
TOKENS: Sequence[bytes] = (
    *(b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\x1f\x8b\x08\x00"),
    *(b"\n", b"\r", b"\r\n", b"\x0b\x0c", b"\x1c\x1d\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\t", b" ", b"\x1a"),
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\u", b"\\ud800", b"1e999", b"NaN", b"-", b"."),
    *(b"null", b"true", b"{}", b"[]", b'""', b"//", b"/*", b"#", b"'", b"---", b"...", b"%YAML 9.9\n---\n"),
    *(b"&a ", b"*a", b"<<: *a", b"? ", b"- ", b"!!set ", b"!!binary ", b"!!timestamp ", b"!!python/object:os.system "),
    *(b"!!omap ", b"!!pairs ", b"!!float ", b"!!int ", b"!!null ", b"!!str ", b"!foo ", b"!", b"2001-01-01", b".nan"),
    *(b".inf", b"0o17", b"0x1F", b"1_000", b"12:30:45", b"yes", b"|\n", b">\n", b"@", b"`", b"%", b"\x7f\x80" * 8),
    *(b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff\xff", b"PAR1", b"A" * 4_096, b"[" * 4_096),
)


def mutations(kinds: Sequence[str]) -> st.SearchStrategy[Mutation]:
    """One of these kinds."""
    number = st.integers(0, (1 << 20) - 1)
    return st.builds(Mutation, st.sampled_from(kinds), number, number)


# ---- Values of JSON ----------------------------------------------------------------------------------------------

Path = tuple[Any, ...]


def _paths(value: Any, path: Path = (), depth: int = 0) -> Iterator[Path]:
    yield path
    if depth < 40:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from _paths(inner, (*path, key), depth + 1)
        elif isinstance(value, list):
            for index, inner in enumerate(value[:400]):
                yield from _paths(inner, (*path, index), depth + 1)


class Tree:
    """A JSON value that is mutated in place."""

    def __init__(self, value: Any) -> None:
        self.value = copy.deepcopy(value)

    def at(self, path: Path) -> Any:
        out = self.value
        for key in path:
            out = out[key]
        return out

    def put(self, path: Path, value: Any) -> None:
        if path:
            self.at(path[:-1])[path[-1]] = value
        else:
            self.value = value

    def apply(self, mutation: Mutation) -> None:
        paths = list(_paths(self.value))
        if mutation.place % 4 == 0:
            # Most values of a large tree are deep, and most decisions depend on the values at the top.
            paths = [path for path in paths if len(path) <= 2]
        path = paths[(mutation.place >> 2) % len(paths)]
        _STRUCTURAL[mutation.kind](self, path, mutation.other)

    def replace(self, path: Path, other: int) -> None:
        self.put(path, copy.deepcopy(VALUES[other % len(VALUES)]))

    def tweak(self, path: Path, other: int) -> None:
        """Replace a value by another one of its type."""
        value = self.at(path)
        if isinstance(value, bool):
            self.put(path, not value)
        elif isinstance(value, int | float):
            numbers = [one for one in VALUES if isinstance(one, int | float) and not isinstance(one, bool)]
            near = [value - 1, value + 1, -value, value * 2]
            self.put(path, [*near, *near, *numbers][other % (8 + len(numbers))])
        elif isinstance(value, str):
            shorter = [value[:-1], value[1:], value + "x", value.upper(), value[: len(value) // 2] + "\0", value * 3]
            self.put(path, [*shorter, *TEXTS][other % (6 + len(TEXTS))])
        elif isinstance(value, list) and value:
            self.put(path, [value[:-1], value[:1], value * 2, [*value, None], value[::-1]][other % 5])
        elif isinstance(value, dict) and value:
            keys = list(value)
            self.put(path, {key: value[key] for key in keys if key != keys[other % len(keys)]})

    def delete(self, path: Path, other: int) -> None:
        if path:
            del self.at(path[:-1])[path[-1]]

    def copy(self, path: Path, other: int) -> None:
        """Replace a value by another one of the same name or type."""
        mine = self.at(path)
        alike = [
            found
            for found in _paths(self.value)
            if found and path and (found[-1] == path[-1] or type(self.at(found)) is type(mine))
        ]
        if alike:
            self.put(path, copy.deepcopy(self.at(alike[other % len(alike)])))

    def rename(self, path: Path, other: int) -> None:
        if path and isinstance(path[-1], str):
            of = self.at(path[:-1])
            known = [key for found in _paths(self.value) for key in found if isinstance(key, str)]
            names = [*TEXTS, path[-1].upper(), path[-1] + " ", *known[:50]]
            value = of.pop(path[-1])
            of[names[other % len(names)]] = value

    def twice(self, path: Path, other: int) -> None:
        """Repeat a key or an element."""
        if not path:
            return
        of, value = self.at(path[:-1]), self.at(path)
        if isinstance(of, list):
            of.insert(path[-1], copy.deepcopy(value))
        elif other % 2:
            of[f"{_TWIN}{other}:{path[-1]}"] = copy.deepcopy(VALUES[other % len(VALUES)])
        else:
            of[f"{_TWIN}{other}:{path[-1]}"] = copy.deepcopy(value)

    def many(self, path: Path, other: int) -> None:
        value = self.at(path)
        times = (100, 1_000, 10_000)[other % 3]
        if isinstance(value, list) and len(json.dumps(value, default=str)) * times < 4_000_000:
            self.put(path, value * times)
        elif isinstance(value, str):
            self.put(path, (value or "x") * min(times, 1_000_000 // max(1, len(value))))

    def wrap(self, path: Path, other: int) -> None:
        value = self.at(path)
        for _ in range((1, 2, 60)[other % 3]):
            value = {"a": value} if other & 4 else [value]
        self.put(path, value)


_STRUCTURAL: dict[str, Callable[[Tree, Path, int], None]] = {kind: getattr(Tree, kind) for kind in STRUCTURE}
_TWIN = "\u0002twin"
_TWINS = re.compile(r'"\\u0002twin\d+:')
_RAW = re.compile(r'"\\u0003(\d+)"')


def dumped(value: Any, indent: int | None = None) -> str:
    """The JSON text of a value, with raw texts and repeated keys."""
    raw: list[str] = []

    def plain(one: Any) -> Any:
        raw.append(one.text)
        return f"\u0003{len(raw) - 1}"

    text = json.dumps(value, ensure_ascii=True, indent=indent, default=plain)
    return _RAW.sub(lambda found: raw[int(found[1])], _TWINS.sub('"', text))


def mutated_json(text: bytes, changes: Sequence[Mutation], *, lines: bool = False) -> bytes:
    """Mutate the values of a JSON text, or of one with a value on each line."""
    said = text.decode()
    tree = Tree([json.loads(line) for line in said.splitlines()] if lines else json.loads(said))
    for change in changes:
        tree.apply(change)
    if lines and isinstance(tree.value, list):
        return "".join(f"{dumped(row)}\n" for row in tree.value).encode()
    return dumped(tree.value, 1).encode()


# ---- Bytes -------------------------------------------------------------------------------------------------------


def mutated_bytes(data: bytes, changes: Sequence[Mutation]) -> bytes:
    """Mutate bytes."""
    for change in changes:
        at = change.place * 7919 % (len(data) + 1)
        data = _BYTEWISE[change.kind](data, at, change.other)
    return data


def _flip(data: bytes, at: int, other: int) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << other % 8)]) + data[at + 1 :] if at < len(data) else data


_BYTEWISE: dict[str, Callable[[bytes, int, int], bytes]] = {
    "flip": _flip,
    "cut": lambda data, at, other: data[:at],
    "insert": lambda data, at, other: data[:at] + TOKENS[other % len(TOKENS)] + data[at:],
    "splice": lambda data, at, other: data[:at] + data[other % (len(data) + 1) :][:200] + data[at:],
    "repeat": lambda data, at, other: data[:at] + data[at : at + 1 + other % 64] * (2 + other % 50) + data[at:],
    "crlf": lambda data, at, other: data.replace(b"\n", (b"\r\n", b"\r", b"\n\n", b"\n\r")[other % 4]),
    "bom": lambda data, at, other: (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")[other % 3] + data,
}
