"""Compressed storage for the traces that reports need. Traces compress well, because many bloom filters in them are
equal.
"""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from typing import Any

from sds_harness.language import Language
from sds_harness.trace import Trace

MAX_BYTES = 256 << 20
"""Maximum compressed size of all traces together, in bytes. Later traces are judged and reported, but their
conversation is not stored.
"""
_FAST = 1
"""Compression level. Higher levels take far longer and save little."""


def dumps(what: object) -> bytes:
    """Pickle an object of the suite without the `Language`, because every process has it."""
    out = BytesIO()
    _Pickler(out, pickle.HIGHEST_PROTOCOL).dump(what)
    return out.getvalue()


def loads(data: bytes, language: Language) -> Any:
    """Unpickle the output of `dumps`. Only pass trusted data: from a private pipe or from this process."""
    return _Unpickler(BytesIO(data), language).load()


def pack(trace: Trace[Any]) -> bytes:
    """Pickle and compress a trace. Compression runs while pickling, because the whole pickle would need much memory."""
    out = BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=_FAST) as compressing:
        _Pickler(compressing, pickle.HIGHEST_PROTOCOL).dump(trace)
    return out.getvalue()


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: object) -> str | None:
        return "language" if isinstance(obj, Language) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, language: Language) -> None:
        super().__init__(file)
        self._language = language

    def persistent_load(self, pid: object) -> Language:
        return self._language


class Traces(Mapping[str, Trace[Any]]):
    """Traces by the name of their run, in the order in which they were added.

    A trace is unpacked at each access, so changes to it are lost. Only add the output of `pack`.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._packed: dict[str, bytes] = {}
        self._size = 0
        self._last: tuple[str, Trace[Any]] | None = None
        """Cache of the last access: findings of one run are usually reported one after the other."""

    def add(self, run: str, packed: bytes) -> None:
        """Store a packed trace unless the limit is reached."""
        if self._size + len(packed) <= MAX_BYTES:
            self._packed[run] = packed
            self._size += len(packed)

    def keep_only(self, runs: Collection[str]) -> None:
        """Drop the traces of all runs that are not in ``runs``."""
        for run in [run for run in self._packed if run not in runs]:
            self._size -= len(self._packed.pop(run))

    def __getitem__(self, run: str) -> Trace[Any]:
        packed = self._packed[run]
        if self._last is None or self._last[0] != run:
            self._last = run, loads(gzip.decompress(packed), self._language)
        return self._last[1]

    def __contains__(self, run: object) -> bool:
        return run in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)
