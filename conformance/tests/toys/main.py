"""``sds-conformance`` with the toy protocols beside those of the suite."""

import sys
from pathlib import Path

import sds_conformance.protocols

sds_conformance.protocols.__path__.append(str(Path(__file__).parent))

if __name__ == "__main__":
    if sys.argv[1:2] == ["-m"]:
        import runpy

        sys.argv = sys.argv[2:]
        runpy.run_module(sys.argv[0], run_name="__main__")
    else:
        from sds_conformance.cli import main

        main()
