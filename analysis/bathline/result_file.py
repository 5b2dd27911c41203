"""Result files: what a run has written, by the names that recipes use.

A quantity is named by a path, "<group>.<variable>[i][j]": "closed.energy_total", "open.q[0][1]" (particle
0, axis 1), "reduction.closed.difference[0]". The indices choose along the dimensions after the first; a
dimension of length one needs none. With a statistic behind it is a number, of all components that the indices leave:
"closed.q[0].max"; so it is with an index for every dimension of what is no series over time: "covariance.open.qv[3][0]".
"""

import os
import re
import tomllib
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path

# Results are only read here, and many cluster file systems have no locks.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

import h5py  # noqa: E402
import numpy as np  # noqa: E402

from bathline.external_links import refuse_external_links  # noqa: E402
from bathline.statistic import STATISTICS  # noqa: E402


class AnalysisError(Exception):
    """Something that the user can put right; the message says what."""


class UnreadableError(AnalysisError):
    """A file, or a part of it, that is there and cannot be read."""


def reading(method):
    """A method of what has a `path`, whose errors say that this cannot be read: damage leads to exceptions of any kind."""

    @wraps(method)
    def read(self, *arguments, **options):
        try:
            return method(self, *arguments, **options)
        except AnalysisError:
            raise
        except Exception as error:
            # What comes first says what is wrong: h5py may hide it behind a SystemError.
            reason = error.__cause__ or error
            words = " ".join(str(reason).split()) or type(reason).__name__
            raise UnreadableError(f"{self.path}: cannot be read: {words}") from error

    return read


@dataclass(frozen=True)
class Quantity:
    """One variable along its first dimension, or a single number (`values` of shape ())."""

    path: str
    values: np.ndarray
    units: str = ""
    long_name: str = ""
    scale: "Quantity | None" = None  # the first dimension's scale; itself without one


@dataclass(frozen=True)
class Claim:
    """One statement as a number, and how it came out.

    `supported` is false where the recipe marks a paper's statement as one that the numbers contradict; such a
    claim passes when the statement does not hold.
    """

    name: str
    quantity: str = ""
    source: str = ""
    note: str = ""
    problem: str = ""  # why nothing was measured, or what is unexpected
    measured: float = float("nan")
    expected: float = float("nan")
    lower: float = float("-inf")
    upper: float = float("inf")
    uncertainty: float = float("nan")  # as the recipe derives it
    passed: bool = False
    supported: bool = True

    @property
    def verdict(self):
        """PASS, FAIL, or that a paper's statement is not supported, as its recipe says."""
        if not self.passed:
            return "FAIL"
        return "PASS" if self.supported else "not supported"

    @property
    def accuracy(self):
        """The uncertainty in two digits; empty where the recipe gives none."""
        return f"{self.uncertainty:.2g}" if np.isfinite(self.uncertainty) else ""

    @property
    def target(self):
        """What was asked of the measured value."""
        has_lower, has_upper = np.isfinite(self.lower), np.isfinite(self.upper)
        if np.isfinite(self.expected):
            text = format_number(self.expected)
            below, above = self.expected - self.lower, self.upper - self.expected
            if not (has_lower and has_upper):
                return text
            if below == above == 0:
                return f"exactly {text}"
            if np.isclose(below, above, rtol=1e-6, atol=0.0):
                return f"{text} ± {above:.2g}"
            return f"{text} in [{format_number(self.lower)}, {format_number(self.upper)}]"
        if has_lower and has_upper:
            return f"[{format_number(self.lower)}, {format_number(self.upper)}]"
        if has_lower:
            return f"at least {format_number(self.lower)}"
        if has_upper:
            return f"at most {format_number(self.upper)}"
        return "any value"


# A stranger's file may hold anything under these names.
_CLAIM_TYPES = {name: field.type for name, field in Claim.__dataclass_fields__.items()}


def format_number(value):
    """Six significant digits, without an exponent where it is not needed."""
    return f"{value:.6g}" if np.isfinite(value) else str(value)


