"""The program at work: recipes in, opened results out, and its errors as exceptions with its own words."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import tomli_w

from bathline.datasets import open
from bathline.sweeps import Sweep

_CLAIM_FAILED = 1


class Failed(Exception):
    """The program has ended with another exit code than those for a complete run; the text is what it said."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class UsageError(Failed):
    """A recipe, an option or a file that the program refuses (exit code 2): nothing was written."""


class NumericalFailure(Failed):
    """A run that could not go on (exit code 3); what was computed until then is in `file`."""

    file = None


class Stopped(Failed):
    """A run that was stopped on request (exit code 85) with a checkpoint beside `file`."""

    file = None


_FAILURES = {2: UsageError, 3: NumericalFailure, 85: Stopped}


class _Scratch:
    """A folder that lasts as long as somebody holds this object."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="bathline-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def program():
    """The program's path: $BATHLINE, or `bathline` on PATH, or the one that this checkout has built."""
    named = os.environ.get("BATHLINE") or shutil.which("bathline")
    built = Path(__file__).resolve().parents[2] / "build" / "bathline"
    if named is None and built.is_file():
        named = str(built)
    if named is None:
        raise UsageError("the program bathline is neither on PATH nor named by $BATHLINE", 2)
    return named


def run(recipe, ranks=None, set=None, output=None, overwrite=False, petsc=(), progress=None):
    """Runs a recipe and opens its result.

    recipe     path of a TOML file, name of a recipe that comes along, TOML text, or a dict
    ranks      processes under mpirun; without it one, and no mpirun
    set        keys of the recipe to replace, such as {"time.step": 0.005}
    output     result file; without it one that lasts as long as what is returned
    overwrite  whether an existing `output` is replaced
    petsc      PETSc's options, such as ["-ksp_rtol", "1e-12"]
    progress   whether the progress is shown; without it where standard error is a terminal or a notebook

    A claim that fails is no error: see `.claims` of what is returned. Raises UsageError, NumericalFailure or Stopped.
    """
    scratch = _Scratch()
    path = Path(output) if output is not None else scratch.path / "result.h5"
    arguments = ["run", _recipe_argument(recipe, scratch.path), "-o", str(path)]
    if overwrite:
        arguments.append("--overwrite")
    try:
        _start([*arguments, *_settings(set)], ranks, petsc, progress)
    except (NumericalFailure, Stopped) as failure:
        failure.file = path
        failure.scratch = scratch  # A file without a name of the user's lasts as long as the exception.
        raise
    return open(path, keep=scratch)


def check(recipe, set=None):
    """Validates a recipe without running it; raises UsageError. Arguments are those of `run`."""
    scratch = _Scratch()
    _start(["check", _recipe_argument(recipe, scratch.path), *_settings(set)], None, (), False)


def sweep(recipe, over=None, ranks=None, set=None, folder=None, progress=None):
    """Runs every element of a sweep and gathers the results.

    over    what to sweep, such as {"time.step": [0.1, 0.05]}; without it the recipe's own table `sweep`
    folder  where the results go, those that are there already are not computed again; without it one that lasts as
            long as what is returned

    The other arguments are those of `run`.
    """
    scratch = _Scratch()
    target = Path(folder) if folder is not None else scratch.path
    target.mkdir(parents=True, exist_ok=True)
    argument = _recipe_argument(recipe, scratch.path)
    options = ["-o", str(target / "sweep.h5"), *_settings(set)]
    if over is not None:
        options += _settings({"sweep": over})
    _start(["run", argument, *options], ranks, (), progress)
    listed = _start(["sweep", argument, *options], None, (), False)
    return Sweep([open(target / name, keep=scratch) for name in re.findall(r"sweep\.[0-9a-f]{12}\.h5", listed)])


def _recipe_argument(recipe, folder):
    """What the command line takes for a recipe; text and dicts become a file in `folder`."""
    if isinstance(recipe, dict):
        recipe = tomli_w.dumps(recipe)
    elif isinstance(recipe, os.PathLike) or "\n" not in recipe:
        return os.fspath(recipe)
    path = Path(folder) / "recipe.toml"
    path.write_text(recipe)
    return str(path)


def _toml_value(value):
    """A value as --set takes it: TOML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, str | bool | int | float):
        return tomli_w.dumps({"value": value}).removeprefix("value = ").strip()
    return "[" + ", ".join(_toml_value(item) for item in np.asarray(value, dtype=object).tolist()) + "]"


def _settings(settings):
    arguments = []
    for key, value in (settings or {}).items():
        arguments += ["--unset", key] if value is None else ["--set", f"{key}={_toml_value(value)}"]
    return arguments


def _in_a_notebook():
    return type(sys.stderr).__module__.startswith("ipykernel")


def _start(arguments, ranks, petsc, progress):
    """Runs the program to its end and returns what it printed; raises what its exit code and its log say."""
    if progress is None:
        progress = sys.stderr.isatty() or _in_a_notebook()
    launch = ["mpirun", "-n", str(ranks)] if ranks is not None else []
    is_run = arguments[0] == "run"
    with tempfile.TemporaryDirectory(prefix="bathline-") as folder:
        log = Path(folder) / "log.json"
        if is_run:
            arguments = [*arguments, "--log-json", str(log), "--progress", "bar" if progress else "none"]
        if petsc:
            arguments = [*arguments, "--", *petsc]
        process = subprocess.Popen(
            [*launch, program(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if not is_run else subprocess.PIPE,
            text=True,
            errors="replace",
        )
        said = _follow(process, progress)
        messages = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    if process.returncode in (0, _CLAIM_FAILED):
        return said
    errors = [message["message"] for message in messages if message["level"] in ("error", "critical")]
    text = "\n".join(errors) or said.strip() or f"ended with exit code {process.returncode}"
    raise _FAILURES.get(process.returncode, Failed)(text, process.returncode)


def _follow(process, progress):
    """Waits for the program, shows its progress on the way, and stops it with a checkpoint on KeyboardInterrupt."""
    said = []
    try:
        if progress and process.stderr is not None:
            # The bar ends with a carriage return, which terminals and notebooks both understand.
            while piece := process.stderr.read(1):
                sys.stderr.write(piece)
                said.append(piece)
        printed, complaints = process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGTERM)
        printed, complaints = process.communicate()
    return (printed or "") + "".join(said) + (complaints or "")
