#!/usr/bin/env python3
"""check_links.py reports each kind of dead reference, and nothing if there is none."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_links.py"

GOOD = """# A page

[its heading](#a-heading-of-two-words), [the index](index.md#the-index), ![](picture.png),
`common/base/error.h`, `common/base/error`, `common/{base,text}`, `other/thing.h`, [`code`](index.md)

```console
$ bash common/run.sh ANYTHING
[not a link](nowhere.md)
```

## A heading of `two words`
"""


class CheckLinks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name in ("common/base", "common/text", "docs"):
            (Path(self.folder.name) / name).mkdir(parents=True)
        self.write("common/base/error.h", "// See docs/page.md.\n")
        self.write("common/run.sh", "")
        self.write("docs/picture.png", "")
        self.write("docs/index.md", "# The index\n\n- [Page](page.md): about\n")
        self.write("docs/page.md", GOOD)

    def write(self, name, text):
        (Path(self.folder.name) / name).write_text(text, encoding="utf-8")

    def check(self):
        done = subprocess.run([sys.executable, str(CHECK), self.folder.name], text=True,
                              capture_output=True, check=False)
        return done.returncode, done.stdout

    def expect_dead(self, line):
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn(line, output.splitlines())
        self.assertEqual(output.splitlines()[-1], "2 pages, 1 dead references")

    def test_passes_where_all_is_well(self):
        self.assertEqual(self.check(), (0, "2 pages, 0 dead references\n"))

    def test_finds_a_missing_file(self):
        self.write("docs/page.md", GOOD + "\n[gone](gone.md)\n")
        self.expect_dead("docs/page.md:13: no such file: gone.md")

    def test_finds_a_missing_image(self):
        self.write("docs/page.md", GOOD + "\n![gone](gone.png)\n")
        self.expect_dead("docs/page.md:13: no such file: gone.png")

    def test_finds_a_missing_heading(self):
        self.write("docs/page.md", GOOD + "\n[gone](index.md#gone)\n")
        self.expect_dead("docs/page.md:13: no such heading: index.md#gone")

    def test_finds_a_missing_path_in_backticks(self):
        self.write("docs/page.md", GOOD + "\n`common/base/gone.h`\n")
        self.expect_dead("docs/page.md:13: no such path: common/base/gone.h")

    def test_finds_a_missing_path_in_a_code_block(self):
        self.write("docs/page.md", GOOD + "\n```\n$ bash common/gone.sh\n```\n")
        self.expect_dead("docs/page.md:13: no such path: common/gone.sh")

    def test_finds_a_page_that_a_source_names_and_that_is_gone(self):
        self.write("common/base/error.h", "// See docs/gone.md.\n")
        self.expect_dead("common/base/error.h:1: no such page: docs/gone.md")

    def test_finds_a_page_that_the_index_does_not_list(self):
        self.write("docs/index.md", "# The index\n")
        self.expect_dead("docs/index.md: does not list page.md")


if __name__ == "__main__":
    unittest.main()
