# A package for Spack 1.0 or later. NOT TRIED with Spack: names of packages and variants are those of its package repository, and
# tests/cluster/machines_test.py compares them with what CMake looks for. From the project's root:
#
#   spack repo add cluster/spack_repo/bathline
#   spack dev-build bathline@main              # builds this source tree
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Bathline(CMakePackage):
    """Dissipative mechanics computed as closed conservative systems: particles coupled to transmission lines, heat baths and
    memory kernels, integrated by structure-preserving methods in parallel with MPI."""

    license("BSD-3-Clause")

    version("main")
    version("0.2.0")

    variant("int64", default=True, description="PETSc with 64-bit indices, for lines of 2^31 or more unknowns")
    variant("python", default=True, description="Figures, reports and the Python package")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi")
    depends_on("petsc+mpi+double~complex+int64", when="+int64")
    depends_on("petsc+mpi+double~complex~int64", when="~int64")
    depends_on("hdf5@1.10:1+mpi+hl")
    depends_on("eigen@3.4")
    depends_on("tomlplusplus@3:")
    depends_on("cli11@2:")
    depends_on("fmt@9:")
    depends_on("spdlog@1.4:")
    depends_on("sleef")
    depends_on("lapack")
    depends_on("random123")
    depends_on("googletest+gmock", type="test")

    with when("+python"):
        depends_on("python@3.11:", type="run")
        for name in (
            "colorspacious h5netcdf h5py jinja2 matplotlib numpy pandas scipy tabulate tomli-w xarray"
        ).split():
            depends_on(f"py-{name}", type="run")

    def cmake_args(self):
        return [
            self.define("BATHLINE_TESTS", self.run_tests),
            self.define("BATHLINE_BENCHMARKS", False),
            # The compiler of Spack knows the target.
            self.define("BATHLINE_ARCH", ""),
        ]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.set("BATHLINE_PYTHON", self.spec["python"].command.path)
            env.prepend_path("PYTHONPATH", self.prefix.share.bathline.analysis)
