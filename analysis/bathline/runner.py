"""Running the program from Python: results are returned open, and its error messages are raised as exceptions."""

import json
import os
import re
import shutil
import sys
import tempfile
import threading
import tomllib
import warnings
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tomli_w

from bathline.exceptions import FAILURES, STOPPED, BathlineError, NumericalFailure, Stopped, UsageError
from bathline.result_file import RunResult
from bathline.server import Ended, pool
from bathline.sweeps import Sweep
from bathline.toml_values import as_toml, inline_toml

_CLAIM_FAILED = 1
_MAX_PORTION = 100  # points of a sweep in one request
_PORTIONS_OF_PROCESS = 8  # at least, where there are as many points, so that all processes end at about the same time
_ROOM_IN_MEMORY = 2**30  # bytes

Recipe = str | os.PathLike | Mapping


class _TemporaryFolder:
    """A temporary folder that is removed with this object; with `in_memory`, if there is room, of a file system in memory."""

    def __init__(self, in_memory=False):
        memory = Path("/dev/shm")
        has_room = in_memory and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM_IN_MEMORY
        self.path = Path(tempfile.mkdtemp(prefix="bathline-", dir=memory if has_room else None))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def open(path: str | os.PathLike) -> RunResult:
    """Open a result file, complete or still being written.

    Parameters
    ----------
    path : path-like
        The result file.

    Returns
    -------
    RunResult

    Raises
    ------
    AnalysisError
        If the file cannot be read.
    """
    return RunResult(path)


