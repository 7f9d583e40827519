"""Configuration of the documentation site, for Sphinx. `tox -e docs` builds it.

Sphinx reads pages from one folder, but the pages of this project are in several: in `docs/`, with the code that
they describe, and in the catalogue. `setup` therefore lets `site_pages` assemble all of them in a folder
below the output, and makes that folder the source of the build. Nothing is written into the checkout.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.en import SearchEnglish

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from site_pages.assembly import assemble  # noqa: E402 - found by the line above

project = "sds-conformance"
author = "The sds-conformance authors"
version = release = metadata.version("sds-conformance")
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "colon_fence"]
# Readers copy commands from the pages, so Sphinx must not change two hyphens (the beginning of an option) or quotes.
smartquotes = False
# Examples of JSON and of shell sessions are shortened with "...", which Sphinx cannot highlight. On one page, a heading
# of the third level follows the title.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
highlight_language = "text"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
default_role = "literal"

copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "furo"
html_title = f"sds-conformance {release}"
html_static_path = [str(HERE / "_static")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
# Furo shows the whole tree of pages on each page. Pages of single requirements are not in it: there are hundreds.
html_theme_options = {"navigation_with_keys": True}


class CachingEnglish(SearchEnglish):
    """Stems each word only once.

    Sphinx stems each word again for every page, and a thousand pages have most words in common.
    """

    @cache  # noqa: B019 - one instance, for the whole build
    def stem(self, word: str) -> str:
        return super().stem(word)


def setup(app: Sphinx) -> None:
    """Assemble the sources, and build the site from them."""
    sources = Path(app.doctreedir).parent / ".sources"
    if Path(app.doctreedir).name != ".doctrees":  # The user chose the folder of doctrees with the option -d of Sphinx.
        sources = Path(app.doctreedir) / "sources"
    assemble(sources)
    app.srcdir = type(app.srcdir)(sources)
    languages["en"] = CachingEnglish
    app.connect("html-page-context", share_navigation, priority=400)  # runs before the handler of the theme Furo


_NAVIGATION: dict[str, str] = {}
"""By folder: the HTML of the navigation that all orphan pages of this folder show."""


def share_navigation(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Make the navigation once for all orphan pages of a folder, because it is the same on all of them.

    An orphan is a page that the navigation does not list. Making the navigation takes as long as the rest of a page.
    """
    if "orphan" not in app.env.metadata.get(page, {}):
        return
    make: Callable[..., str] = context["toctree"]

    def shared(**options: object) -> str:
        folder = posixpath.dirname(page)
        if folder not in _NAVIGATION:
            _NAVIGATION[folder] = make(**options)
        return _NAVIGATION[folder]

    context["toctree"] = shared
