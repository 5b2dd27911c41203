"""The program at work: recipes in, opened results out, and its errors as exceptions with its own words."""

import codecs
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from bathline.run_result import open
from bathline.exceptions import FAILURES, STOPPED, BathlineError, NumericalFailure, Stopped, UsageError
from bathline.sweeps import Sweep
from bathline.toml_values import as_toml, on_one_line

_CLAIM_FAILED = 1
_GRACE = 2.0  # seconds until a run that was interrupted is asked to stop once more

# What lets mpirun start anywhere, as cluster/environment.sh has it; what the user has set wins.
_LAUNCHING = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
} | ({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {})


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

    recipe     path of a TOML file, name of a recipe that comes along, TOML text, or a dict, with arrays where it has lists
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
    except UsageError as error:
        raise _in_python(error, "in Python overwrite=True") from None
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
    try:
        _start(["run", argument, *options], ranks, (), progress)
    except UsageError as error:
        raise _in_python(error, "in Python remove that file first") from None
    listed = _start(["sweep", argument, *options], None, (), False)
    return Sweep([open(target / name, keep=scratch) for name in re.findall(r"sweep\.[0-9a-f]{12}\.h5", listed)])


def _in_python(error, instead):
    """The same error, with what stands for --overwrite here where the program speaks of it."""
    return UsageError(f"{error} ({instead})", error.code) if "--overwrite" in str(error) else error


def _recipe_argument(recipe, folder):
    """What the command line takes for a recipe; text and dicts become a file in `folder`."""
    if isinstance(recipe, Mapping):
        recipe = tomli_w.dumps(as_toml(recipe))
    elif isinstance(recipe, os.PathLike) or "\n" not in recipe:
        return os.fspath(recipe)
    path = Path(folder) / "recipe.toml"
    path.write_text(recipe)
    return str(path)


def _settings(settings):
    arguments = []
    for key, value in (settings or {}).items():
        arguments += ["--unset", key] if value is None else ["--set", f"{key}={on_one_line(as_toml(value, key))}"]
    return arguments


def _in_a_notebook():
    return type(sys.stderr).__module__.startswith("ipykernel")


def _start(arguments, ranks, petsc, progress):
    """Runs the program to its end and returns what it printed; raises what its exit code and its log say."""
    if ranks is not None and ranks < 1:
        raise UsageError(f"ranks = {ranks}: a run needs one at least", 2)
    if progress is None:
        progress = sys.stderr.isatty() or _in_a_notebook()
    launch = ["mpirun", "-n", str(ranks)] if ranks is not None else []
    with tempfile.TemporaryDirectory(prefix="bathline-") as folder:
        log, printed = Path(folder) / "log.json", Path(folder) / "printed"
        if arguments[0] == "run":
            arguments = [*arguments, "--log-json", str(log), "--progress", "bar" if progress else "none"]
        if petsc:
            arguments = [*arguments, "--", *petsc]
        # What it prints goes to a file, as a pipe that nobody reads meanwhile would hold it up.
        with printed.open("wb") as output:
            process = subprocess.Popen(
                [*launch, program(), *arguments],
                env=(_LAUNCHING if launch else {}) | os.environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
            )
            complaints, interrupted = _follow(process, progress)
        said = printed.read_text(errors="replace") + complaints
        messages = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    # Of a run that was stopped mpirun has another exit code than the program, and 1 where it could not start it.
    last = re.fullmatch(r"bathline ended with exit code (\d+)", messages[-1]["message"]) if messages else None
    code = int(last[1]) if last else process.returncode
    if code == 0 or (code == _CLAIM_FAILED and last):
        return said
    if interrupted and code != STOPPED:
        raise KeyboardInterrupt
    levels = ("warning",) if code == STOPPED else ("error", "critical")
    words = [message["message"] for message in messages if message["level"] in levels]
    text = "\n".join(words[-1:] if code == STOPPED else words) or said.strip() or f"ended with exit code {code}"
    raise FAILURES.get(code, BathlineError)(text, code)


def _follow(process, shown):
    """Waits for the program: what it has said on standard error, shown on the way or not, and whether Ctrl-C was pressed."""
    said, interrupted = "", False
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            while piece := process.stderr.read1():
                text = decoder.decode(piece)
                said += text
                if shown:
                    # The bar goes back to the begin of its line, which terminals and notebooks both understand.
                    sys.stderr.write(text)
                    sys.stderr.flush()
            process.wait()
            process.stderr.close()
            return said, interrupted
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            # From a terminal or a notebook the program has had the signal too, and saves itself; a second one would end it.
            again = threading.Timer(_GRACE, process.send_signal, [signal.SIGUSR1])
            again.daemon = True
            again.start()
