"""On which systems implementations can be driven. Everything else is imported after that was asked."""

from __future__ import annotations

import platform

_WINDOWS = (
    "sds-conformance needs the processes and signals of Linux or macOS. On Windows, use it in WSL: "
    "`wsl --install` brings a Linux, in which you install and type the same."
)


def unsupported() -> str:
    """Why it cannot be done here, and what to do instead; empty where it can."""
    return _WINDOWS if platform.system() == "Windows" else ""
