"""Running the built program in tests, and the recipes that the tests modify."""

import atexit
import copy
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import tomllib
import unittest
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import h5py

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BATHLINE", str(SOURCE / "build" / "bathline"))

# Seconds after which a run counts as hanging, on a machine with other work as well.
PATIENCE = 600.0

# As in tests/CMakeLists.txt, for tests that are started by hand.
MPI_SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}

# A damped oscillator and the line that represents its damper, on the characteristic grid, without an echo.
OSCILLATOR = {
    "title": "An oscillator",
    "system": {"kind": "single-oscillator", "m": 1.0, "k": 1.0, "q0": [1.0], "v0": [0.5]},
    "environments": [
        {"name": "line", "kind": "spring-mass-line", "attach": 0, "sites": 45, "grid": "characteristic", "damping": 0.4}
    ],
    "time": {"step": 0.05, "steps": 60},
    "integrators": [
        {"method": "gamma", "gamma": 0.0, "on": "closed", "name": "closed"},
        {"method": "gamma", "gamma": 0.0, "on": "open", "name": "open"},
    ],
    "output": {"every": 1},
}

# A planet with a planar line: nonlinear, two axes.
KEPLER = {
    "title": "A planet",
    "system": {"kind": "kepler", "M": 1.0, "mu": 1000.0, "q0": [[5.0, 0.0]], "v0": [[0.0, 17.0]]},
    "environments": [
        {"name": "plane", "kind": "spring-mass-line", "sites": 130, "grid": "characteristic", "damping": 0.05}
    ],
    "time": {"step": 0.001, "steps": 100},
    "integrators": [{"method": "gamma", "gamma": 0.5, "on": "closed", "name": "planet"}],
}


