"""Pages shown to a validator of HTML, which npm brings."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "reports" / "npm"


def complaints_about(folder: Path, **pages: str) -> list[str]:
    """The messages of the validator on pages, by name and line; they are written to ``folder``."""
    node, validator = shutil.which("node"), FOLDER / "node_modules" / "html-validate" / "bin" / "html-validate.mjs"
    if node is None:
        pytest.skip("node is not installed: install Node 20 or newer, then `npm ci` in conformance/tests/reports/npm")
    if not validator.is_file():
        pytest.skip("html-validate is not installed: type `npm ci --prefix conformance/tests/reports/npm`")
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    files = [str(folder / f"{name}.html") for name in pages]
    command = [node, str(validator), "--config", str(FOLDER / ".htmlvalidate.json"), "--formatter", "json", *files]
    # It ends before all of a long answer is through a pipe.
    answer = folder / "complaints.json"
    with answer.open("w") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    return [
        f"{Path(file['filePath']).stem}, line {message['line']}: {message['message']} ({message['ruleId']})"
        for file in json.loads(answer.read_text("utf-8"))
        for message in file["messages"]
    ]
