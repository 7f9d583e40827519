"""The data that ``sds-conformance --version`` prints."""

from __future__ import annotations

import platform

from sds_testee.version import suite_version

from ..protocols import all_vectors, revisions
from ..reports.certificate import catalogue_digest
from ..vectors.folder import VectorsError, default_folder, load_manifest


def facts() -> dict[str, str]:
    """Return the versions of the suite, of Python and of the vectors, and each revision with the digest of its
    catalogue.

    A certificate has the same digests.
    """
    catalogues = {f"catalogue {name}": f"sha256:{catalogue_digest(name)}" for name in revisions()}
    return {
        "sds-conformance": suite_version(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "vectors": _vectors(),
        **catalogues,
    }


def _vectors() -> str:
    try:
        manifest = load_manifest(all_vectors(), default_folder())
    except (VectorsError, OSError) as error:
        return f"unreadable ({error})"
    return f"{manifest.version} sha256:{manifest.digest}"
