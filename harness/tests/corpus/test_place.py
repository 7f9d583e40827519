"""The folder of a corpus: files appear atomically, on any file system."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
from pyarrow import fs

from sds_harness.corpus.errors import CorpusError
from sds_harness.corpus.place import TEMPORARY, Place
from sds_harness.corpus.shards import DamagedFileError, ShardFile

pytestmark = pytest.mark.spark


def elsewhere(folder: Path) -> Place:
    """A path that does not look like the file system of this machine."""
    return Place("far://away", fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()), "c")


def fail_while_writing(place: Place) -> None:
    with place.write_atomically() as half:
        half.system.open_output_stream(half.root).close()
        raise ZeroDivisionError


@pytest.mark.parametrize("far", [False, True])
def test_a_file_is_replaced_whole(tmp_path: Path, far: bool) -> None:
    place = elsewhere(tmp_path) if far else Place.from_name(str(tmp_path / "c"))
    place.make()
    for text in ("first", "second"):
        (place / "f").write_text(text)
        assert (place / "f").read_text() == text
    with pytest.raises(ZeroDivisionError):
        fail_while_writing(place / "f")
    assert (place / "f").read_text() == "second"
    assert [name for name in place.names() if name.startswith(TEMPORARY)] == []


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("plain/folder", "plain/folder"),
        ("file:///tmp/x", "file:///tmp/x"),
        ("s3://KEY:SECRET@bucket/c?endpoint_override=host:1", "s3://bucket/c"),
    ],
)
def test_no_secret_is_shown(named: str, shown: str) -> None:
    place = Place.from_name(named)
    assert place.label == shown
    assert (place / "steps").label == f"{shown}/steps"


def test_a_scheme_that_nobody_knows_is_reported() -> None:
    with pytest.raises(CorpusError, match=r"^gopher://host/c: ") as output:
        Place.from_name("gopher://me:SECRET@host/c")
    assert "SECRET" not in str(output.value)


def test_what_is_too_long_for_a_small_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(CorpusError, match="has more than 1 MiB"):
        Place.from_name(str(tmp_path / "long")).read_text()


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    pipe = Place.from_name(str(tmp_path / "manifest.json"))
    with pytest.raises(CorpusError, match="is not a regular file"):
        pipe.read_text()
    with pytest.raises(DamagedFileError, match="is not a regular file"):
        ShardFile(pipe, pa.schema([]))


def test_names_that_are_no_folder_are_reported(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    (tmp_path / "file").write_text("")
    for name in (str(tmp_path / "one"), "/nul\0", "/half\udc80"):
        with pytest.raises(CorpusError):
            Place.from_name(name).names()
    with pytest.raises(CorpusError, match="file"):
        Place.from_name(str(tmp_path / "file")).names()
