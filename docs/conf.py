"""Sphinx configuration of the documentation site; scripts/docs.sh builds it.

The pages are plain Markdown, so that they read the same on a forge. The source directory is the
root of the repository: links from docs/ to the README, to CONTRIBUTING and to configs work on the
site as they do on a forge. index.md lists all pages under headings; the tables of contents that
Sphinx needs are made from these lists.
"""

import os
import re
from pathlib import Path

root = Path(__file__).resolve().parent.parent
project = "LIE Cluster"
author = "the LIE Cluster authors"
release = re.search(r"VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
extensions = ["myst_parser", "sphinx.ext.mathjax", "sphinx-mathjax-offline"]
html_theme = "furo"
html_title = f"LIE Cluster {release}"
root_doc = "docs/index"
include_patterns = ["docs/**/*.md", "docs/*.md", "*.md", "configs/*/README.md", "python/README.md"]
exclude_patterns = [".deps", ".git", "build", "runs"]
myst_heading_anchors = 4  # anchors of headings, named as on GitHub
myst_enable_extensions = ["colon_fence", "dollarmath"]
# The pages quote JSON with "..." for what is left out, which no lexer accepts.
suppress_warnings = ["misc.highlighting_failure"]


def resolve_links_to_folders(app, name, source):
    """Replaces a link to a folder by one to its README, or by its path where it has none."""
    folder = os.path.dirname(name)

    def replaced(link):
        path = os.path.normpath(os.path.join(folder, link[2]))
        if not (root / path).is_dir():
            return link[0]
        if (root / path / "README.md").is_file() and path.split("/")[0] in ("configs", "python"):
            return f"[{link[1]}]({link[2].rstrip('/')}/README.md)"
        return f"{link[1]} (`{path}`)"

    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\(([\w./-]+)\)", replaced, source[0])


def add_tables_of_contents(app, name, source):
    """Appends to index.md a hidden table of contents for each of its headings."""
    if name != root_doc:
        return
    text = source[0]
    for title, section in re.findall(r"^## (.+)\n((?:(?!^## ).*\n?)*)", text, flags=re.M):
        pages = re.findall(r"^- \[.*?\]\(([\w./-]+)\.md\)", section, flags=re.M)
        if pages:
            entries = "\n".join(pages)
            text += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```\n"
    source[0] = text


def lead_to_the_home_page(app, error):
    """Writes an index.html at the root of the site, which leads to the home page."""
    if error is None and app.builder.name == "html":
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html"><title>{project}</title>\n'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app):
    app.connect("source-read", resolve_links_to_folders)
    app.connect("source-read", add_tables_of_contents)
    app.connect("build-finished", lead_to_the_home_page)
