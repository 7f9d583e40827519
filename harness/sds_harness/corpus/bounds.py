"""Bounds on what is read of a Parquet file at a time: a few hundred bytes can say that there are 2^31 rows, or one text
a million times.

Counts are compared before anything is read. Texts are read as Parquet's dictionaries have them, each once, and only
spread over the rows when it is known how much that will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

MOST_ROWS = 1 << 18
"""Some 50 times what row groups of generated schedules have; so are the others."""
MOST_VALUES = 1 << 23
MOST_BYTES = 1 << 29


class TooLarge(Exception):
    """More than any schedules can have; the message is the end of a sentence that begins with the file."""


def texts_of(metadata: Any) -> list[str]:
    """The leaves of a file's columns that are texts or bytes of any length."""
    leaves = [metadata.schema.column(number) for number in range(metadata.num_columns)]
    return [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]


def hold_counts(metadata: Any, groups: Sequence[int], columns: Sequence[str] | None) -> None:
    """Raises TooLarge if these row groups have more than can be, in these columns, in all if that is None."""
    rows = values = size = 0
    for number in groups:
        group = metadata.row_group(number)
        rows += group.num_rows
        for place in range(group.num_columns):
            leaf = group.column(place)
            if columns is None or leaf.path_in_schema.partition(".")[0] in columns:
                values += leaf.num_values
                size += leaf.total_uncompressed_size
    for count, most, what in ((rows, MOST_ROWS, "rows"), (values, MOST_VALUES, "values"), (size, MOST_BYTES, "bytes")):
        if not 0 <= count <= most:
            raise TooLarge(_told(count, what))


def hold_sum(tables: Sequence[pa.Table]) -> None:
    """Raises TooLarge if these are together more than can be: each is what was asked for of a row group."""
    for count, most, what in (
        (sum(table.num_rows for table in tables), MOST_ROWS, "rows"),
        (sum(table.nbytes for table in tables), MOST_BYTES, "bytes"),
    ):
        if count > most:
            raise TooLarge(_told(count, what))


def spread(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with its texts as ``schema`` has them. Raises TooLarge."""
    if (size := sum(_weight(chunk) for column in table.columns for chunk in column.chunks)) > MOST_BYTES:
        raise TooLarge(_told(size, "bytes"))
    return table.cast(pa.schema([schema.field(name) for name in table.column_names]))


def _weight(array: Any) -> int:
    """Bytes of the texts in an array once each stands in its place."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        total = pc.sum(pc.binary_length(array.dictionary).take(array.indices)).as_py()
        return int(total or 0)
    if pa.types.is_list(kind):
        return _weight(array.flatten())
    if pa.types.is_struct(kind):
        return sum(map(_weight, array.flatten()))
    return 0


def _told(count: int, what: str) -> str:
    return f"has {count:,} {what} in one part, more than any schedules can have"
