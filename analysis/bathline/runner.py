"""Running the program from Python: results are returned open, and its error messages are raised as exceptions."""

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
from bathline.toml_values import as_toml, inline_toml

_CLAIM_FAILED = 1
_GRACE_S = 2.0  # seconds after which an interrupted run gets a second signal to stop

# Names of the files in which the program reads recipes that are dicts or texts.
_DICT_FILE, _TEXT_FILE = "recipe_of_dict.toml", "recipe_of_text.toml"

# Settings with which mpirun starts on any machine, as in cluster/environment.sh; variables of the user take precedence.
_MPI_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
} | ({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {})


class _TemporaryFolder:
    """A temporary folder that is removed with this object."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="bathline-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def program():
    """Find the program: $BATHLINE, `bathline` on PATH, or build/bathline of this source tree, in this order.

    Returns
    -------
    str
        Path of the program.

    Raises
    ------
    UsageError
        If there is none.
    """
    path = os.environ.get("BATHLINE") or shutil.which("bathline")
    built = Path(__file__).resolve().parents[2] / "build" / "bathline"
    if path is None and built.is_file():
        path = str(built)
    if path is None:
        raise UsageError("the program bathline is neither on PATH nor named by $BATHLINE", 2)
    return path


def run(recipe, ranks=None, set=None, output=None, overwrite=False, petsc=(), progress=None):
    """Run a recipe and open its result.

    Parameters
    ----------
    recipe : path-like, str or dict
        Path of a TOML file, name of a recipe shipped with the program, TOML text, or a dict, which may contain numpy
        arrays and scalars.
    ranks : int, optional
        Number of processes under mpirun; by default one process without mpirun.
    set : dict, optional
        Keys of the recipe to replace, such as {"time.step": 0.005}; None removes a key.
    output : path-like, optional
        Result file; by default a temporary one that is removed with the returned object.
    overwrite : bool
        Whether an existing `output` is replaced.
    petsc : sequence of str
        Options of PETSc, such as ["-ksp_rtol", "1e-12"].
    progress : bool, optional
        Whether progress is shown; by default if standard error is a terminal or a notebook.

    Returns
    -------
    RunResult
        The open result. Failed claims are no error; see `RunResult.claims`.

    Raises
    ------
    UsageError
        If the program refuses the recipe, an option or the file.
    NumericalFailure
        If the run fails numerically.
    Stopped
        If the run is stopped by Ctrl-C or a signal; a checkpoint is written first.
    """
    temporary = _TemporaryFolder()
    path = Path(output) if output is not None else temporary.path / "result.h5"
    arguments = ["run", _recipe_argument(recipe, temporary.path), "-o", str(path)]
    if overwrite:
        arguments.append("--overwrite")
    try:
        _run_program([*arguments, *_set_options(set)], ranks, petsc, progress)
    except UsageError as error:
        raise _with_python_hint(error, "in Python overwrite=True") from None
    except (NumericalFailure, Stopped) as failure:
        failure.file = path
        failure.keep = temporary  # A temporary result exists as long as the exception.
        raise
    return open(path, keep=temporary)


def check(recipe, set=None):
    """Validate a recipe without running it.

    Parameters
    ----------
    recipe, set
        As for `run`.

    Raises
    ------
    UsageError
        If the program refuses the recipe.
    """
    temporary = _TemporaryFolder()
    _run_program(["check", _recipe_argument(recipe, temporary.path), *_set_options(set)], None, (), False)


def sweep(recipe, over=None, ranks=None, set=None, folder=None, progress=None):
    """Run all elements of a sweep and open the results.

    Parameters
    ----------
    recipe, ranks, set, progress
        As for `run`.
    over : dict, optional
        Swept keys with their values, such as {"time.step": [0.1, 0.05]}; by default the recipe's table `sweep`.
    folder : path-like, optional
        Folder of the results; elements whose results it already contains are not run again. By default a temporary
        folder that is removed with the returned object.

    Returns
    -------
    Sweep

    Raises
    ------
    UsageError, NumericalFailure, Stopped
        As for `run`.
    """
    temporary = _TemporaryFolder()
    target = Path(folder) if folder is not None else temporary.path
    target.mkdir(parents=True, exist_ok=True)
    argument = _recipe_argument(recipe, temporary.path)
    options = ["-o", str(target / "sweep.h5"), *_set_options(set)]
    if over is not None:
        options += _set_options({"sweep": over})
    try:
        _run_program(["run", argument, *options], ranks, (), progress)
    except UsageError as error:
        raise _with_python_hint(error, "in Python remove that file first") from None
    listed = _run_program(["sweep", argument, *options], None, (), False)
    return Sweep([open(target / name, keep=temporary) for name in re.findall(r"sweep\.[0-9a-f]{12}\.h5", listed)])


def _with_python_hint(error, hint):
    """The same error; where it mentions --overwrite, with a hint that applies to Python."""
    return UsageError(f"{error} ({hint})", error.code) if "--overwrite" in str(error) else error


def _recipe_argument(recipe, folder):
    """The recipe as an argument of the command line; texts and dicts are written to a file in `folder`."""
    if isinstance(recipe, Mapping):
        name, recipe = _DICT_FILE, tomli_w.dumps(as_toml(recipe))
    elif isinstance(recipe, os.PathLike) or "\n" not in recipe:
        return os.fspath(recipe)
    else:
        name = _TEXT_FILE
    path = Path(folder) / name
    path.write_text(recipe)
    return str(path)


def _name_keys(message, argument):
    """A message of the program about a recipe that was written to a file; for dicts it names keys, not lines."""
    path = Path(argument)
    if path.name == _DICT_FILE and path.is_file():
        lines = path.read_text().splitlines()
        message = re.sub(re.escape(argument) + r":(\d+):\d+", lambda match: _key_at(lines, int(match[1])), message)
    return message.replace(argument, "recipe") if path.name in (_DICT_FILE, _TEXT_FILE) else message


def _key_at(lines, line):
    """The dotted key that is set in a line, counted from 1, of TOML that tomli_w wrote; lists are indexed as in `set`."""
    tables, counts, key, element = [], {}, "", None
    for text in lines[:line]:
        if header := re.fullmatch(r"(\[\[?)(.+?)\]\]?", text):
            tables, key, element = header[2].split("."), "", None
            if header[1] == "[[":
                counts[header[2]] = counts.get(header[2], -1) + 1
        elif assignment := re.match(r"(\S+) = ", text):
            key, element = assignment[1], None
        elif re.match(r"    [^\s\]}]", text):
            element = 0 if element is None else element + 1
    parts = []
    for depth, table in enumerate(tables, 1):
        parts += [table, counts.get(".".join(tables[:depth]))]
    return ".".join(str(part) for part in [*parts, key, element] if part not in ("", None)) or "recipe"


def _set_options(settings):
    arguments = []
    for key, value in (settings or {}).items():
        arguments += ["--unset", key] if value is None else ["--set", f"{key}={inline_toml(as_toml(value, key))}"]
    return arguments


def _in_a_notebook():
    return type(sys.stderr).__module__.startswith("ipykernel")


def _run_program(arguments, ranks, petsc, progress):
    """Run the program to its end and return its output; raise the exception of its exit code with its log messages."""
    if ranks is not None and ranks < 1:
        raise UsageError(f"ranks = {ranks}: a run needs at least one", 2)
    if progress is None:
        progress = sys.stderr.isatty() or _in_a_notebook()
    launch = ["mpirun", "-n", str(ranks)] if ranks is not None else []
    is_run = arguments[0] == "run"
    with tempfile.TemporaryDirectory(prefix="bathline-") as folder:
        log, printed = Path(folder) / "log.json", Path(folder) / "printed"
        if is_run:
            arguments = [*arguments, "--log-json", str(log), "--progress", "bar" if progress else "none"]
            # A pipe as standard input, whose other end only this process holds: the run stops with a checkpoint when
            # the process ends, however that happens. mpirun passes the end of its input on.
            arguments.append("--stop-at-end-of-input")
        if petsc:
            arguments = [*arguments, "--", *petsc]
        # Standard output goes to a file, because an unread pipe would block the program.
        with printed.open("wb") as output:
            process = subprocess.Popen(
                [*launch, program(), *arguments],
                env=(_MPI_ENVIRONMENT if launch else {}) | os.environ,
                stdin=subprocess.PIPE if is_run else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
            )
            errors, interrupted = _wait_for(process, progress)
        output_text = printed.read_text(errors="replace") + errors
        messages = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    # mpirun changes the exit code of a stopped program, and returns 1 if it could not start it.
    last = re.fullmatch(r"bathline ended with exit code (\d+)", messages[-1]["message"]) if messages else None
    code = int(last[1]) if last else process.returncode
    if code == 0 or (code == _CLAIM_FAILED and last):
        return output_text
    if interrupted and code != STOPPED:
        raise KeyboardInterrupt
    levels = ("warning",) if code == STOPPED else ("error", "critical")
    texts = [message["message"] for message in messages if message["level"] in levels]
    text = "\n".join(texts[-1:] if code == STOPPED else texts) or output_text.strip().removeprefix("error: ") or f"ended with exit code {code}"
    raise FAILURES.get(code, BathlineError)(_name_keys(text, arguments[1]), code)


def _wait_for(process, show):
    """Wait for the program; return its standard error, which `show` copies to ours, and whether Ctrl-C was pressed."""
    errors, interrupted = "", False
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            while piece := process.stderr.read1():
                text = decoder.decode(piece)
                errors += text
                if show:
                    # The progress bar uses carriage returns, which terminals and notebooks both support.
                    sys.stderr.write(text)
                    sys.stderr.flush()
            process.wait()
            process.stderr.close()
            if process.stdin is not None:
                process.stdin.close()
            return errors, interrupted
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            # In a terminal or a notebook the program receives SIGINT as well and writes a checkpoint; a second SIGINT
            # would kill it. SIGUSR1 covers programs that did not receive it.
            timer = threading.Timer(_GRACE_S, process.send_signal, [signal.SIGUSR1])
            timer.daemon = True
            timer.start()
