"""Write where the reference model exercises each requirement: ``python conformance/generate_exercised.py``.

`sds-conformance requirements` shows it. Written is a file in the folder of each protocol that keeps one, from a run of
its model for each revision; that takes half a minute. A test compares it with such a run.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from sds_conformance.judging.sightings import KEPT, played, written
from sds_conformance.protocols import protocols


def main() -> None:
    """Play, and write the files."""
    for protocol in protocols():
        if protocol.model.kept_in:
            path = Path(str(files(protocol.model.kept_in))) / KEPT
            path.write_text(written(played(protocol.rules, protocol.model)), "utf-8")
            print(path)


if __name__ == "__main__":
    main()
