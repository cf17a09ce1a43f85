#!/usr/bin/env python3
"""The wheel of python/ holds the package, its prompts, the license and its metadata: wheel_test.py BIN WORK

Builds with the setuptools of this Python, without a network; status 77 where there is none. The version stands in
CMakeLists.txt, and the other places agree with it.
"""

import email
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def found(pattern, file):
    return re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.M)[1]


VERSION = found(r"^project\(lie_cluster VERSION ([\d.]+)", "CMakeLists.txt")


class Versions(unittest.TestCase):
    def test_all_places_have_the_version_of_the_build(self):
        self.assertEqual(found(r'^__version__ = "(.*)"', "python/lie_cluster/__init__.py"), VERSION)
        self.assertEqual(found(r'^version = "(.*)"', "verifier/python/pyproject.toml"), VERSION)
        self.assertEqual(found(r'^version: "?([\d.]+)', "CITATION.cff"), VERSION)
        self.assertEqual(found(r"^## ([\d.]+)", "CHANGELOG.md"), VERSION)
        self.assertEqual(found(r'version\("([\d.]+)"', "packaging/spack/packages/lie_cluster/package.py"), VERSION)

    def test_the_license_of_the_package_is_that_of_the_repository(self):
        self.assertEqual((ROOT / "python/LICENSE").read_bytes(), (ROOT / "LICENSE").read_bytes())


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source = Path(cls.folder.name) / "python"
        shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir",
                   cls.folder.name, source]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        cls.file, = Path(cls.folder.name).glob("*.whl")
        cls.wheel = zipfile.ZipFile(cls.file)
        name, = (name for name in cls.wheel.namelist() if name.endswith(".dist-info/METADATA"))
        cls.metadata = email.message_from_string(cls.wheel.read(name).decode("utf-8"))

    @classmethod
    def tearDownClass(cls):
        cls.wheel.close()
        cls.folder.cleanup()

    def test_it_is_pure_and_has_the_version(self):
        self.assertEqual(self.file.name, f"lie_cluster-{VERSION}-py3-none-any.whl")

    def test_it_holds_every_module_and_prompt(self):
        package = ROOT / "python/lie_cluster"
        wanted = {path.relative_to(package.parent).as_posix() for ending in ("py", "txt") for path in package.rglob(f"*.{ending}")}
        self.assertGreater(len(wanted), 30)
        self.assertEqual(wanted - set(self.wheel.namelist()), set())

    def test_its_metadata_are_complete(self):
        for field in ("Summary", "Author", "License", "Requires-Python", "Description-Content-Type", "Classifier", "Keywords"):
            self.assertTrue(self.metadata[field], field)
        self.assertIn("h5py", " ".join(self.metadata.get_all("Requires-Dist")))
        self.assertIn("import lie_cluster", self.metadata.get_payload())
        self.assertTrue(any(name.endswith("LICENSE") for name in self.wheel.namelist()))

    @unittest.skipUnless(importlib.util.find_spec("twine"), "twine is not installed")
    def test_twine_accepts_it(self):
        done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", self.file], text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if not importlib.util.find_spec("setuptools") or not importlib.util.find_spec("wheel"):
        print("skipped: setuptools and wheel are not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
