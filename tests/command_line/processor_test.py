"""The program on a processor that it was not built for, emulated by QEMU."""

import re
import shutil
import subprocess
import unittest

from program import PATIENCE, PROGRAM, SOURCE, FolderTest, run, write_recipe

# Processors and their -march instruction sets.
PROCESSORS = {"Nehalem": ["x86-64", "x86-64-v2"], "Haswell": ["x86-64", "x86-64-v2", "x86-64-v3"]}
EMULATOR = shutil.which("qemu-x86_64")


@unittest.skipUnless(EMULATOR, "needs qemu-x86_64, Debian's qemu-user")
class ProcessorTest(unittest.TestCase):
    def test_missing_instructions_are_named(self):
        built_for = re.search(r"-march=(\S+)", run(["--version"]).out)
        if not built_for or not built_for[1].startswith("x86-64"):
            self.skipTest("what a build of another kind needs is not known")
        for processor, sets in PROCESSORS.items():
            with self.subTest(processor=processor, built_for=built_for[1]):
                words = [EMULATOR, "-cpu", processor, PROGRAM, "--version"]
                outcome = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
                if built_for[1] in sets:
                    self.assertEqual(outcome.returncode, 0, outcome.stderr)
                    continue
                self.assertEqual(outcome.returncode, 2, outcome.stderr)
                self.assertEqual(outcome.stdout, "")
                self.assertIn("which this one does not have", outcome.stderr)
                self.assertIn("-DBATHLINE_ARCH=x86-64-v3", outcome.stderr)


@unittest.skipUnless(shutil.which("objdump"), "needs objdump, Debian's binutils")
class MachineCodeTest(unittest.TestCase):
    def test_products_are_fused_only_explicitly(self):
        # Instructions that a compiler generates by itself for products of complex numbers, but never for std::fma.
        words = ["objdump", "-d", "--no-show-raw-insn", PROGRAM]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, errors="replace") as code:
            fused = [line for line in code.stdout if "vfmaddsub" in line or "vfmsubadd" in line]
        self.assertEqual(fused[:5], [])


CROSS_COMPILER = "aarch64-linux-gnu-g++"


@unittest.skipUnless(shutil.which(CROSS_COMPILER), "needs Debian's g++-aarch64-linux-gnu")
class OtherProcessorTest(FolderTest):
    def test_nothing_of_x86_is_assumed(self):
        # Those files that know processors, and need no library but Random123.
        files = [SOURCE / "src" / name for name in ("instruction_set.cpp", "random/normal_batch.cpp", "model/semi_infinite_line/blocked_exponential_modes.cpp")]
        for file in [*files, *(SOURCE / "src" / "simd").glob("*.?pp")]:
            words = [CROSS_COMPILER, "-std=c++20", "-fsyntax-only", "-w", "-I", SOURCE / "src", "-idirafter", "/usr/include", "-x", "c++", file]
            outcome = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(outcome.returncode, 0, outcome.stderr[:2000])

    def test_no_instruction_set_is_chosen(self):
        (self.folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(other CXX)\ninclude({SOURCE}/src/instruction_set.cmake)\n"
            "message(STATUS \"chosen: '${instruction_set}'\")\n"
        )
        words = ["cmake", "-S", self.folder, "-B", self.folder / "build", "-DCMAKE_SYSTEM_NAME=Linux"]
        words += ["-DCMAKE_SYSTEM_PROCESSOR=aarch64", f"-DCMAKE_CXX_COMPILER={CROSS_COMPILER}"]
        outcome = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("chosen: ''", outcome.stdout, outcome.stderr)


# Every function that a formula can call; x and y stay between -3 and 3.
EVERY_FUNCTION = {
    "title": "every function",
    "system": {
        "kind": "formula",
        "coordinates": ["x", "y"],
        "masses": [1.0, 2.0],
        "V": "1 - cos(x) + exp(0.1*y^2) + 0.1*log(2 + sin(x*y)) + tanh(y)^2",
        "q0": [1.0, 0.5],
        "v0": [0.2, -0.4],
    },
    "system.observables.elementary": {
        "formula": "tan(x/9) + asin(x/9) + acos(y/9) + atan(x*y) + atan2(y, 5 + x) + sinh(x) + cosh(y) + pow(5 + x, y)",
        "units": "1",
    },
    "system.observables.bessel": {
        "formula": "bessel_j(1, 9*x) + bessel_y(0, 9 + x) + bessel_i(2, y) + bessel_k(1, 5 + y)",
        "units": "1",
    },
    "time": {"step": 0.05, "steps": 4000},
    "integrators": [{"method": "stoermer-verlet", "on": "closed"}, {"method": "gauss", "stages": 2, "on": "closed"}],
    "output": {"every": 1},
}

# Processor features by which the C library selects its functions; it ignores unknown names.
WITHOUT_FUSED_PRODUCTS = "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable"


class FormulaTest(FolderTest):
    def test_formulas_do_not_depend_on_the_features_that_the_c_library_finds(self):
        recipe = write_recipe(self.folder / "recipe.toml", EVERY_FUNCTION)
        results = [self.folder / "here.h5", self.folder / "elsewhere.h5"]
        for result, settings in zip(results, ({}, {"GLIBC_TUNABLES": WITHOUT_FUSED_PRODUCTS})):
            self.assert_code(run(["run", recipe, "-o", result], env=settings), 0)
        self.assert_same_bits(*results)


if __name__ == "__main__":
    unittest.main()
