"""src/libraries.cmake finds MPI, PETSc and HDF5 under other names and in other places than Debian's, and says what is missing."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("BATHLINE", SOURCE / "build" / "bathline")).parent

# A project that uses the libraries as bathline does: a program that prints what it was compiled and linked with.
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(outside C CXX)
include({SOURCE}/src/libraries.cmake)
message(STATUS "indices: ${{petsc_indices}}")
if(ENOUGH)
  return()
endif()
add_executable(outside outside.cpp)
target_include_directories(outside PRIVATE ${{PETSC_INCLUDE_DIRS}} ${{HDF5_INCLUDE_DIRS}})
target_link_libraries(outside PRIVATE MPI::MPI_CXX ${{PETSC_LINK_LIBRARIES}} ${{HDF5_HL_LIBRARIES}} ${{HDF5_C_LIBRARIES}})
install(TARGETS outside)
"""
PROGRAM = """#include <hdf5.h>
#include <hdf5_hl.h>
#include <petscksp.h>

#include <cstdio>

int main() {
  char version[256];
  unsigned major = 0, minor = 0, release = 0;
  PetscGetVersion(version, sizeof version);
  H5get_libversion(&major, &minor, &release);
  std::printf("%zu-bit %d HDF5 %u.%u %d", 8 * sizeof(PetscInt), H5LTpath_valid(-1, "/", 0), major, minor, PETSC_VERSION_MAJOR);
}
"""


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def cached(pattern):
    """What this build of bathline found."""
    (value,) = re.findall(f"^{pattern}:\\w+=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return Path(value)


def add_library(folder, name, library):
    """A link to a shared library as installations have it: to its soname in the same folder."""
    (soname,) = re.findall(r"SONAME.*\[(.+)\]", output("readelf", "-d", library))
    (folder / soname).symlink_to(library.resolve())
    (folder / name).symlink_to(soname)


class LibrariesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "outside").mkdir()
        (cls.folder / "outside" / "CMakeLists.txt").write_text(PROJECT)
        (cls.folder / "outside" / "outside.cpp").write_text(PROGRAM)
        cls.petsc = cls.folder / "petsc-tree"
        cls.add_petsc("arch-linux", "petsc", "", "")
        cls.hdf5 = cls.folder / "hdf5-tree"
        cls.add_hdf5(cls.hdf5, "yes")

    @classmethod
    def add_hdf5(cls, root, parallel):
        """An HDF5 in a folder of its own with links to the library and the headers of this build."""
        real = cached("HDF5_C_COMPILER_EXECUTABLE")
        folders = [Path(word[2:]) for word in shlex.split(output(real, "-show")) if word[:2] == "-I"]
        (root / "lib").mkdir(parents=True)
        (root / "include").symlink_to(next(folder for folder in folders if (folder / "hdf5.h").exists()))
        for name in ("hdf5", "hdf5_hl"):
            add_library(root / "lib", f"lib{name}.so", cached(f"HDF5_C_LIBRARY_{name}"))
        wrapper = root / "bin" / "h5pcc"
        wrapper.parent.mkdir()
        wrapper.write_text(
            f'#!/bin/sh\nflags="-I{root}/include -L{root}/lib -lhdf5_hl -lhdf5"\ncase $1 in\n'
            f'  -showconfig) {real} "$@" | sed "s/Parallel HDF5: yes/Parallel HDF5: {parallel}/" ;;\n'
            "  -show) echo mpicc $flags ;;\n  *) exec mpicc \"$@\" $flags ;;\nesac\n"
        )
        wrapper.chmod(0o755)

    @classmethod
    def add_petsc(cls, arch, name, old, new):
        """A PETSc in PETSC_DIR/arch under the given name, with the library and the headers of this build in which `old` is `new`."""
        prefix = cls.petsc / arch
        shutil.copytree(str(cached("PETSC_INCLUDE_DIRS")).split(";")[0], prefix / "include")
        facts = prefix / "include" / "petscconf.h"
        text = facts.read_text()
        assert old in text
        facts.write_text(text.replace(old, new))
        (prefix / "lib" / "pkgconfig").mkdir(parents=True)
        add_library(prefix / "lib", "libpetsc_other.so", cached(r"pkgcfg_lib_PETSC_petsc\w*"))
        (prefix / "lib" / "pkgconfig" / f"{name}.pc").write_text(
            f"prefix={prefix}\nName: PETSc\nDescription: of a module\nVersion: 3.99.1\nCflags: -I${{prefix}}/include\n"
            "Libs: -L${prefix}/lib -lpetsc_other\n"
        )

    first = None

    def configure(self, *options, code=0, afresh=False, **variables):
        """Configures the project; what the first configuration found out about compilers and other libraries is kept."""
        build = Path(tempfile.mkdtemp(dir=self.folder))
        if self.first is not None and not afresh:
            for known in self.first.glob("CMakeFiles/*/CMakeSystem.cmake"):
                shutil.copytree(known.parent, build / "CMakeFiles" / known.parent.name)
            entries = (self.first / "CMakeCache.txt").read_text().splitlines(keepends=True)
            kept = re.compile("(?!_*(HDF5|PETSC|PC_|pkgcfg|CMAKE_CACHEFILE_DIR|BATHLINE|ENOUGH))[\\w-]+:")
            (build / "CMakeCache.txt").write_text("".join(line for line in entries if kept.match(line)))
        cleared = {name: value for name, value in os.environ.items() if name not in ("PETSC_DIR", "PETSC_ARCH", "HDF5_ROOT")}
        done = subprocess.run(
            ["cmake", "-S", self.folder / "outside", "-B", build, *options], capture_output=True, text=True,
            env=cleared | {name: str(value) for name, value in variables.items()},
        )
        self.text = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, self.text)
        if code == 0 and self.first is None:
            type(self).first = build
        return build

    def test_modules_with_other_names(self):
        build = self.configure(PETSC_DIR=self.petsc, PETSC_ARCH="arch-linux", HDF5_ROOT=self.hdf5)
        self.assertIn("PETSc: 3.99.1 with 64-bit indices", self.text)
        self.assertIn(f"parallel ({self.hdf5}/lib/libhdf5.so", self.text)
        self.assertRegex(self.text, r"MPI: \w.*, standard 3")
        output("cmake", "--build", build)
        output("cmake", "--install", build, "--prefix", self.folder / "installed")
        for program in (build / "outside", self.folder / "installed" / "bin" / "outside"):
            self.assertRegex(output(program), r"^64-bit -1 HDF5 1\.\d+ 3$")
            self.assertIn(f"{self.petsc}/arch-linux/lib", output("readelf", "-d", program))
            self.assertIn(f"{self.hdf5}/lib", output("readelf", "-d", program))

    def test_a_name_of_pkg_config(self):
        path = self.petsc / "arch-linux" / "lib" / "pkgconfig"
        self.configure("-DENOUGH=ON", PKG_CONFIG_PATH=path, PKG_CONFIG_LIBDIR=path)
        self.assertIn("PETSc: 3.99.1 with 64-bit indices (petsc of pkg-config)", self.text)
        shutil.copy(path / "petsc.pc", path / "chosen.pc")
        self.add_petsc("default", "petsc", "", "")
        self.configure("-DENOUGH=ON", "-DBATHLINE_PETSC=chosen", PKG_CONFIG_PATH=path, PETSC_DIR=self.petsc, PETSC_ARCH="default")
        self.assertIn("(chosen of pkg-config)", self.text)
        self.configure("-DENOUGH=ON", "-DBATHLINE_PETSC=absent", PETSC_DIR=self.petsc, PETSC_ARCH="default", code=1)
        self.assertIn("pkg-config knows no absent", " ".join(self.text.split()))

    def test_the_width_of_indices_is_read_from_petsc(self):
        self.add_petsc("narrow", "PETSc", "#define PETSC_USE_64BIT_INDICES 1", "")
        self.configure("-DENOUGH=ON", PETSC_DIR=self.petsc / "narrow")
        self.assertIn("indices: 32", self.text)

    def test_a_petsc_that_does_not_fit(self):
        self.add_petsc("mpich", "petsc", "PETSC_HAVE_OMPI_", "PETSC_HAVE_MPICH_")
        self.add_petsc("complex", "petsc", "#define PETSC_USE_REAL_DOUBLE 1", "#define PETSC_USE_COMPLEX 1")
        for arch, said in (("mpich", "was built with another MPI"), ("complex", "real numbers in double precision")):
            if arch == "mpich" and "Open MPI" not in output("mpicxx", "--version") + output("mpirun", "--version"):
                continue
            self.configure("-DENOUGH=ON", PETSC_DIR=self.petsc, PETSC_ARCH=arch, code=1)
            self.assertIn(said, " ".join(self.text.split()))

    def test_an_hdf5_without_mpi(self):
        self.add_hdf5(self.folder / "serial", "no")
        self.configure("-DENOUGH=ON", HDF5_ROOT=self.folder / "serial", code=1)
        self.assertRegex(" ".join(self.text.split()), r"HDF5 with MPI \(1\.\d+\.\d+ in \S+ is serial: load the parallel one or set HDF5_ROOT\)")

    def test_all_missing_libraries_are_listed_at_once_by_their_names(self):
        # Only the system's places are searched, and they are hidden.
        hidden = [f"-DCMAKE_FIND_ROOT_PATH={self.folder}/empty", *(f"-DCMAKE_FIND_ROOT_PATH_MODE_{kind}=ONLY" for kind in ("PACKAGE", "INCLUDE", "LIBRARY"))]
        self.configure(*hidden, PKG_CONFIG_LIBDIR=self.folder, PETSC_DIR=self.folder / "empty", code=1, afresh=True)
        said = " ".join(self.text.split())
        self.assertIn(f"PETSc (none in PETSC_DIR={self.folder}/empty", said)
        for words in ("apt libeigen3-dev; conda-forge eigen; Spack eigen", "apt libtomlplusplus-dev",
                      "Spack petsc +int64", "apt librandom123-dev", "apt libsleef-dev"):
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