class Outcome(NamedTuple):
    """The outcome of a run: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def text(self):
        """Both outputs."""
        return self.out + self.err


def command_of(arguments, ranks=None):
    """The command that starts the program, with mpirun if `ranks` is given."""
    # --quiet suppresses mpirun's own messages about exit codes.
    launch = [] if ranks is None else ["mpirun", "--quiet", "-n", str(ranks)]
    return [*launch, PROGRAM, *map(str, arguments)]


def start(arguments, ranks=None, **options):
    """Starts the program without waiting for it."""
    return subprocess.Popen(
        command_of(arguments, ranks),
        env=MPI_SETTINGS | os.environ | options.pop("env", {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        **options,
    )


def end(process):
    """Ends a run: mpirun ends its ranks when it is terminated, but not when it is killed."""
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def run(arguments, ranks=None, patience=PATIENCE, **options):
    """Runs the program to its end; a run that does not end is a failure of the test."""
    # If a rank ends with an error, mpirun waits a second for the others, which is not needed here.
    environment = {"OMPI_MCA_odls_base_sigkill_timeout": "0"} | options.pop("env", {})
    process = start(arguments, ranks, env=environment, **options)
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        end(process)
        words = " ".join(command_of(arguments, ranks))
        raise AssertionError(f"hangs: no end within {patience} s: {words}") from None
    return Outcome(process.returncode, out, err)


class Server:
    """`bathline serve`, which executes commands one after the other without starting the program for each."""

    def __init__(self, ranks=None):
        self._errors, self._said = tempfile.TemporaryFile("w+"), ""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        self._process = subprocess.Popen(command_of(["serve"], ranks), env=MPI_SETTINGS | os.environ, text=True, **pipes)
        self._ranks, self._is_late = ranks, False

    def _give_up(self):
        self._is_late = True
        # mpirun ends its ranks when it is terminated, but not when it is killed.
        self._process.kill() if self._ranks is None else self._process.terminate()

    def ask(self, arguments, patience=PATIENCE, cwd="."):
        """The outcome of a command."""
        watchdog = threading.Timer(patience, self._give_up)
        watchdog.start()
        request = {"folder": os.path.abspath(cwd), "arguments": [*map(str, arguments)]}
        self._process.stdin.write("{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in request.items()) + "}\n")
        self._process.stdin.flush()
        reply = self._process.stdout.readline()
        watchdog.cancel()
        if self._is_late or not reply:
            self._process.communicate()
            what = f"hangs: no end within {patience} s" if self._is_late else f"ended with exit code {self._process.returncode}"
            raise AssertionError(f"{what}: {arguments}\n{self.errors()}")
        reply = json.loads(reply)
        lines = [(line["level"], "{level}: {message}\n".format(**line)) for line in reply["messages"]]
        self._said += "".join(line for level, line in lines if level != "info")
        return Outcome(reply["code"], reply["output"], "".join(line for _, line in lines))

    def errors(self):
        """Standard error of all ranks."""
        self._errors.seek(0)
        return self._errors.read()

    def close(self):
        """Ends the process. Only one rank may have printed, and only what the outcomes say."""
        out, _ = self._process.communicate()
        said = out + self.errors()
        self._errors.close()
        assert said == self._said, f"{said}\ninstead of\n{self._said}"


@lru_cache(None)
def server(ranks=None):
    """The process of `ask` on some ranks, which ends with the tests."""
    one = Server(ranks)
    atexit.register(one.close)
    return one


def ask(arguments, ranks=None, patience=PATIENCE, cwd=".", **options):
    """As `run`, but what needs no options is executed by a process for all commands."""
    if options:
        return run(arguments, ranks, patience, cwd=cwd, **options)
    one = server(ranks)
    try:
        return one.ask(arguments, patience, cwd)
    except AssertionError:  # it has ended
        atexit.unregister(one.close)
        server.cache_clear()
        raise


def resolved(recipe):
    """The contents of a recipe file, with its parents, cases and defaults."""
    outcome = ask(["resolve", recipe])
    assert outcome.code == 0, outcome.text
    return tomllib.loads(outcome.out)


def changed(recipe, **sections):
    """A copy of a recipe with keys of its sections replaced; a list or None replaces the section."""
    result = copy.deepcopy(recipe)
    for name, keys in sections.items():
        if keys is None:
            result.pop(name, None)
        elif isinstance(keys, dict):
            result.setdefault(name, {}).update(keys)
        else:
            result[name] = keys
    return result


def toml(recipe):
    """A recipe as text. Scalars and lists are written in JSON, which TOML reads as well."""

    def lines(table):
        return [f"{key} = {json.dumps(value)}" for key, value in table.items()]

    # Keys after the header of a table would belong to the table.
    text = lines({name: value for name, value in recipe.items() if not isinstance(value, dict | list)})
    for name, section in recipe.items():
        if isinstance(section, dict):
            text += ["", f"[{name}]", *lines(section)]
        elif isinstance(section, list):
            for table in section:
                text += ["", f"[[{name}]]", *lines(table)]
    return "\n".join(text) + "\n"


def write_recipe(path, recipe):
    """Writes a recipe, given as text or as sections, and returns its path."""
    Path(path).write_text(recipe if isinstance(recipe, str) else toml(recipe))
    return Path(path)


def signalled(number, step, rank=0):
    """The environment in which a rank receives a signal at the first check of a run at or after a step."""
    return {"BATHLINE_SIGNAL_AT_STEP": f"{int(number)} {step} {rank}"}


def variables(path, skip=("claims",)):
    """All variables of a result file by their path, without those of the groups in `skip`."""
    data = {}

    def visit(name, node):
        if isinstance(node, h5py.Dataset) and name.split("/")[0] not in skip:
            data[name] = node.asstr()[()].astype(str) if h5py.check_string_dtype(node.dtype) else node[()]

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return data


def step_of(checkpoint):
    """The step in the name of a checkpoint."""
    return int(checkpoint.name.split(".")[-2])


def checkpoints_of(result):
    """The checkpoints of a result, oldest first."""
    checkpoints = Path(result).parent.glob(f"{Path(result).stem}.checkpoint.*.h5")
    return sorted(checkpoints, key=step_of)


class FolderTest(unittest.TestCase):
    """A test with its own folder and the assertions that all tests of runs use."""

    maxDiff = None

    @classmethod
    def new_folder(cls):
        """An empty folder that lives as long as the class."""
        temporary = tempfile.TemporaryDirectory(prefix="bathline-")
        cls.addClassCleanup(temporary.cleanup)
        return Path(temporary.name)

    @classmethod
    def setUpClass(cls):
        cls.folder = cls.new_folder()

    def shim(self, text):
        """The environment in which the functions of a C source override those of the libraries."""
        source, unlinked, library = (self.folder / name for name in ("shim.c", "shim.o", "shim.so"))
        source.write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n" + text)
        subprocess.run(["h5pcc", "-fPIC", "-c", source, "-o", unlinked], check=True)
        subprocess.run(["mpicc", "-shared", "-o", library, unlinked, "-ldl"], check=True)
        return {"LD_PRELOAD": str(library)}

    def assert_code(self, outcome, code):
        """Asserts the exit code; on failure prints the whole output."""
        self.assertEqual(outcome.code, code, outcome.text)

    def run_recipe(self, recipe, *arguments, command="run", ranks=None):
        """Runs `command` with a recipe; the result of `run` is result.h5 in the folder."""
        path = write_recipe(self.folder / "recipe.toml", recipe)
        output = ["-o", self.folder / "result.h5", "--overwrite", "--progress", "none"] if command == "run" else []
        return ask([command, path, *output, *arguments], ranks)

    def assert_mistake(self, recipe, message, ranks=None, alone=False):
        """`check` refuses a recipe with one line, or the only one, that gives the location and matches `message`."""
        outcome = self.run_recipe(recipe, command="check", ranks=ranks)
        self.assert_code(outcome, 2)
        matches = re.findall(rf"recipe\.toml:\d+:\d+: .*(?:{message})", outcome.err)
        self.assertEqual(len(matches), 1, f"{message}\n{outcome.text}")
        if alone:
            self.assertEqual(outcome.err.count("\n"), 1, outcome.err)

    def result(self, recipe, name, ranks=None, *more):
        """Runs a recipe, which must succeed; returns the result file in the folder, and the outcome."""
        path = self.folder / f"{name}.h5"
        recipe = write_recipe(self.folder / f"{name}.toml", recipe)
        outcome = ask(["run", recipe, "-o", path, "--overwrite", *more], ranks)
        self.assert_code(outcome, 0)
        return path, outcome

    def results(self, recipes, name, ranks=None):
        """The result files of recipes, which one process runs one after the other."""
        paths = [write_recipe(self.folder / f"{name}-{index}.toml", recipe) for index, recipe in enumerate(recipes)]
        results = [path.with_suffix(".h5") for path in paths]
        runs = [["run", path, "-o", result, "--progress", "none"] for path, result in zip(paths, results)]
        for arguments in runs:
            self.assert_code(ask(arguments, ranks), 0)
        return results

    def must(self, arguments, code=0, **options):
        outcome = ask([*arguments, "--progress", "none"], **options)
        self.assert_code(outcome, code)
        return outcome

    def copy_of(self, result, checkpoint):
        """A result and one of its checkpoints in a folder of their own."""
        folder = self.new_folder()
        return shutil.copy(result, folder), Path(shutil.copy(checkpoint, folder))

    def assert_resumes(self, result, checkpoint, ranks=None):
        """A resumed copy has the bits of the result; returns the outcome."""
        copied, copy = self.copy_of(result, checkpoint)
        outcome = self.must(["resume", copy], ranks=ranks)
        self.assert_same_bits(copied, result)
        return outcome

    def assert_all_resume(self, checkpoints, ranks=None):
        """Copies of results resumed from their checkpoints, by one process, have the bits of the results."""
        copies = [self.copy_of(result, checkpoint) for result, checkpoint in checkpoints]
        outcomes = [ask(["resume", copy, "--progress", "none"], ranks) for _, copy in copies]
        for (result, checkpoint), (copied, _), outcome in zip(checkpoints, copies, outcomes):
            with self.subTest(checkpoint.name, ranks=ranks):
                self.assert_code(outcome, 0)
                self.assert_same_bits(copied, result)

    def assert_said_once(self, outcome, message):
        """A message that only one rank may print."""
        self.assertEqual(outcome.text.count(message), 1, f"not once: {message}\n{outcome.text}")

    def assert_same_bits(self, one, other):
        """Two result files hold the same variables with the same bits."""
        first, second = variables(one), variables(other)
        self.assertEqual(sorted(first), sorted(second))
        self.assertTrue(first)
        for name, values in first.items():
            self.assertEqual(values.shape, second[name].shape, name)
            self.assertEqual(values.tobytes(), second[name].tobytes(), f"{name} differs: {one} {other}")


def kill(process):
    """Sends the signals of a batch system at the end of the time limit."""
    process.send_signal(signal.SIGKILL)
    return process.communicate(timeout=30)
