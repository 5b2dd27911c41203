"""The installed program, Python package, manual page, completions and library work without the sources."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("BATHLINE", SOURCE / "build" / "bathline")).parent
EXAMPLES = SOURCE / "tests" / "examples"
PUBLIC = "#pragma once  // Public: programs of others may include this header."


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "prefix"
        code, out, err = run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        assert code == 0, out + err
        # Only installed files may be used.
        cls.environment = {key: value for key, value in os.environ.items() if not key.startswith("BATHLINE")}
        cls.program = cls.prefix / "bin" / "bathline"

    def installed(self, *command, **options):
        code, out, err = run(*command, env=self.environment, cwd=self.folder, **options)
        self.assertEqual(code, 0, out + err)
        return out

    def test_the_program_finds_its_recipes_and_its_scripts(self):
        self.assertIn("limebeer2020/fig06", self.installed(self.program, "list", "recipes"))
        self.assertIn("orders", self.installed(self.program, "describe", "ours/orders"))
        documents = self.prefix / "share" / "bathline" / "experiments"
        for page in ("README.md", "guide/concepts.md", "reference/recipe.md"):
            text = (documents / page).read_text()
            for picture in re.findall(r'!\[.*\]\((.*)\)|<img src="([^"]+)"', text):
                self.assertTrue((documents / page).parent.joinpath("".join(picture)).is_file(), picture)
        self.installed(self.program, "plot", self.figure_result())
        self.assertTrue((self.folder / "small.png").is_file())

    def figure_result(self):
        (self.folder / "small.toml").write_text(
            'title = "small"\n[system]\nkind = "single-oscillator"\nm = 1.0\nk = 1.0\nq0 = [1.0]\n'
            '[time]\nstep = 0.1\nend = 2.0\n[[integrators]]\nmethod = "stoermer-verlet"\non = "closed"\nname = "sv"\n'
            '[study]\nkind = "trajectory"\n'
        )
        self.installed(self.program, "run", "small.toml", "-o", "small.h5", "--overwrite")
        return "small.h5"

    def test_the_python_package_is_there(self):
        package = self.prefix / "share" / "bathline" / "analysis"
        code = f"import sys; sys.path.insert(0, {str(package)!r}); import bathline; print(bathline.open({self.figure_result()!r}))"
        self.assertIn("sv", self.installed(sys.executable, "-c", code))

    def test_the_manual_page_describes_every_command(self):
        page = self.prefix / "share" / "man" / "man1" / "bathline.1"
        text = page.read_text()
        commands = re.findall(r"^  (\w+)  ", self.installed(self.program, "--help"), re.MULTILINE)
        self.assertGreater(len(commands), 8)
        for command in commands:
            self.assertIn(f".SS \\fB{command}\\fR", text)
        self.assertIn("\\fB\\-\\-wall\\-time\\fR", text)
        if shutil.which("groff"):
            code, out, err = run("groff", "-man", "-ww", "-Tutf8", page)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("--overwrite", re.sub("\x1b\\[[0-9;]*m|.\x08", "", out))

    def completions(self, *words):
        script = self.prefix / "share" / "bash-completion" / "completions" / "bathline"
        line = " ".join(f"'{word}'" for word in ["bathline", *words])
        command = f'source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _bathline; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return [line for line in self.installed("bash", "-c", command).splitlines() if line]

    def test_bash_completes_commands_options_and_names(self):
        self.assertEqual(self.completions("ver"), ["verify"])
        self.assertIn("--overwrite", self.completions("run", "--"))
        self.assertNotIn("--overwrite", self.completions("check", "--"))
        self.assertEqual(self.completions("run", "limebeer2020/fig06"), ["limebeer2020/fig06"])
        self.assertEqual(self.completions("describe", "spring-mass"), ["spring-mass-line"])
        self.assertEqual(self.completions("run", "--progress", "b"), ["bar"])
        self.assertEqual(self.completions("convert", "--to", "c"), ["chain"])
        self.assertIn("prefix", self.completions("run", "-o", "pre"))
        (self.folder / "my recipe.toml").touch()
        self.assertEqual(self.completions("run", "my"), ["my recipe.toml"])
        self.assertEqual(self.completions("run", "--unset", "pre"), [])
        self.assertEqual(self.completions("list", "env"), ["environments"])
        self.assertEqual(self.completions("generat"), [])

    def test_zsh_loads_the_completions(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        script = self.prefix / "share" / "zsh" / "site-functions" / "_bathline"
        command = f"autoload -U compinit && compinit -u -D; source {script}; whence -w _bathline; print ${{_comps[bathline]}}"
        self.assertIn("_bathline: function", self.installed("zsh", "-f", "-c", command))

    def test_another_project_adds_its_own_system(self):
        outside = self.folder / "outside"
        shutil.copytree(EXAMPLES, outside)
        build = outside / "build"
        self.installed("cmake", "-S", outside, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Debug")
        self.installed("cmake", "--build", build, "--target", "system")
        out = self.installed(build / "system", "run", outside / "system.toml", "-o", "system.h5")
        self.assertIn("PASS", out)
        # Neither the sources nor their build were used.
        commands = (build / "CMakeFiles/system.dir/flags.make").read_text() + (
            build / "CMakeFiles/system.dir/link.txt"
        ).read_text()
        self.assertNotIn(str(SOURCE), commands)
        self.assertNotIn(str(BUILD), commands)

    def test_the_package_says_what_the_build_found(self):
        text = next(self.prefix.rglob("bathline-config.cmake")).read_text()
        (version,) = re.findall(r"^PETSC_VERSION:INTERNAL=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
        self.assertRegex(text, rf'set\(bathline_PETSC "{version}, (32|64)-bit indices, \S+"\)')
        self.assertRegex(text, r'set\(bathline_HDF5 "\d+\.\d+\.\d+, \S+"\)')
        self.assertRegex(text, r'set\(bathline_MPI "\w[^"]+"\)')

    def test_examples_include_only_public_headers_and_the_readme_lists_them(self):
        public = {
            str(path.relative_to(SOURCE / "src"))
            for path in (SOURCE / "src").rglob("*.hpp")
            if PUBLIC in path.read_text().splitlines()[:8]
        }
        for example in EXAMPLES.glob("*.cpp"):
            for header in re.findall(r'#include "(.*)"', example.read_text()):
                self.assertIn(header, public, example)
        section = (SOURCE / "src" / "README.md").read_text().split("## Public headers")[1].split("\n## ")[0]
        self.assertEqual(set(re.findall(r"`([\w/]+\.hpp)`", section)), public)
        for header in public:
            self.assertTrue((self.prefix / "include" / "bathline" / header).is_file())


if __name__ == "__main__":
    unittest.main()
