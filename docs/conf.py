"""Sphinx configuration of the documentation site; scripts/docs.sh builds it.

The pages are plain Markdown, so that they read the same on a forge. index.md lists all pages under
headings; the tables of contents that Sphinx needs are made from these lists.
"""

import os
import re

project = "LIE Cluster"
author = "the LIE Cluster authors"
extensions = ["myst_parser", "sphinx.ext.mathjax", "sphinx-mathjax-offline"]
html_theme = "furo"
html_title = "LIE Cluster"
exclude_patterns = ["requirements.txt"]
myst_heading_anchors = 4  # anchors of headings, named as on GitHub
myst_enable_extensions = ["colon_fence", "dollarmath"]
# The pages quote JSON with "..." for what is left out, which no lexer accepts.
suppress_warnings = ["misc.highlighting_failure"]


def name_files_outside_the_site(app, name, source):
    """Replaces links to files of the repository, which work on a forge only, by their paths."""
    folder = os.path.dirname(name)

    def replaced(link):
        path = os.path.normpath(os.path.join("docs", folder, link[2].partition("#")[0]))
        return link[0] if path.startswith("docs") else f"{link[1]} (`{path}`)"

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)\s]+)\)", replaced, source[0])


def add_tables_of_contents(app, name, source):
    """Appends to index.md a hidden table of contents for each of its headings."""
    if name != "index":
        return
    text = source[0]
    for title, section in re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", text, flags=re.M):
        pages = re.findall(r"^- \[.*?\]\(([\w/-]+)\.md\)", section, flags=re.M)
        if pages:
            entries = "\n".join(pages)
            text += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```\n"
    source[0] = text


def setup(app):
    app.connect("source-read", name_files_outside_the_site)
    app.connect("source-read", add_tables_of_contents)
