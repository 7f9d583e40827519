"""Regenerate ``sds_proto`` and ``clearskies_proto`` from ``proto/``: ``python reference/generate_proto.py [OUT]``.

OUT is the folder that receives the packages. Without OUT, they are written to ``reference/``, and
``generate_protocol.py`` runs as well. Needs grpcio-tools, which contains protoc.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from grpc_tools import protoc  # type: ignore[import-untyped]

HERE = Path(__file__).resolve().parent
PROTO = HERE.parent / "proto"
PACKAGES = {"sds_proto": PROTO / "sds", "clearskies_proto": PROTO / "clearskies"}
"""The folder of the .proto files of each package: a package for each protocol."""


def generate(out: Path) -> list[Path]:
    """Write the modules and their type stubs below ``out``; return the paths written."""
    written: list[Path] = []
    for package, folder in PACKAGES.items():
        sources = sorted(folder.rglob("*.proto"))
        code = protoc.main(
            ["protoc", f"--proto_path={package}={folder}", f"--python_out={out}", f"--pyi_out={out}"]
            + [f"{package}/{source.relative_to(folder)}" for source in sources]
        )
        if code:
            raise SystemExit(f"protoc failed with exit code {code}: see its message, then correct the .proto file")
        written += sorted((out / package).rglob("*_pb2.py*"))
    return written


if __name__ == "__main__":
    for path in generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE):
        print(path)
    if len(sys.argv) == 1:
        runpy.run_path(str(HERE / "generate_protocol.py"), run_name="__main__")
