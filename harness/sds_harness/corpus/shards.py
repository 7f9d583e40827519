"""Reads and writes shards, the Parquet files of a corpus. A shard has the schedules of one range in two files with the
same name.

One file has a row per step. The other one, the side table, has a row per schedule.

The file of the side table is committed last: if it exists, the shard exists. Both files carry a token of the attempt
that wrote them, so that the reader detects files of two attempts.

A file of a few hundred bytes can claim 2^31 rows, or repeat one text a million times. So the reader compares counts
with bounds before it reads anything. It reads texts as Parquet dictionaries, and casts them when their size is known.
"""

from __future__ import annotations

import contextlib
import sys
import uuid
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet as pq

from .errors import CorpusError
from .manifest import SIDE, STEPS, Corpus
from .place import Place
from .rows import Recorded
from .schema import (
    READABLE,
    SCHEDULES_PER_ROW_GROUP,
    SCHEMA_VERSION,
    SIDE_COLUMNS,
    SIDE_SCHEMA,
    Column,
    Columns,
    arrow_schema,
)

_TOKEN, _VERSION = b"sds.token", b"sds.schema_version"
_ZSTD_LEVEL = 6
_PAGE_BYTES = 8 << 20
"""Maximum size of a page in bytes. A page of requests then has a whole row group, so that a message and its copies at
all recipients are compressed together."""
MOST_ROWS = 1 << 18
MOST_VALUES = 1 << 23
MOST_BYTES = 1 << 29
"""Maximum number of rows, values and bytes of one read: about 50 times those of a row group of generated schedules."""
_UNKNOWN = (0, 1 << 62)
"""Bounds of a row group without statistics: it may contain any schedule."""


class DamagedFileError(CorpusError):
    """A Parquet file of a corpus is missing, cannot be read, or has unexpected columns, counts or values."""


def file_name(shard: int) -> str:
    return f"part-{shard:06}.parquet"


def shard_of(name: str) -> int | None:
    """The shard number of a file name; None for any other file."""
    digits = name.removeprefix("part-").removesuffix(".parquet")
    return int(digits) if digits.isdecimal() and name == file_name(int(digits)) else None


def committed_shards(place: Place) -> set[int]:
    """The numbers of the shards whose side table exists in the folder of a corpus."""
    return {shard for name in (place / SIDE).names() if (shard := shard_of(name)) is not None}


def hold_to_count(corpus: Corpus) -> None:
    """Check that the corpus has as many shards as its manifest says, without reading them. Raises CorpusError."""
    shards = corpus.manifest.shards
    present = {shard for shard in committed_shards(corpus.place) if shard < shards}
    if missing := shards - len(present):
        first = next(shard for shard in range(shards) if shard not in present)
        raise CorpusError(
            f"{corpus.place.label} is not whole: {missing:,} of {shards:,} shards are missing, the first is "
            f"{SIDE}/{file_name(first)}."
        )


