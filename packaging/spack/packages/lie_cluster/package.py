"""Spack's recipe of LIE Cluster: docs/how-to/install.md#spack."""
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage


class LieCluster(CMakePackage, CudaPackage):
    """Reinforcement learning for reasoning models, as one C++20 program under MPI."""

    # Builds a checkout: spack develop --path CHECKOUT lie-cluster@0.1.0
    version("0.1.0")
    license("Apache-2.0")

    variant("parquet", default=False, description="Read Parquet files")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:1~mpi")
    depends_on("yaml-cpp")
    depends_on("fmt")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("random123", type="build")
    depends_on("highway")
    depends_on("pcre2")
    depends_on("utf8proc+shared")
    depends_on("gmp")
    depends_on("flint@3:")
    depends_on("openssl")
    depends_on("googletest+gmock", when="+tests")
    depends_on("arrow@15:+parquet+brotli+lz4+snappy+zlib+zstd", when="+parquet")
    depends_on("cuda@13:", when="+cuda")
    depends_on("nccl", when="+cuda")
    depends_on("py-torch@2.11:+cuda", when="+cuda")
    depends_on("python@3.8:", type="run")
    depends_on("py-h5py~mpi", type="run")
    depends_on("py-numpy", type="run")
    depends_on("py-pyyaml", type="run")

    conflicts("%gcc@:11", msg="C++20 as GCC 12 has it")
    conflicts("target=aarch64:", msg="the operators need AVX2")
    conflicts("cuda_arch=none", when="+cuda", msg="name the architectures: cuda_arch=90")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("LIE_TESTS", "tests"),
            self.define_from_variant("LIE_CUDA", "cuda"),
            self.define("LIE_DEPS_DIR", join_path(self.stage.source_path, "no-deps")),
        ]
        if self.spec.satisfies("+parquet"):
            arguments.append(self.define("Arrow_DIR", join_path(self.spec["arrow"].prefix, "lib", "cmake", "Arrow")))
        if self.spec.satisfies("+cuda"):
            arguments.append(self.define("LIE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return arguments

    def setup_run_environment(self, env):
        share = join_path(self.prefix.share, "lie_cluster")
        env.prepend_path("PYTHONPATH", join_path(share, "python"))
        env.set("LIE_CLUSTER_HOME", share)
        env.set("LIE_BIN", self.prefix.bin)
        env.set("LIE_JOB_SCRIPTS", join_path(share, "slurm"))
