"""Checks whether the suite supports this system. The caller imports the rest of the suite after that check."""

from __future__ import annotations

import platform

_WINDOWS = (
    "sds-conformance needs the processes and signals of Linux or macOS. On Windows, use it in WSL: "
    "`wsl --install` installs Linux; install the suite there and use the same commands."
)


def unsupported_system() -> str:
    """Why implementations cannot be tested on this system, and what to do instead; "" if they can."""
    return _WINDOWS if platform.system() == "Windows" else ""
