"""Settings of the site that `make docs` builds from the papers of the project; paths start at its root."""

from __future__ import annotations

project = "Threadlore"
root_doc = "docs/index"
include_patterns = ["docs/**.md", "examples/**/README.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = [".*", "**/node_modules"]
extensions = ["myst_parser"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # diagrams are shown as text: no script of another host is loaded
highlight_language = "text"
html_theme = "furo"
html_title = "Threadlore"
html_show_sphinx = False
html_copy_source = False
