"""Text from a foreign corpus is shown and moves no cursor."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from odd_adapters import HOSTILE
from suite_terminal import controls, typed

pytest.importorskip("pyarrow")

from recorded_corpora import edited, order_of, record_here
from sds_harness.corpus.digests import plan_digest
from sds_harness.corpus.manifest import MANIFEST

pytestmark = pytest.mark.spark
LOUD = f"{HOSTILE}\n::stop-commands::x\x1b[2J"


def test_no_name_and_no_note_moves_the_cursor(tmp_path: Path) -> None:
    def loud(side: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        plan = json.loads(side["json"])
        plan |= {"name": LOUD, "notes": {LOUD: LOUD}}
        side["json"] = json.dumps(plan)
        side["plan"] = plan_digest(side["json"])

    corpus = edited(
        record_here(tmp_path / "plain", order_of(schedules=2)), tmp_path / LOUD.replace("/", " "), {1: loud}
    )
    for options in ([], ["--json"]):
        result = typed("corpus", "show", *options, "--out", tmp_path / "kept", corpus, "1")
        assert result.exit_code == 0
        text = result.stdout + result.stderr
        assert "stop-commands" in text
        assert controls(text) == set()
        assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]


def test_a_pipe_in_a_corpus_is_not_waited_for(tmp_path: Path) -> None:
    corpus = record_here(tmp_path / "corpus", order_of(schedules=1))
    for file in (corpus / MANIFEST, *(corpus / "steps").glob("*.parquet")):
        content = file.read_bytes()
        file.unlink()
        os.mkfifo(file)
        result = typed("corpus", "show", corpus, "0")
        assert result.exit_code == 2
        assert "is not a regular file" in " ".join(result.stderr.split())
        file.unlink()
        file.write_bytes(content)
