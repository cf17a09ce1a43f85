#!/usr/bin/env python3
"""The recipes of packaging/ agree with the build: packaging_test.py

Spack's recipe is executed with stand-ins for Spack's modules, which record what it declares. Its CMake options must be
options of the build, and every package that the build finds must be a dependency.
"""

import itertools
import re
import sys
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging/spack/packages/lie_cluster/package.py"


def declared():
    """Executes the recipe and returns its class and its directives by name."""
    directives = {}
    spack = types.ModuleType("spack.package")
    for name in ("version", "license", "variant", "depends_on", "conflicts", "generator"):
        directives[name] = []
        setattr(spack, name, lambda *words, _name=name, **more: directives[_name].append((*words, more)))
    spack.join_path = lambda *parts: "/".join(map(str, parts))
    modules = {"spack": types.ModuleType("spack"), "spack.package": spack}
    for system, base in (("cmake", "CMakePackage"), ("cuda", "CudaPackage")):
        for depth in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
            modules.setdefault(depth, types.ModuleType(depth))
        module = types.ModuleType(f"spack_repo.builtin.build_systems.{system}")
        setattr(module, base, type(base, (), {}))
        modules[module.__name__] = module
    sys.modules.update(modules)
    scope = {}
    exec(compile(RECIPE.read_text(encoding="utf-8"), RECIPE, "exec"), scope)
    return scope["LieCluster"], directives


class Spec:
    """A concrete spec: some variants are on, and every dependency lies in /opt."""

    def __init__(self, on, **values):
        self.on = on
        self.variants = {name: types.SimpleNamespace(value=value) for name, value in values.items()}

    def satisfies(self, text):
        return text.lstrip("+") in self.on

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=f"/opt/{name}")


def cmake_options(recipe, on):
    """Returns the CMake options, by name, that the recipe passes if the variants `on` are on."""
    package = recipe()
    package.spec = Spec(on, cuda_arch=("80", "90"))
    package.stage = types.SimpleNamespace(source_path="/stage")
    package.define = lambda name, value: (name, value)
    package.define_from_variant = lambda name, variant: (name, variant in on)
    return dict(package.cmake_args())


class Spack(unittest.TestCase):
    def setUp(self):
        self.recipe, self.directives = declared()

    def test_options_are_options_of_the_build(self):
        used = set(re.findall(r'"(LIE_[A-Z_]+)"', RECIPE.read_text(encoding="utf-8")))
        environment = {"LIE_CLUSTER_HOME", "LIE_BIN", "LIE_JOB_SCRIPTS"}
        build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8") + "".join(
            path.read_text(encoding="utf-8") for path in (ROOT / "cmake").glob("*.cmake"))
        for option in used - environment:
            self.assertIn(option, build)
        self.assertGreaterEqual(len(used - environment), 3)
        modulefile = (ROOT / "cmake/modulefile.in").read_text(encoding="utf-8")
        for name in environment:
            self.assertIn(f"setenv {name}", modulefile)

    def test_each_variant_sets_its_options(self):
        declared_names = {words[0] for *words, _ in self.directives["variant"]}
        self.assertEqual(declared_names, {"parquet", "tests"})  # cuda and cuda_arch come from CudaPackage
        build = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        known = set(re.findall(r"^(?:option|set)\((LIE_\w+)", build, re.M)) | {"Arrow_DIR", "LIE_CUDA_ARCHITECTURES"}
        self.assertIn("LIE_CUDA_ARCHITECTURES", (ROOT / "cmake/Cuda.cmake").read_text(encoding="utf-8"))
        for count in range(4):
            for on in itertools.combinations(("cuda", "parquet", "tests"), count):
                options = cmake_options(self.recipe, on)
                self.assertEqual(set(options) - known, set(), on)
                self.assertEqual(options["LIE_CUDA"], "cuda" in on)
                self.assertEqual(options["LIE_TESTS"], "tests" in on)
                self.assertEqual(options.get("Arrow_DIR"), "/opt/arrow/lib/cmake/Arrow" if "parquet" in on else None)
                self.assertEqual(options.get("LIE_CUDA_ARCHITECTURES"), "80;90" if "cuda" in on else None)

    def test_the_high_level_part_of_hdf5_is_not_needed(self):
        text = (ROOT / "cmake/LieDependencies.cmake").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"find_package\(HDF5 REQUIRED COMPONENTS ([\w ]+)\)", text), ["C"])
        self.assertFalse(any("+hl" in words[0] for *words, _ in self.directives["depends_on"]))

    def test_every_package_that_the_build_finds_is_a_dependency(self):
        names = {words[0].split("@")[0].split("+")[0].split("~")[0] for *words, _ in self.directives["depends_on"]}
        spack = {"fmt": "fmt", "OpenSSL": "openssl", "yaml-cpp": "yaml-cpp", "nlohmann_json": "nlohmann-json",
                 "CLI11": "cli11", "GTest": "googletest", "MPI": "mpi", "HDF5": "hdf5", "PkgConfig": "pkgconfig",
                 "libpcre2-8": "pcre2", "libutf8proc": "utf8proc", "libhwy": "highway", "Threads": None}
        text = (ROOT / "cmake/LieDependencies.cmake").read_text(encoding="utf-8")
        found = re.findall(r"find_package\(([\w-]+)", text) + re.findall(r"IMPORTED_TARGET ([\w-]+)", text)
        self.assertGreater(len(found), 8)
        for package in found:
            self.assertTrue(spack[package] is None or spack[package] in names, package)
        self.assertTrue({"flint", "gmp", "random123", "arrow", "py-torch"} <= names)

    def test_the_bound_of_arrow_is_that_of_the_build(self):
        bound = re.search(r"set\(arrow_minimum (\d+)", (ROOT / "cmake/Arrow.cmake").read_text(encoding="utf-8"))[1]
        arrow, = (words[0] for *words, _ in self.directives["depends_on"] if words[0].startswith("arrow"))
        self.assertTrue(arrow.startswith(f"arrow@{bound}:+parquet+"), arrow)
        for codec in ("brotli", "lz4", "snappy", "zlib", "zstd"):  # those of published files; Spack's default has none
            self.assertIn(f"+{codec}", arrow)


class Apptainer(unittest.TestCase):
    def test_the_images_set_what_the_modulefile_sets(self):
        for name in ("cpu", "cuda"):
            text = (ROOT / f"packaging/apptainer/{name}.def").read_text(encoding="utf-8")
            for variable in ("PATH", "PYTHONPATH", "LIE_BIN", "LIE_CLUSTER_HOME", "LIE_JOB_SCRIPTS"):
                self.assertRegex(text, rf"export {variable}=")
            self.assertEqual(text.count("Bootstrap:"), 2, "a stage that builds and one that runs")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