class ShardWriter:
    """Writes a shard, one row group at a time. As a context manager, it commits at the end of the block, the steps
    first. If the block fails, nothing is left. Raises AlreadyCommittedError if another attempt was faster."""

    def __init__(self, place: Place, shard: int, columns: Columns, *, replace: bool = False) -> None:
        """With ``replace``, an existing shard is replaced."""
        self._columns = columns
        self._steps_file, self._side_file = place / STEPS / file_name(shard), place / SIDE / file_name(shard)
        self._replace = replace
        self._group: list[pa.RecordBatch] = []
        self._sides: list[pa.RecordBatch] = []
        self._stack = contextlib.ExitStack()
        self._writers: list[pq.ParquetWriter] = []

    def __enter__(self) -> ShardWriter:
        token = uuid.uuid4().hex
        with contextlib.ExitStack() as stack:
            # The contexts exit in reverse order: the steps are committed before the side table.
            side = stack.enter_context(self._side_file.write_atomically())
            steps = stack.enter_context(self._steps_file.write_atomically())
            for half, columns in ((steps, self._columns.all_columns), (side, SIDE_COLUMNS)):
                self._writers.append(stack.enter_context(column_writer(half, columns, token)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            try:
                self._flush()
                # One row group: a comparison of corpora first reads a few columns of the whole file.
                self._writers[1].write_table(_join_batches(self._sides, SIDE_SCHEMA))
                if not self._replace and self._side_file.exists():
                    raise AlreadyCommittedError
            except BaseException:
                self._stack.__exit__(*sys.exc_info())
                raise
        self._stack.__exit__(kind, error, at)

    def add(self, recorded: Recorded) -> None:
        """Add the next group trace; indexes must ascend. Rows wait in Arrow's columns, which take a tenth of the memory
        of Python objects."""
        self._group.append(pa.RecordBatch.from_pylist(recorded.steps, self._columns.schema))
        self._sides.append(pa.RecordBatch.from_pylist([recorded.side], SIDE_SCHEMA))
        if len(self._group) == SCHEDULES_PER_ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if not self._group:
            return
        rows = _join_batches(self._group, self._columns.schema)
        self._group.clear()
        self._writers[0].write_table(rows, row_group_size=max(1, rows.num_rows))


def _join_batches(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Join batches into one chunk. With several chunks Parquet would cut pages differently."""
    return pa.Table.from_batches(batches, schema).combine_chunks()


class AlreadyCommittedError(Exception):
    """Another attempt has committed the shard in the meantime."""


def column_writer(file: Place, columns: Sequence[Column], token: str) -> pq.ParquetWriter:
    """A writer for one file of a shard, with the settings of the format."""
    facts = {_TOKEN: token.encode(), _VERSION: str(SCHEMA_VERSION).encode()}
    return pq.ParquetWriter(
        file.root,
        arrow_schema(columns).with_metadata(facts),
        filesystem=file.system,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=[_leaf(column) for column in columns if column.dictionary],  # type: ignore[arg-type] # it accepts names as well
        write_statistics=["schedule", "position", "step"],
        data_page_size=_PAGE_BYTES,
        write_page_checksum=True,
        sorting_columns=[pq.SortingColumn(0)],
        store_schema=True,
    )


def _leaf(column: Column) -> str:
    return f"{column.name}.list.element" if pa.types.is_list(column.type) else column.name


class ShardFile:
    """One Parquet file of a corpus, open for reading. Every error names the file."""

    def __init__(self, file: Place, schema: pa.Schema) -> None:
        self._file = file
        if file.is_odd():
            raise DamagedFileError(f"{file.label} is not a regular file.")
        self._schema = schema
        with self._damaged_file_errors():
            metadata = pq.read_metadata(file.root, filesystem=file.system)
            self._parquet: Any = pq.ParquetFile(
                file.root,
                metadata=metadata,
                filesystem=file.system,
                read_dictionary=_texts_of(metadata),
                page_checksum_verification=True,
                pre_buffer=True,
            )
        facts = metadata.metadata or {}
        version = facts.get(_VERSION, b"none").decode("utf-8", "replace")
        if version not in map(str, READABLE):
            raise DamagedFileError(f"{file.label} is of schema version {version}, not {SCHEMA_VERSION}.")
        if not metadata.schema.to_arrow_schema().equals(schema):
            raise DamagedFileError(f"{file.label} does not have the columns of schema version {version}.")
        self.token: bytes = facts.get(_TOKEN, b"")

    def read(self, columns: Sequence[str] | None = None, schedules: Sequence[int] | None = None) -> pa.Table:
        """Read ``columns`` of the rows of ``schedules``; None means all. Row groups that cannot contain the schedules
        are skipped.
        """
        with self._damaged_file_errors():
            if schedules is None:
                groups: Sequence[int] = range(self._parquet.num_row_groups)
                _hold_counts(self._parquet.metadata, groups, columns)
                return self._join_row_groups([self._group(number, columns) for number in groups], columns)
            wanted = sorted(schedules)
            groups = [number for number, bounds in enumerate(self._bounds) if _has_schedule_within(bounds, wanted)]
            known = pa.array(wanted, pa.int64())
            return self._join_row_groups([_rows_of(self._group(number, columns), known) for number in groups], columns)

    def _group(self, number: int, columns: Sequence[str] | None) -> pa.Table:
        """Read ``columns`` of a row group. Raises TooLargeError."""
        _hold_counts(self._parquet.metadata, [number], columns)
        return _spread(self._parquet.read_row_group(number, columns), self._schema)

    def _join_row_groups(self, tables: list[pa.Table], columns: Sequence[str] | None) -> pa.Table:
        """Join row groups. They are read one by one, because Arrow itself cannot join lists of texts with different
        dictionaries. Raises TooLargeError."""
        _hold(sum(table.num_rows for table in tables), MOST_ROWS, "rows")
        _hold(sum(table.nbytes for table in tables), MOST_BYTES, "bytes")
        if tables:
            return pa.concat_tables(tables)
        names = [name for name in self._schema.names if columns is None or name in columns]
        return pa.schema([self._schema.field(name) for name in names]).empty_table()

    @property
    def num_rows(self) -> int:
        """The number of rows in all row groups, as stated by the file."""
        return int(self._parquet.metadata.num_rows)

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        """The minimum and maximum index of a schedule in each row group."""
        metadata, out = self._parquet.metadata, []
        for number in range(metadata.num_row_groups):
            found = metadata.row_group(number).column(0).statistics
            out.append((found.min, found.max) if found is not None and found.has_min_max else _UNKNOWN)
        return out

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The minimum and maximum index of a schedule by the statistics of the file; None without rows or
        statistics.
        """
        with self._damaged_file_errors():
            known = [bounds for bounds in self._bounds if bounds != _UNKNOWN]
        return (min(low for low, _ in known), max(high for _, high in known)) if known else None

    def __enter__(self) -> ShardFile:
        return self

    def __exit__(self, *what: object) -> None:
        self._parquet.close()

    @contextlib.contextmanager
    def _damaged_file_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise DamagedFileError(f"{self._file.label} is missing.") from None
        except TooLargeError as error:
            raise DamagedFileError(f"{self._file.label} is damaged: it {error}.") from None
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            lines = str(error).strip().splitlines()
            raise DamagedFileError(
                f"{self._file.label} is damaged: {lines[0][:200] if lines else 'unreadable'}"
            ) from None


def side_of(place: Place, shard: int) -> ShardFile:
    """The side table of a shard. Raises DamagedFileError."""
    return ShardFile(place / SIDE / file_name(shard), SIDE_SCHEMA)


def pair_of(place: Place, shard: int, columns: Columns) -> tuple[ShardFile, ShardFile]:
    """Both files of a shard, the side table first. Raises DamagedFileError, also if two attempts wrote them."""
    side, steps = side_of(place, shard), ShardFile(place / STEPS / file_name(shard), columns.schema)
    if side.token != steps.token:
        name = file_name(shard)
        raise DamagedFileError(
            f"{place.label}: {SIDE}/{name} and {STEPS}/{name} were not written together; remove the first, and record "
            "again what is missing."
        )
    return side, steps


def _rows_of(table: pa.Table, schedules: pa.Array[Any]) -> pa.Table:
    """The rows of ``table`` that belong to one of ``schedules``."""
    known = pc.is_in(table["schedule"], schedules)
    # Filtering copies the whole table; usually the caller needs all rows of a row group, or the rows of one schedule in
    # it.
    return table if pc.all(known).as_py() is not False else table.filter(known)


def _has_schedule_within(bounds: tuple[int, int], schedules: Sequence[int]) -> bool:
    """Does the ascending sequence contain a schedule within the bounds?"""
    at = bisect_left(schedules, bounds[0])
    return at < len(schedules) and schedules[at] <= bounds[1]


class TooLargeError(Exception):
    """A file has or claims more data than schedules can have. The message continues a sentence that begins with the
    file."""


def _texts_of(metadata: Any) -> list[str]:
    """The paths of the Parquet columns of a file whose values are texts or bytes of variable length."""
    leaves = [metadata.schema.column(number) for number in range(metadata.num_columns)]
    return [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]


def _hold_counts(metadata: Any, groups: Sequence[int], columns: Sequence[str] | None) -> None:
    """Raise TooLargeError if ``columns`` (None: all) of the row groups claim too many rows, values or bytes."""
    rows = values = size = 0
    for number in groups:
        group = metadata.row_group(number)
        rows += group.num_rows
        for place in range(group.num_columns):
            leaf = group.column(place)
            if columns is None or leaf.path_in_schema.partition(".")[0] in columns:
                values += leaf.num_values
                size += leaf.total_uncompressed_size
    _hold(rows, MOST_ROWS, "rows")
    _hold(values, MOST_VALUES, "values")
    _hold(size, MOST_BYTES, "bytes")


def _spread(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast a table from dictionaries to the types of ``schema``. Raises TooLargeError."""
    _hold(sum(_weight(chunk) for column in table.columns for chunk in column.chunks), MOST_BYTES, "bytes")
    return table.cast(pa.schema([schema.field(name) for name in table.column_names]))


def _weight(array: Any) -> int:
    """The size in bytes of the texts in an array after its dictionary is expanded."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        total = pc.sum(pc.binary_length(array.dictionary).take(array.indices)).as_py()
        return int(total or 0)
    if pa.types.is_list(kind):
        return _weight(array.flatten())
    if pa.types.is_struct(kind):
        return sum(map(_weight, array.flatten()))
    return 0


def _hold(count: int, most: int, what: str) -> None:
    """Raise TooLargeError if a part of a file has, or claims to have, more than ``most`` rows, values or bytes."""
    if not 0 <= count <= most:
        raise TooLargeError(f"has {count:,} {what} in one part, more than any schedules can have")
