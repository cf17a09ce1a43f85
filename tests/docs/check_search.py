#!/usr/bin/env python3
"""Searches the built documentation site: check_search.py SITE

Does what the site's search page does: a page is found that holds every word of the search, a title that contains the
search comes first, then pages with the best score of a word. Each search below must find its page among the first five.
Prints the searches with the pages that answer them. Needs Sphinx, for the stemmer of the index.
"""

import json
import re
import sys
from pathlib import Path

SEARCHES = {
    "multi node": "docs/tutorials/on-a-slurm-cluster",
    "out of memory": "docs/how-to/limits-and-faq",
    "OOM": "docs/how-to/limits-and-faq",
    "LoRA": "docs/how-to/limits-and-faq",
    "MoE": "docs/how-to/limits-and-faq",
    "FAQ": "docs/how-to/limits-and-faq",
    "cite": "docs/how-to/limits-and-faq",
    "H100": "docs/how-to/train-on-gpus",
    "GPU memory": "docs/how-to/plan-a-run",
    "hyperparameters": "docs/how-to/hyperparameters",
    "reward function": "docs/how-to/add-a-reward",
    "TRL": "docs/how-to/come-from-trl-or-verl",
    "verl": "docs/how-to/why-not-trl-or-verl",
    "resume": "docs/how-to/resume",
    "formulas": "docs/design/method",
    "Python package": "docs/reference/python",
    "partition": "docs/tutorials/on-a-slurm-cluster",
}
# As in Sphinx's searchtools.js.
TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM = 15, 7, 5, 2


def index_of(site):
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("(") + 1:text.rindex(")")])


def files_of(terms, word):
    found = terms.get(word, [])
    return found if isinstance(found, list) else [found]


def score_of_word(index, word):
    """Returns the score of `word` by page."""
    scores = {}
    for terms, whole, partial in [(index["terms"], TERM, PARTIAL_TERM), (index["titleterms"], TITLE, PARTIAL_TITLE)]:
        matches = [word] if word in terms else [t for t in terms if word in t] if len(word) > 2 else []
        for match in matches:
            for file in files_of(terms, match):
                scores[file] = whole if match == word else partial
    return scores


def search(index, stem, query):
    """Returns the names of the pages that a search finds, best first."""
    found = {}
    for title, places in index["alltitles"].items():
        if query.lower() in title.lower() and 2 * len(query) >= len(title):
            for file, _ in places:
                score = round(TITLE * len(query) / len(title)) + (index["titles"][file] == title)
                found[file] = max(score, found.get(file, 0))
    words = [score_of_word(index, stem(word)) for word in re.findall(r"\w+", query.lower()) if word not in ("of", "a")]
    for file in set.intersection(*map(set, words)):
        found[file] = max(max(scores[file] for scores in words), found.get(file, 0))
    return [index["docnames"][file] for file in sorted(found, key=lambda f: (-found[f], index["titles"][f].lower()))]


def main():
    from sphinx.search.en import SearchEnglish
    language = SearchEnglish({})
    index = index_of(Path(sys.argv[1]))
    failures = 0
    for query, page in SEARCHES.items():
        pages = search(index, language.stem, query)
        place = pages.index(page) + 1 if page in pages else 0
        good = 1 <= place <= 5
        failures += not good
        print(f"{query:16} {page}: " + (f"{place} of {len(pages)}" if place else "not found") +
              ("" if good else f"; first: {', '.join(pages[:5])}"))
    print(f"{len(SEARCHES)} searches, {failures} without their page among the first five")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
