"""Machines without apt-get, inside jobs and in containers: the scripts there, and the files for Spack, conda and Apptainer."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

import jinja2.meta
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "command_line"))

from program import PROGRAM, SOURCE, FolderTest  # noqa: E402

CLUSTER = SOURCE / "cluster"


class WithoutAptTest(FolderTest):
    """A machine without apt-get is imitated by a PATH without it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bin = cls.folder / "bin"
        cls.bin.mkdir()
        for folder in os.environ["PATH"].split(os.pathsep):
            for program in Path(folder).glob("*"):
                if not program.name.startswith(("apt", "dpkg")) and not os.path.lexists(cls.bin / program.name):
                    (cls.bin / program.name).symlink_to(program)
        # An interpreter without the packages that were installed for it.
        bare = cls.folder / "bare-python"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        bare.chmod(0o755)

    def run_script(self, *command, code=0, **variables):
        environment = os.environ | {"BATHLINE_PYTHON": sys.executable, "PATH": str(self.bin)} | variables
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_one_line_says_that_nothing_is_installed(self):
        said = "dependencies: not installed, because "
        for argument in ([], ["--clang"], ["--lint"], ["--site"]):
            text = self.run_script(CLUSTER / "install-dependencies", *argument)
            self.assertEqual(text, f"{said}this machine has no apt-get (see cluster/README.md)\n")
        # The same with apt-get, which is not called.
        caller = self.folder / "caller"
        caller.mkdir()
        for name in ("apt-get", "dpkg-query"):
            (caller / name).write_text("#!/bin/sh\necho called >&2\nexit 1\n")
            (caller / name).chmod(0o755)
        path = f"{caller}{os.pathsep}{self.bin}"
        text = self.run_script(CLUSTER / "install-dependencies", PATH=path, BATHLINE_SKIP_INSTALL="1")
        self.assertEqual(text, f"{said}BATHLINE_SKIP_INSTALL is set\n")

    def test_what_is_missing_is_listed_for_pip_conda_and_spack(self):
        self.run_script("rm", self.bin / "ninja")
        self.addCleanup((self.bin / "ninja").symlink_to, shutil.which("ninja"))
        text = self.run_script(CLUSTER / "install-dependencies", BATHLINE_PYTHON=str(self.folder / "bare-python"))
        self.assertIn("missing on PATH: ninja\n", text)
        self.assertNotIn("missing on PATH: cmake", text)
        for command, name in (("pip install", "tomli-w"), ("conda install -c conda-forge", "h5py"), ("spack install", "py-h5py")):
            self.assertRegex(text, rf"(?m)^  {command}( .*)? {name}\b")
        text = self.run_script(CLUSTER / "install-dependencies", BATHLINE_PYTHON="/absent")
        self.assertIn("BATHLINE_PYTHON=/absent does not start", text)

    def test_reproduce_and_the_tests_go_on(self):
        # In a copy with the build of this tree, so that nothing is compiled and no results are replaced.
        root = self.folder / "tree"
        for script in ("experiments/reproduce", "tests/run", "cluster/environment.sh", "cluster/install-dependencies"):
            (root / script).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / script, root / script)
        (root / "cluster" / "build").write_text('#!/bin/sh\necho "build $*"\n')
        (root / "cluster" / "build").chmod(0o755)
        shutil.copytree(SOURCE / "analysis", root / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "build").mkdir()
        (root / "build" / "bathline").symlink_to(PROGRAM)
        (root / "build" / "CTestTestfile.cmake").write_text('add_test(nothing "true")\n')
        recipe = root / "experiments" / "ours" / "small.toml"
        recipe.parent.mkdir()
        shutil.copy(SOURCE / "experiments" / "ours" / "orders.toml", recipe)
        text = self.run_script(root / "experiments" / "reproduce", "ours/small", "-n", "1")
        self.assertIn("not installed, because this machine has no apt-get", text)
        self.assertIn("results/report.html", text)
        text = self.run_script(root / "tests" / "run")
        self.assertIn("100% tests passed", text)


