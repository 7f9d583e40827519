"""The traces that a run keeps to tell from, packed: most of what they hold are the same filters again and again."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from typing import Any

from sds_harness.language import Language
from sds_harness.trace import Trace

MAX_BYTES = 256 << 20
"""Packed. What comes after that is judged and told, but for its conversation."""
_FAST = 1
"""The level of compression: more takes far longer, and makes it little smaller."""


def dumps(what: object) -> bytes:
    """What is ours as bytes, but for the language, which every process has."""
    out = BytesIO()
    _Pickler(out, pickle.HIGHEST_PROTOCOL).dump(what)
    return out.getvalue()


def loads(data: bytes, language: Language) -> Any:
    """What `dumps` made bytes of. They must be ours: from a pipe that nobody else has, or kept in this process."""
    return _Unpickler(BytesIO(data), language).load()


def pack(trace: Trace[Any]) -> bytes:
    """A trace in little room. What is packed already leaves at once: all of it would be as large again."""
    deflating = _Deflating()
    _Pickler(deflating, pickle.HIGHEST_PROTOCOL).dump(trace)
    return deflating.whole()


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: object) -> str | None:
        return "language" if isinstance(obj, Language) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, language: Language) -> None:
        super().__init__(file)
        self._language = language

    def persistent_load(self, pid: object) -> Language:
        return self._language


class _Deflating:
    """A file that keeps what is written to it compressed."""

    def __init__(self) -> None:
        self._squeezer = zlib.compressobj(_FAST)
        self._parts: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self._parts.append(self._squeezer.compress(data))
        return len(data)

    def whole(self) -> bytes:
        return b"".join([*self._parts, self._squeezer.flush()])


class Traces(Mapping[str, Trace[Any]]):
    """Traces by the name of their run, in the order in which they came.

    Each is unpacked when it is asked for: what is changed in it is not kept. Only what `pack` made may come in.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._packed: dict[str, bytes] = {}
        self._size = 0
        self._last: tuple[str, Trace[Any]] | None = None
        """What was asked for last: findings of one run are mostly told together."""

    def add(self, run: str, packed: bytes) -> None:
        """Keep a packed trace, while there is room."""
        if self._size + len(packed) <= MAX_BYTES:
            self._packed[run] = packed
            self._size += len(packed)

    def keep_only(self, runs: Collection[str]) -> None:
        """Let all others go."""
        for run in [run for run in self._packed if run not in runs]:
            self._size -= len(self._packed.pop(run))

    def __getitem__(self, run: str) -> Trace[Any]:
        packed = self._packed[run]
        if self._last is None or self._last[0] != run:
            self._last = run, loads(zlib.decompress(packed), self._language)
        return self._last[1]

    def __contains__(self, run: object) -> bool:
        return run in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
