# A Spack recipe. NOT TESTED: there was no Spack to test it with.
#
#   spack repo create bathline-repo && mkdir bathline-repo/packages/bathline
#   cp cluster/spack/package.py bathline-repo/packages/bathline/ && spack repo add bathline-repo
#   spack dev-build bathline@main        # from the project's root: the package names no address to fetch it from
"""Dissipative mechanics computed as closed conservative systems."""

import os

from spack.package import *


class Bathline(CMakePackage):
    """Advances small mechanical systems together with the large conservative environments that damp them."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("int64", default=True, description="PETSc with 64-bit indices, for lines beyond 2^31 unknowns")
    variant("tests", default=False, description="Build the unit tests and benchmarks")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi")
    depends_on("petsc@3.18: +mpi +double ~complex +int64", when="+int64")
    depends_on("petsc@3.18: +mpi +double ~complex ~int64", when="~int64")
    depends_on("hdf5@1.10: +mpi +hl")
    depends_on("eigen@3.4:")
    depends_on("tomlplusplus@3.3: +shared")
    depends_on("cli11@2:")
    depends_on("spdlog@1.10: +shared +fmt_external")
    depends_on("fmt@9:")
    depends_on("random123")
    depends_on("googletest +gmock", when="+tests")
    depends_on("benchmark", when="+tests")

    generator("ninja")

    def setup_build_environment(self, env):
        # CMakeLists.txt looks for the names that Debian gives to these pkg-config files and to this library.
        names = {"petsc": "PETSc64" if self.spec.satisfies("+int64") else "PETSc", "hdf5": "hdf5-openmpi"}
        folder = join_path(self.stage.path, "pkgconfig")
        mkdirp(folder)
        for package, name in names.items():
            for place in ("lib", "lib64"):
                there = join_path(self.spec[package].prefix, place, "pkgconfig")
                for candidate in ("PETSc.pc", "petsc.pc") if package == "petsc" else ("hdf5.pc",):
                    source, target = join_path(there, candidate), join_path(folder, name + ".pc")
                    if os.path.exists(source) and not os.path.exists(target):
                        symlink(source, target)
        env.prepend_path("PKG_CONFIG_PATH", folder)

    def cmake_args(self):
        tests = self.define_from_variant("BATHLINE_TESTS", "tests")
        benchmarks = self.define_from_variant("BATHLINE_BENCHMARKS", "tests")
        hl = find_libraries("libhdf5_hl", root=self.spec["hdf5"].prefix, recursive=True)
        return [
            tests,
            benchmarks,
            self.define_from_variant("BATHLINE_64BIT_INDICES", "int64"),
            self.define("HDF5_HL_LIBRARY", hl[0]),
            # Spack's compiler wrapper chooses the instruction set.
            self.define("BATHLINE_ARCH", ""),
        ]

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        install(join_path(self.build_directory, "bathline"), prefix.bin)
