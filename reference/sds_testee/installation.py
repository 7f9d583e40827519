"""Commands that install missing extras in the same way as the suite was installed."""

from __future__ import annotations

import sys
from pathlib import Path


def install_extra(extra: str, prefix: Path | None = None) -> str:
    """The command that installs an extra in the environment ``prefix``; by default, where this interpreter is."""
    wanted = f"'sds-conformance[{extra}]'"
    if _by_uv(prefix):
        return f"uv tool install {wanted}"
    return f"pipx inject --force sds-conformance {wanted}" if _by_pipx(prefix) else f"pip install {wanted}"


def install_package(package: str, prefix: Path | None = None) -> str:
    """The command that installs another package into the environment of the suite, quoted for a shell."""
    if _by_uv(prefix):
        return f"uv tool install --with {package} sds-conformance"
    return f"pipx inject sds-conformance {package}" if _by_pipx(prefix) else f"pip install {package}"


def _by_uv(prefix: Path | None) -> bool:
    return (Path(prefix or sys.prefix) / "uv-receipt.toml").is_file()


def _by_pipx(prefix: Path | None) -> bool:
    return (Path(prefix or sys.prefix) / "pipx_metadata.json").is_file()
