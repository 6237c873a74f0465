"""How the documentation site is built: ``make docs`` (Sphinx, no network, warnings are errors)."""

import re
from importlib.metadata import version as installed_version

from sphinx.application import Sphinx

project = "recloak"
author = "the recloak developers"
release = version = installed_version("recloak")
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "myst_nb"]
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header"]  # README and CHANGELOG are included below a heading of ours
html_theme = "furo"
html_title = "recloak"
html_static_path: list[str] = []
html_show_sourcelink = False

# The notebooks are executed while the site is built; a cell that fails is a warning, and so an error.
nb_execution_mode = "auto"
nb_execution_timeout = 300
nb_execution_raise_on_error = True

# Docstrings are numpy's style; signatures carry the types.
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
napoleon_google_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Pages of the repository's top folder that the site shows as its own: what links there stays inside the site.
TOP_PAGES = {
    "PROMISE": "promise",
    "ARCHITECTURE": "architecture",
    "NOTATION": "notation",
    "CONTRIBUTING": "contributing",
    "CHANGELOG": "changelog",
    "SECURITY": "security",
}


def link_inside(text: str) -> str:
    """Return the text of a page with links to files of the top folder, and from them, turned to pages of the site."""
    for name, page in TOP_PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)*{name}\.md(#[^)]*)?\)", rf"](/project/{page}.md\1)", text)
    return re.sub(r"\]\(docs/decisions\)", "](/decisions/index.md)", re.sub(r"\]\(docs/", "](/", text))


def setup(app: Sphinx) -> None:
    """Turn links before a page is parsed; included files are read by ``include-read``."""
    app.connect("source-read", lambda _app, _name, source: source.__setitem__(0, link_inside(source[0])))
    app.connect("include-read", lambda _app, _path, _parent, source: source.__setitem__(0, link_inside(source[0])))
