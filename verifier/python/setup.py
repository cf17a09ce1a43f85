"""Builds the shared library with CMake (needs FLINT and Arb, or FLINT 3) and packs it with the module.

    pip install ./verifier/python
"""
import pathlib
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[2]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        with tempfile.TemporaryDirectory() as build:
            subprocess.check_call(
                ["cmake", "-S", str(ROOT), "-B", build, "-DLIE_VERIFIER_ONLY=ON", "-DLIE_TESTS=OFF"]
            )
            subprocess.check_call(["cmake", "--build", build, "--target", "lie_verifier_c", "-j2"])
            library = next(pathlib.Path(build).rglob("liblie_verifier_c.so"))
            shutil.copy(library, pathlib.Path(self.build_lib) / "lie_verifier")


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=BinaryDistribution)