def run(
    recipe: Recipe,
    ranks: int | None = None,
    overrides: Mapping | None = None,
    output: str | os.PathLike | None = None,
    overwrite: bool = False,
    petsc: Sequence[str] = (),
    progress: bool | None = None,
    *,
    set: Mapping | None = None,
) -> RunResult:
    """Run a recipe and open its result.

    Parameters
    ----------
    recipe : path-like, str or dict
        Path of a TOML file, name of a recipe shipped with the program, TOML text, or a dict, which may contain numpy
        arrays and scalars. Files that a text or dict names are relative to the working directory.
    ranks : int, optional
        Number of processes under mpirun; by default one process without mpirun.
    overrides : dict, optional
        Keys of the recipe to replace, such as {"time.step": 0.005}; None removes a key.
    output : path-like, optional
        Result file; by default a temporary one that is removed with the returned object.
    overwrite : bool
        Whether an existing `output` is replaced.
    petsc : sequence of str
        Options of PETSc, such as ["-ksp_rtol", "1e-12"].
    progress : bool, optional
        Whether progress is shown; by default if standard error is a terminal or a notebook.
    set : dict, optional
        The former name of `overrides`.

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
    temporary = _TemporaryFolder() if output is None else None
    path = Path(output) if output is not None else temporary.path / "result.h5"
    show = _shows(progress)
    name, _ = _recipe_and_text(recipe)
    arguments = ["run", name, "-o", str(path), "--progress", "bar" if show else "none"]
    arguments += [*(["--overwrite"] if overwrite else []), *_options(_overrides(overrides, set))]
    try:
        _execute([[*arguments, *(["--", *petsc] if petsc else [])]], recipe, ranks, show)
    except UsageError as error:
        raise _with_python_hint(error, "in Python overwrite=True") from None
    except (NumericalFailure, Stopped) as failure:
        failure.file = path
        failure.keep = temporary  # A temporary result exists as long as the exception.
        raise
    return RunResult(path, keep=temporary)


def check(recipe: Recipe, overrides: Mapping | None = None, *, set: Mapping | None = None) -> None:
    """Validate a recipe without running it.

    Parameters
    ----------
    recipe, overrides, set
        As for `run`.

    Raises
    ------
    UsageError
        If the program refuses the recipe.
    """
    name, _ = _recipe_and_text(recipe)
    _execute([["check", name, *_options(_overrides(overrides, set))]], recipe)


def sweep(
    recipe: Recipe,
    over: Mapping | None = None,
    ranks: int | None = None,
    overrides: Mapping | None = None,
    folder: str | os.PathLike | None = None,
    progress: bool | None = None,
    *,
    zip: Sequence[Sequence[str]] = (),
    points: Sequence[Mapping] | None = None,
    processes: int | None = None,
    set: Mapping | None = None,
) -> Sweep:
    """Run all points of a sweep and return their results.

    All points have the recipe's `seed`, and therefore the same random numbers, unless `seed` is swept.

    Parameters
    ----------
    recipe, ranks, overrides, progress, set
        As for `run`.
    over : dict, optional
        Swept keys with their values, such as {"time.step": [0.1, 0.05]}: every combination is a point. By default the
        recipe's table `sweep`.
    folder : path-like, optional
        Folder of the results, which have the names that `bathline run` gives them in it; points whose results it
        already contains are not run again. By default a temporary folder, in memory if there is room, that is removed with
        the returned object.
    zip : sequence of sequences of str
        Keys of `over` that change together, such as [["system.particles", "environments.1.attach"]].
    points : sequence of dict, optional
        The points one by one instead of `over`, each with the same keys. Equal points are run once.
    processes : int, optional
        Number of points that run at the same time; by default the number of processors, and one with `ranks`.

    Returns
    -------
    Sweep
        In the order of `points`, or of the recipe's sweep.

    Raises
    ------
    UsageError, NumericalFailure, Stopped
        As for `run`. The points that are complete remain in `folder`.
    """
    settings, order = dict(_overrides(overrides, set)), None
    if points is not None:
        if over is not None:
            raise UsageError("a sweep is given either by `over` or by `points`", 2)
        over, zip, order = _swept_by_points(points)
        if not order:
            return Sweep([])
    if over is not None:
        settings["sweep"] = {**over, **({"zip": [list(keys) for keys in zip]} if zip else {})}
    temporary = _TemporaryFolder(in_memory=True) if folder is None else None
    target = Path(folder) if folder is not None else temporary.path
    target.mkdir(parents=True, exist_ok=True)
    name, text = _recipe_and_text(recipe)
    stem = Path(name).stem if text is None else "sweep"
    words = [name, "-o", str(target / f"{stem}.h5"), *_options(settings)]
    try:
        elements = json.loads(_execute([["sweep", *words, "--json"]], recipe)[0]["output"])
    except UsageError:
        _execute([["check", name, *_options(settings)]], recipe)  # its mistakes may be why there is no sweep
        raise
    todo = [element["index"] for element in elements if element["state"] != "finished"]
    portions = _portions(todo, processes)
    commands = [["run", *words, "--progress", "none", "--elements", f"{first}..{last}"] for first, last in portions]
    if ranks is not None and todo:
        commands = [["run", *words, "--progress", "bar" if _shows(progress) else "none"]]
    try:
        _execute(commands, recipe, ranks, _shows(progress), processes, [last - first + 1 for first, last in portions])
    except UsageError as error:
        raise _with_python_hint(error, "in Python remove that file first") from None
    except (NumericalFailure, Stopped) as failure:
        failure.keep = temporary  # Temporary results exist as long as the exception.
        raise
    paths = [Path(element["file"]) for element in elements]
    return Sweep(paths if order is None else [paths[index] for index in order], keep=temporary)


class ImportedBath(NamedTuple):
    """The environments of a bath that another program describes.

    Attributes
    ----------
    environments : list of dict
        Environments for the dict of a recipe.
    notes : list of str
        What was assumed to write them, as sentences.
    """

    environments: list[dict]
    notes: list[str]


def import_bath(
    format: str,
    file: str | os.PathLike | None = None,
    output: str | os.PathLike | None = None,
    overwrite: bool = False,
    **options: object,
) -> ImportedBath:
    """The environments of a bath that another program describes.

    Parameters
    ----------
    format : str
        As `--from` of `bathline import`, such as "gle4md" or "qutip".
    file : path-like, optional
        The other program's file, if the bath is not typed by its numbers.
    output : path-like, optional
        TOML file that is written; a bath with a table needs one, and has its table beside it.
    overwrite : bool
        Whether existing files are replaced.
    **options
        The other options of `bathline import`, such as time_unit="ps", mass=2.0, kT=0.5 or drude=[0.3, 1.0].

    Returns
    -------
    ImportedBath
        `environments` is the list of a recipe's dict, with the paths of tables from the working directory.

    Raises
    ------
    UsageError
        If there is no such bath, with the file and line.
    """
    words = ["import", *([os.fspath(file)] if file is not None else []), "--from", format]
    for name, value in options.items():
        values = value if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else [value]
        words += [f"--{name.replace('_', '-')}", *(str(one) for one in values)]
    words += ["-o", os.fspath(output)] if output is not None else []
    reply = _execute([[*words, *(["--overwrite"] if overwrite else [])]], "recipe")[0]
    text = Path(output).read_text() if output is not None else reply["output"]
    environments = tomllib.loads(text)["environments"]
    for environment in environments:
        for key in {"kernel_file", "spectral_density_file"} & environment.keys():
            environment[key] = str(Path(output).parent / environment[key])
    return ImportedBath(environments, [line[2:] for line in text.splitlines() if line.startswith("# ")])


def _portions(indices, processes):
    """The first and last of successive indices, which one process runs one after the other.

    A request takes a few milliseconds besides its points, and more the more points the sweep has.
    """
    size = max(1, min(_MAX_PORTION, len(indices) // (_PORTIONS_OF_PROCESS * (processes or _processors()))))
    portions = []
    for index in indices:
        if portions and portions[-1][1] == index - 1 and index - portions[-1][0] < size:
            portions[-1][1] = index
        else:
            portions.append([index, index])
    return portions


def _swept_by_points(points):
    """The lists of swept keys and of zipped keys for different points, and for every point the index of its run."""
    points = [as_toml(dict(point), "points") for point in points]
    keys = list(points[0]) if points else []
    index_of = {}
    for position, point in enumerate(points):
        if point.keys() != points[0].keys() or not point:
            raise UsageError(f"points.{position}: has the keys {', '.join(point) or 'none'}, but needs {', '.join(keys)}", 2)
        index_of.setdefault(inline_toml([point[key] for key in keys]), (len(index_of), point))
    order = [index_of[inline_toml([point[key] for key in keys])][0] for point in points]
    over = {key: [point[key] for _, point in index_of.values()] for key in keys}
    return over, [keys] if len(keys) > 1 else [], order


def _overrides(overrides, former):
    if former is not None:
        warnings.warn("`set` is now called `overrides`", DeprecationWarning, stacklevel=3)
    return {**(former or {}), **(overrides or {})}


def _with_python_hint(error, hint):
    """The same error; where it mentions --overwrite, with a hint that applies to Python."""
    return UsageError(f"{error} ({hint})", error.code) if "--overwrite" in str(error) else error


def _recipe_and_text(recipe):
    """The recipe as an argument of the command line, and the text of one that is not a path or name."""
    if isinstance(recipe, Mapping):
        return "recipe", tomli_w.dumps(as_toml(recipe))
    if isinstance(recipe, os.PathLike) or "\n" not in recipe:
        return os.fspath(recipe), None
    return "recipe", recipe


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


def _options(settings):
    arguments = []
    for key, value in settings.items():
        arguments += ["--unset", key] if value is None else ["--set", f"{key}={inline_toml(as_toml(value, key))}"]
    return arguments


def _processors():
    return len(os.sched_getaffinity(0))


def _shows(progress):
    in_a_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    return sys.stderr.isatty() or in_a_notebook if progress is None else progress


def _execute(commands, recipe, ranks=None, show=False, processes=None, runs=(1,)):
    """Execute commands, several at a time, and return their replies; raise the exception of the worst exit code.

    `runs` are the numbers of runs of the commands, for the progress.
    Ctrl-C asks the runs in progress to stop with a checkpoint; a second one ends them at once.
    """
    _, text = _recipe_and_text(recipe)
    is_dict = isinstance(recipe, Mapping)
    if ranks is not None and ranks < 1:
        raise UsageError(f"ranks = {ranks}: a run needs at least one", 2)
    if processes is not None and processes < 1:
        raise UsageError(f"processes = {processes}: a sweep needs at least one", 2)
    count = 1 if ranks is not None else processes or _processors()
    active, stopping, lock, done, total = [], threading.Event(), threading.Lock(), [], sum(runs)

    def work(command, runs_of_command):
        with lock:
            if stopping.is_set():
                return None
            server = pool.take(ranks)
            active.append(server)
        try:
            return server.execute(command, text, show)
        except Ended as ended:
            return {"code": ended.code, "messages": [{"level": "error", "message": str(ended)}], "output": ""}
        finally:
            with lock:
                active.remove(server)
                done.append(runs_of_command)
                if show and ranks is None and total > 1:
                    sys.stderr.write(f"\r{sum(done)} of {total} runs" + "\n" * (sum(done) == total))
            # A request to stop that came too late would stop the next run of the process.
            server.close() if stopping.is_set() else pool.give_back(server, ranks)

    with ThreadPoolExecutor(max(1, min(count, len(commands)))) as executor:
        futures = [executor.submit(work, *both) for both in zip(commands, runs)]
        while True:
            try:
                replies = [future.result() for future in futures]
                break
            except KeyboardInterrupt:
                if stopping.is_set():
                    for server in [*active]:
                        server.kill()
                    raise
                with lock:
                    stopping.set()
                    for server in active:
                        server.stop()
    codes = [STOPPED if reply is None else reply["code"] for reply in replies]
    worst = max(codes, key=lambda code: (code not in (0, _CLAIM_FAILED), code != STOPPED, abs(code)), default=0)
    if stopping.is_set():
        # A run that had not begun to write, or was ended by the signal, leaves no checkpoint.
        if STOPPED not in [reply["code"] for reply in replies if reply]:
            raise KeyboardInterrupt
        worst = STOPPED
    failed = next((reply for reply in replies if reply and reply["code"] == worst), None)
    is_launcher = failed is not None and worst == _CLAIM_FAILED and not failed["output"]
    if worst == 0 or (worst == _CLAIM_FAILED and not is_launcher):
        return replies
    message = _message_of(failed)
    if is_dict:
        # The text of a dict has no lines that its author knows.
        lines = text.splitlines()
        message = re.sub(r"\brecipe:(\d+):\d+", lambda match: _key_at(lines, int(match[1])), message)
    raise FAILURES.get(worst, BathlineError)(message, worst)


def _message_of(reply):
    stopped = reply["code"] == STOPPED
    levels = ("warning",) if stopped else ("error", "critical")
    texts = [message["message"] for message in reply["messages"] if message["level"] in levels]
    text = "\n".join(texts[-1:] if stopped else texts)
    return text or reply["output"].strip().removeprefix("error: ") or f"ended with exit code {reply['code']}"
