"""``python -m clearskies_reference``: the model as an implementation under test."""

from __future__ import annotations

import sys

from .testee.command import main

if __name__ == "__main__":
    sys.exit(main())