class EnvironmentTest(unittest.TestCase):
    """Variables that cluster/environment.sh sets."""

    def variables(self, *before, then="", **given):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "SLURM_", "PBS_", "BATHLINE_"))}
        code = f"set -euo pipefail; source {CLUSTER}/environment.sh; {then} echo LAUNCH=$BATHLINE_LAUNCH; env"
        done = subprocess.run([*before, "bash", "-c", code], env=clean | given, capture_output=True, text=True, check=True)
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    SINGLE_COPY = "OMPI_MCA_btl_vader_single_copy_mechanism"
    OVERSUBSCRIBE = "OMPI_MCA_rmaps_base_oversubscribe"

    def test_nothing_is_set_for_the_messages_of_a_job(self):
        for job, launcher in (("SLURM_JOB_ID", "srun --mpi=pmix"), ("PBS_JOBID", "mpiexec")):
            variables = self.variables(then="set_launch 10000; ", **{job: "7"})
            self.assertEqual([name for name in variables if name.startswith("OMPI_MCA")], [])
            self.assertEqual(variables["LAUNCH"], launcher)
        self.assertEqual(self.variables(SLURM_JOB_ID="7", BATHLINE_LAUNCH="mpiexec.hydra")["LAUNCH"], "mpiexec.hydra")

    def test_more_ranks_than_cores_are_allowed_outside_jobs(self):
        self.assertEqual(self.variables(then="set_launch 10000; ").get(self.OVERSUBSCRIBE), "1")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_root_in_a_container_cannot_trace_processes(self):
        inside = ("setpriv", "--bounding-set=-sys_ptrace")
        self.assertEqual(self.variables(*inside)[self.SINGLE_COPY], "none")
        self.assertEqual(self.variables(*inside)[self.OVERSUBSCRIBE], "1")
        self.assertEqual(self.variables(*inside, OMPI_MCA_btl_vader_single_copy_mechanism="cma")[self.SINGLE_COPY], "cma")
        self.assertNotIn(self.SINGLE_COPY, self.variables(*inside, SLURM_JOB_ID="7"))
        user = ("setpriv", "--reuid=65534", "--clear-groups")
        self.assertNotIn(self.SINGLE_COPY, self.variables(*user))
        self.assertNotIn(self.OVERSUBSCRIBE, self.variables(*user))
        (capabilities,) = re.findall(r"^CapEff:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
        if int(capabilities, 16) >> 19 & 1:
            self.assertNotIn(self.SINGLE_COPY, self.variables())


class PackagesTest(unittest.TestCase):
    """The files for Spack, conda and Apptainer have the right form, and require what CMake looks for."""

    @classmethod
    def setUpClass(cls):
        # bathline_missing(what debian conda spack), bathline_package(name version debian conda spack).
        text = (SOURCE / "src" / "libraries.cmake").read_text()
        word = r'("[^"]*"|[^\s")]+)'
        calls = re.findall(rf"bathline_missing\({word}\s+{word}\s+{word}\s+{word}\)", text)
        calls += re.findall(rf"bathline_package\(\S+ \S+ {word} {word} {word}\)", text)
        calls += re.findall(rf"set\(petsc_packages {word} {word} {word}\)", text)
        names = {tuple(value.strip('"') for value in call[-3:]) for call in calls if not call[-1].startswith("${")}
        assert len(names) >= 12, names
        cls.conda = {conda.split("=")[0] for _, conda, _ in names} - {"none, its headers suffice"}
        cls.spack = {spack for _, _, spack in names}
        (python,) = re.findall(r'^names = "([^"]*)"', (CLUSTER / "install-dependencies").read_text(), re.MULTILINE)
        # The notebooks are only needed by tests.
        cls.python = set(python.split()) - {"ipykernel", "nbclient", "nbformat"}
        (cls.version,) = re.findall(r"project\(bathline VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())

    def test_the_python_packages_are_those_of_the_python_package(self):
        project = tomllib.loads((SOURCE / "analysis" / "pyproject.toml").read_text())["project"]
        self.assertLessEqual({*project["dependencies"], *project["optional-dependencies"]["hdf5"]}, self.python)

    def test_spack(self):
        """The package file is executed with stand-ins for Spack's functions."""
        said = {name: [] for name in ("depends_on", "variant", "version", "license", "generator")}
        names = {name: lambda *words, name=name, **_: said[name].append(words[0]) for name in said}
        names |= {"CMakePackage": object, "when": contextlib.nullcontext}
        folder = CLUSTER / "spack_repo" / "bathline"
        lines = (folder / "packages" / "bathline" / "package.py").read_text().splitlines()
        imports = [line for line in lines if line.startswith("from ")]
        self.assertEqual(imports, ["from spack_repo.builtin.build_systems.cmake import CMakePackage, generator", "from spack.package import *"])
        exec("\n".join(line for line in lines if line not in imports), names)
        self.assertIn(self.version, said["version"])
        self.assertEqual(said["variant"], ["int64", "python"])
        required = [re.match(r"[\w-]+", words).group() for words in said["depends_on"]]
        for spack in self.spack - {"openmpi", "pkgconf", "benchmark"}:
            name, *variants = spack.split()
            self.assertIn(name, required)
            (words,) = [words for words in said["depends_on"] if re.match(rf"{name}\b(?!-).*", words) and "~int64" not in words]
            for variant in variants:
                self.assertIn(variant, words)
        self.assertLessEqual({"mpi", "pkgconfig", *(f"py-{name}" for name in self.python)}, set(required))
        package = names["Bathline"]()
        package.define, package.run_tests = (lambda name, value: f"{name}={value}"), False
        for argument in package.cmake_args():
            self.assert_option(argument.split("=")[0])
        self.assertEqual(yaml.safe_load((folder / "repo.yaml").read_text())["repo"]["namespace"], "bathline")

    def assert_option(self, name):
        texts = [(SOURCE / path).read_text() for path in ("CMakeLists.txt", "src/libraries.cmake")]
        self.assertRegex("".join(texts), rf"(option|set|find_path)\({name}\b")

    def test_conda(self):
        recipe = yaml.safe_load((CLUSTER / "conda" / "recipe.yaml").read_text())
        self.assertEqual(recipe["context"]["version"], self.version)
        plain = {key: [re.split(r"[ =]", words)[0] for words in value if not words.startswith("$")]
                 for key, value in recipe["requirements"].items()}
        needed = self.conda - {"openmpi", "gtest", "benchmark", "pkg-config"}
        self.assertLessEqual(needed, set(plain["host"]))
        self.assertIn("pkg-config", plain["build"])
        self.assertLessEqual(self.python - {"matplotlib"} | {"matplotlib-base"}, set(plain["run"]))
        for command in recipe["build"]["script"]["content"]:
            subprocess.run(["bash", "-n", "-c", command], check=True)
            for option in re.findall(r"-D((?:BATHLINE|RANDOM)\w+)=", command):
                self.assert_option(option)
        # Every expression is closed and names what rattler-build defines.
        text = (CLUSTER / "conda" / "recipe.yaml").read_text()
        expressions = re.findall(r"\$\{\{(.*?)\}\}", text)
        self.assertEqual(len(expressions), text.count("${{"))
        environment = jinja2.Environment()
        for expression in expressions:
            names = jinja2.meta.find_undeclared_variables(environment.parse("{{" + expression + "}}"))
            self.assertLessEqual(names, {"version", "mpi", "hash", "env", "compiler", "stdlib"})

    def test_apptainer(self):
        text = re.sub(r"(?m)^#.*\n", "", (CLUSTER / "container" / "apptainer.def").read_text())
        header, *sections = re.split(r"(?m)^%", text)
        self.assertEqual(dict(line.split(": ") for line in header.split("\n") if line), {"Bootstrap": "docker", "From": "debian:12"})
        container = (CLUSTER / "container" / "Containerfile").read_text()
        self.assertIn("FROM debian:12\n", container)
        for section in sections:
            name, _, body = section.partition("\n")
            self.assertIn(name, ("files", "post", "environment", "runscript", "test"))
            if name != "files":
                subprocess.run(["sh", "-n", "-c", body], check=True)
            for script in re.findall(r"/opt/bathline/(cluster/\S+)", body):
                self.assertTrue(os.access(SOURCE / script, os.X_OK))
                self.assertIn(Path(script).name, container)


if __name__ == "__main__":
    unittest.main()