def natural_key(text):
    """Sorts fig9 before fig10."""
    return [int(part) if part.isdigit() else part.lower() for part in re.split(r"(\d+)", str(text))]


def integrator_of(recipe, path):
    """The table of a recipe's `[[integrators]]` that a quantity belongs to, by the label in its path, or None.

    Numbers that stand in the place of a path are no method's.
    """
    if not isinstance(path, str):
        return None
    tables = {table.get("name") or table.get("method"): table for table in recipe.get("integrators", [])}
    parts = path.split("[")[0].replace("/", ".").split(".")
    return next((tables[part] for part in parts if part in tables), None)


def as_python(value):
    """An attribute as a Python value: text, number, or a list of them."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        # h5py keeps bytes that are no UTF-8 as halves of characters, which nothing can write.
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return as_python(value.flat[0]) if value.size == 1 else [as_python(item) for item in value.ravel()]
    if isinstance(value, np.generic):
        return as_python(value.item())
    return value


class ResultFile:
    """A result file open for reading; use it in a `with` statement."""

    def __init__(self, path):
        self.path = Path(path)
        self._open()

    @reading
    def _open(self):
        if not self.path.is_file():  # nothing that would be waited for, such as a pipe
            raise AnalysisError(f"{self.path}: {'not a file' if self.path.exists() else 'no such file'}")
        try:
            self.file = h5py.File(self.path, "r")
        except OSError as error:
            raise UnreadableError(f"{self.path}: not a readable HDF5 file ({error})") from error
        try:
            self._begin()
        except Exception:
            self.file.close()
            raise

    def _begin(self):
        """Reads what the whole file is about."""
        try:
            refuse_external_links(self.file)
        except ValueError as error:
            raise AnalysisError(f"{self.path}: {error}") from error
        self.attributes = {name: as_python(value) for name, value in self.file.attrs.items()}
        try:
            self.recipe = tomllib.loads(
                self.attributes.get("recipe_resolved") or self.attributes.get("recipe") or ""
            )
        except tomllib.TOMLDecodeError as error:
            raise AnalysisError(f"{self.path}: the recipe inside is not TOML ({error})") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    @property
    def title(self):
        return str(self.attributes.get("title") or self.recipe.get("title") or self.path.parent.name)

    @property
    def status(self):
        return str(self.attributes.get("status", "unknown"))

    @property
    def figure(self):
        """The recipe's table `figure`; empty when it has none."""
        return self.recipe.get("figure") or {}

    @property
    def labels(self):
        """Labels of the integrators, in the recipe's order."""
        return [entry.get("name") or entry.get("method", "") for entry in self.recipe.get("integrators", [])]

    @reading
    def groups(self, parent):
        """Names of the groups inside a group, the recipe's integrators first; empty without such a group."""
        if parent not in self.file:
            return []
        names = [name for name, item in self.file[parent].items() if isinstance(item, h5py.Group)]
        order = {label: place for place, label in enumerate(self.labels)}
        return sorted(names, key=lambda name: (order.get(name, len(order)), natural_key(name)))

    def groups_with_variables(self, parent="/"):
        """Paths of all groups that hold variables, in the order of `groups`, each before those inside it."""
        paths = []
        for name in self.groups(parent):
            path = f"{parent}/{name}".lstrip("/")
            paths += [path] if self.variables(path) else []
            paths += self.groups_with_variables(path)
        return paths

    def has(self, path):
        """Whether a quantity path can be read."""
        try:
            self.quantity(path)
        except UnreadableError:
            raise
        except AnalysisError:
            return False
        return True

    @reading
    def variables(self, group):
        """Names of the variables of a group; empty when there is no such group."""
        item = self.file.get(group) or self.file.get(group.replace(".", "/"))
        if not isinstance(item, h5py.Group):
            return []
        return sorted((name for name in item if isinstance(item[name], h5py.Dataset)), key=natural_key)

    @reading
    def has_variable(self, path):
        """Whether there is a variable of this name, of any number of dimensions."""
        return self._find(path) is not None

    @reading
    def shape(self, path):
        """The lengths of a variable's dimensions; None where there is no such variable."""
        dataset = self._find(path)
        return None if dataset is None else dataset.shape

    @reading
    def quantity(self, path):
        """The quantity with this path; AnalysisError naming what there is when there is none."""
        whole, _, statistic = path.strip().rpartition(".")
        # A variable may be called like a statistic.
        if statistic in STATISTICS and self._find(path) is None:
            return self._number(self._selected(whole, several=True), path, statistic)
        return self._selected(path)

    def _selected(self, path, several=False):
        """What the indices of a path choose: a number in each row, or all that they leave where it may be several."""
        name, chosen = _split(path)
        dataset = self._find(name)
        if dataset is None:
            raise AnalysisError(f"{self.path}: no variable '{name}'; {self._what_there_is(name)}")
        values = dataset[()]
        later = list(range(1, values.ndim))
        free = [axis for axis in later if values.shape[axis] != 1]
        # Written-out indices go to the first of the later dimensions, as claims take them, or to those longer
        # than one; what is left has to be of length one.
        leading = later[: len(chosen)]
        covers = len(leading) == len(chosen) and all(axis in leading for axis in free)
        axes = leading if covers or (several and len(chosen) < len(free)) else free
        scale = self._scale(dataset)
        # Of what is no series over time, the first index may choose the row, as in claims.
        if chosen and len(chosen) == values.ndim and not several and not scale.path.endswith("time"):
            axes, scale = list(range(values.ndim)), None
        if len(axes) != len(chosen):
            raise AnalysisError(
                f"{self.path}: '{path}' has {len(chosen)} indices, but {_shape_text(dataset)} needs "
                f"{len(free)}, for instance {name}{'[0]' * len(free)}"
            )
        selection = [slice(None)] * values.ndim
        for axis, index in zip(axes, chosen):
            if not -values.shape[axis] <= index < values.shape[axis]:
                raise AnalysisError(f"{self.path}: '{path}': {_shape_text(dataset)} has no index {index}")
            selection[axis] = index
        numbers = np.asarray(values[tuple(selection)], dtype=float)
        return Quantity(
            path,
            numbers if several or numbers.ndim == 0 else numbers.reshape(len(numbers)),
            _text(dataset, "units"),
            _text(dataset, "long_name"),
            scale,
        )

    def _number(self, series, path, name):
        """What a statistic makes of a series, as a quantity."""
        statistic, scale, values = STATISTICS[name], series.scale, series.values.ravel()
        if values.size == 0 and name != "count":
            raise AnalysisError(f"{self.path}: '{series.path}' is empty and has no '{name}'")
        if statistic.along and (scale is None or not scale.path):
            raise AnalysisError(f"{self.path}: '{series.path}' has no coordinate, which '{name}' needs")
        if name == "slope" and np.ptp(scale.values) == 0.0:
            raise AnalysisError(f"{self.path}: a slope of '{series.path}' needs two different values of {scale.path}")
        width = values.size // len(series.values) if series.values.ndim and values.size else 1
        if name in ("first", "last") and width > 1:
            raise AnalysisError(f"{self.path}: '{name}' of '{series.path}' needs indices: it has {width} components")
        value = statistic.of(values, np.repeat(scale.values, width)) if statistic.along else statistic.of(values)
        units = statistic.units(series.units, scale.units if scale else "")
        return replace(series, path=path, values=np.asarray(value, dtype=float), units=units, scale=None)

    @reading
    def array(self, path):
        """A whole variable of any number of dimensions, and its h5py dataset for the attributes."""
        dataset = self._find(path)
        if dataset is None:
            raise AnalysisError(f"{self.path}: no variable '{path}'; {self._what_there_is(path)}")
        return np.asarray(dataset[()], dtype=float), dataset

    @reading
    def scale_of(self, dataset, axis):
        """The scale of one dimension of a dataset, as a Quantity; plain numbering where there are no numbers."""
        dimension = dataset.dims[axis]
        # Labels, which are texts, number their dimension in their order.
        if len(dimension) > 0 and not h5py.check_string_dtype(dimension[0].dtype):
            return _scale_quantity(dimension[0])
        return Quantity("", np.arange(dataset.shape[axis], dtype=float), "", "index")

    @reading
    def claims(self):
        """All claims of the file; columns that an older file lacks have their defaults."""
        group = self.file.get("claims")
        if not isinstance(group, h5py.Group) or "name" not in group:
            return []
        columns = {name: _column(group[name]) for name in Claim.__dataclass_fields__ if name in group}
        claims = []
        for row in range(len(columns["name"])):
            values = {name: column[row] for name, column in columns.items() if row < len(column)}
            try:
                claims.append(Claim(**{name: _CLAIM_TYPES[name](value) for name, value in values.items()}))
            except (TypeError, ValueError) as error:
                raise AnalysisError(f"{self.path}: claim {row} cannot be read ({error})") from error
        return claims

    def warnings(self):
        """What the program warned of, one text each."""
        value = self.attributes.get("warnings", [])
        lines = value.splitlines() if isinstance(value, str) else [str(item) for item in value]
        return [line.strip() for line in lines if line.strip()]

    def _find(self, path):
        """The dataset of a dotted path. A label may contain dots itself, so every way to cut is tried."""

        def search(group, parts):
            for count in range(len(parts), 0, -1):
                name = ".".join(parts[:count])
                if name not in group:
                    continue
                item = group[name]
                if count == len(parts):
                    return item if isinstance(item, h5py.Dataset) else None
                found = search(item, parts[count:]) if isinstance(item, h5py.Group) else None
                if found is not None:
                    return found
            return None

        return search(self.file, path.replace("/", ".").split("."))

    def _what_there_is(self, path):
        """The variables beside a missing one, or the groups when the group is missing too."""
        group, parts = self.file, path.replace("/", ".").split(".")
        while parts and isinstance(group.get(parts[0]), h5py.Group):
            group = group[parts.pop(0)]
        place = f"group '{group.name.strip('/').replace('/', '.')}'" if group.name != "/" else "file"
        names = [
            _shape_text(item) if isinstance(item, h5py.Dataset) else f"{name}. (group)"
            for name, item in group.items()
        ]
        return f"the {place} has {', '.join(names) or 'nothing'}"

    def _scale(self, dataset):
        if dataset.ndim == 0:
            return None
        if h5py.h5ds.is_scale(dataset.id):
            return _scale_quantity(dataset)
        scale = self.scale_of(dataset, 0)
        if (
            scale.path == ""
            and "time" in dataset.parent
            and dataset.parent["time"].shape == dataset.shape[:1]
        ):
            return _scale_quantity(dataset.parent["time"])
        return scale


