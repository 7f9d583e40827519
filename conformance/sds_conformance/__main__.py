"""``python -m sds_conformance``: the same as the command ``sds-conformance``. As a file, what spark-submit takes."""

import os
import sys

if __name__ == "__main__":
    here = sys.path[0] if sys.path else ""
    started_as_file = here != "" and here == os.path.dirname(os.path.abspath(__file__))
    if started_as_file:
        del sys.path[0]  # the folder of this file; its modules would hide others with the same names
    elif not sys.flags.safe_path and here == os.getcwd() and not os.path.isdir(os.path.join(here, "sds_conformance")):
        del sys.path[0]  # the folder of the user, whose modules may have the names of some that are needed
    from sds_conformance.cli import main  # a file that is started has no package for a relative import

    main(prog_name="sds-conformance")
