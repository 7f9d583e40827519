"""``python -m sds_conformance``: the same as the command ``sds-conformance``. As a file, what spark-submit takes."""

import os
import sys

if __name__ == "__main__":
    here = sys.path[0] if sys.path else ""
    if not sys.flags.safe_path and here == os.getcwd() and not os.path.isdir(os.path.join(here, "sds_conformance")):
        del sys.path[0]  # the folder of the user, whose modules may have the names of some that are needed
    from .cli import main

    main(prog_name="sds-conformance")