def _scale_quantity(dataset):
    return Quantity(
        dataset.name.strip("/").replace("/", "."),
        np.asarray(dataset[()], dtype=float),
        _text(dataset, "units"),
        _text(dataset, "long_name"),
    )


def _split(path):
    """'open.q[0][1]' -> ('open.q', [0, 1])."""
    match = re.fullmatch(r"([^\[\]]+)((?:\[\s*-?\d+(?:\s*,\s*-?\d+)*\s*\])*)", path.strip())
    if match is None:
        raise AnalysisError(f"'{path}' is not a quantity; one looks like closed.energy_total or open.q[0][1]")
    return match[1], [int(number) for number in re.findall(r"-?\d+", match[2])]


def _column(dataset):
    """A column of the table of claims as a list of texts or floats."""
    values = dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) else dataset[()]
    return [as_python(value) for value in np.atleast_1d(values)]


def _text(dataset, attribute):
    return str(as_python(dataset.attrs.get(attribute, "")))


def _shape_text(dataset):
    """'q(time, particle, axis)' with the lengths."""
    names = []
    for axis, length in enumerate(dataset.shape):
        dimension = dataset.dims[axis]
        name = dimension[0].name.rsplit("/", 1)[-1] if len(dimension) > 0 else ""
        names.append(f"{name} {length}".strip())
    return (
        f"{dataset.name.rsplit('/', 1)[-1]}({', '.join(names)})" if names else dataset.name.rsplit("/", 1)[-1]
    )
