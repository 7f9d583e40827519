"""``python -m sds_conformance``: the same as the command ``sds-conformance``. As a file, what spark-submit takes."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="sds-conformance")
