"""The packages sds_proto and clearskies_proto, and the reference of the testee protocol, are generated from proto/."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

REFERENCE = Path(__file__).resolve().parents[1]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*_pb2.py*"))}


def test_regenerating_the_packages_changes_nothing(tmp_path: Path) -> None:
    generate = runpy.run_path(str(REFERENCE / "generate_proto.py"))["generate"]
    written = generate(tmp_path)
    for package, one in (
        ("sds_proto", "wire/v2026_01/message_pb2.py"),
        ("clearskies_proto", "testee/v1/testee_pb2.py"),
    ):
        generated, committed = contents(tmp_path / package), contents(REFERENCE / package)
        assert sorted(generated) == sorted(committed)
        assert [name for name in committed if generated[name] != committed[name]] == []
        assert one in committed
        output = [path for path in written if path.is_relative_to(tmp_path / package)]
        assert sorted(str(path.relative_to(tmp_path / package)) for path in output) == sorted(committed)


def test_regenerating_the_schemas_and_the_page_of_the_protocol_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(REFERENCE)
    generate = runpy.run_path(str(REFERENCE / "generate_protocol.py"))["generate"]
    written = {path.relative_to(tmp_path): path.read_text("utf-8") for path in generate(tmp_path)}
    assert {path.name for path in written} == {
        "PROTOCOL.md",
        "PROTOCOL-CLEARSKIES.md",
        "request.schema.json",
        "reply.schema.json",
    }
    stale = [name for name, text in written.items() if (REFERENCE.parent / name).read_text("utf-8") != text]
    assert stale == [], "`python reference/generate_proto.py` writes them again"
