"""Result files, with quantities named as in recipes.

A quantity is named by a path, "<group>.<variable>[i][j]": "closed.energy_total", "open.q[0][1]" (particle 0, axis 1),
"reduction.closed.difference[0]". The indices select along the dimensions after the first; a dimension of length one
needs no index. A path that ends in a statistic, "closed.q[0].max", is a number, computed over all components that the
indices select. For variables that are no time series, a path with an index for every dimension is a number as well:
"covariance.open.qv[3][0]".
"""

import html
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

# Results are only read here, and many cluster file systems do not support locks.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

import h5py  # noqa: E402
import numpy as np  # noqa: E402

from bathline.exceptions import AnalysisError, UnreadableError  # noqa: E402
from bathline.external_links import refuse_external_links  # noqa: E402
from bathline.statistic import STATISTICS  # noqa: E402


if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import pandas
    import xarray


def report_read_errors(method):
    """Decorator that raises UnreadableError for any exception of a method, since damaged files cause all kinds.

    Parameters
    ----------
    method : callable
        A method of an object with an attribute `path`.

    Returns
    -------
    callable
        The method; an AnalysisError passes unchanged.
    """

    @wraps(method)
    def read(self, *arguments, **options):
        try:
            return method(self, *arguments, **options)
        except AnalysisError:
            raise
        except Exception as error:
            # The cause says what is wrong: h5py may wrap it in a SystemError.
            reason = error.__cause__ or error
            text = " ".join(str(reason).split()) or type(reason).__name__
            raise UnreadableError(f"{self.path}: cannot be read: {text}") from error

    return read


@dataclass(frozen=True)
class Quantity:
    """One variable along its first dimension, or a single number.

    Attributes
    ----------
    path : str
        The path by which it was requested.
    values : ndarray
        Values of shape (n,), or () for a number.
    units : str
        Units as in the file, such as "kg m2/s2"; "1" or empty for dimensionless values.
    long_name : str
        Description as in the file.
    scale : Quantity or None
        Scale of the first dimension; None for a number.
    """

    path: str
    values: np.ndarray
    units: str = ""
    long_name: str = ""
    scale: "Quantity | None" = None


@dataclass(frozen=True)
class Claim:
    """A claim of a recipe with its measured value.

    Attributes are named as in the recipe. `problem` says why nothing was measured, or what is unexpected; `uncertainty`
    is that derived in the recipe. `supported` is false if the recipe marks a statement of a paper as contradicted by
    the numbers; such a claim passes when the statement does not hold.
    """

    name: str
    quantity: str = ""
    source: str = ""
    note: str = ""
    problem: str = ""
    measured: float = float("nan")
    expected: float = float("nan")
    lower: float = float("-inf")
    upper: float = float("inf")
    uncertainty: float = float("nan")
    passed: bool = False
    supported: bool = True

    @property
    def verdict(self):
        """str : "PASS", "FAIL", or "not supported" for a claim that passes because a paper's statement does not hold."""
        if not self.passed:
            return "FAIL"
        return "PASS" if self.supported else "not supported"

    @property
    def accuracy(self):
        """str : The uncertainty to two digits; empty if the recipe gives none."""
        return f"{self.uncertainty:.2g}" if np.isfinite(self.uncertainty) else ""

    @property
    def target(self):
        """str : The expected value or the bounds, such as "79 ± 1.6" or "at most 3"."""
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


# Values are converted because a file may contain any type under these names.
_CLAIM_TYPES = {name: field.type for name, field in Claim.__dataclass_fields__.items()}


def format_number(value):
    """Format a number to six significant digits.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    str
        With an exponent only where needed.
    """
    return f"{value:.6g}" if np.isfinite(value) else str(value)


def natural_key(text):
    """Sort key that compares digits as numbers: fig9 comes before fig10.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list
        Text and numbers alternately.
    """
    return [int(part) if part.isdigit() else part.lower() for part in re.split(r"(\d+)", str(text))]


def integrator_of(recipe, path):
    """Find the table of `[[integrators]]` whose label occurs in the path of a quantity.

    Parameters
    ----------
    recipe : dict
        The recipe.
    path : str or list of float
        Path of a quantity, or numbers given in its place.

    Returns
    -------
    dict or None
        None if the quantity belongs to no integrator.
    """
    if not isinstance(path, str):
        return None
    tables = {table.get("name") or table.get("method"): table for table in recipe.get("integrators", [])}
    parts = path.split("[")[0].replace("/", ".").split(".")
    return next((tables[part] for part in parts if part in tables), None)


def as_python(value):
    """Convert an HDF5 attribute to a Python value.

    Parameters
    ----------
    value : object
        A value returned by h5py.

    Returns
    -------
    str, bool, int, float or list
        Bytes that are not UTF-8 are replaced by U+FFFD.
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        # h5py returns bytes that are not UTF-8 as surrogates, which cannot be encoded.
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return as_python(value.flat[0]) if value.size == 1 else [as_python(item) for item in value.ravel()]
    if isinstance(value, np.generic):
        return as_python(value.item())
    return value


class RunResult(Mapping):
    """An open result file: a mapping from labels of integrators and paths of other groups to xarray Datasets.

    Paths are those in the file, such as "convergence/closed". Values are read lazily and carry units and named
    coordinates. The file is closed at the end of a `with` statement, by `close`, or by the garbage collector.

    Parameters
    ----------
    path : path-like
        The file.
    keep : object, optional
        An object to keep alive as long as the result, such as a temporary folder.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    attributes : dict
        Attributes of the file: title, status, versions and provenance.
    recipe : dict
        The recipe with all defaults, or as written where the file has no resolved one.

    Raises
    ------
    AnalysisError
        If there is no such file, it is not a regular file, or contains external links.
    UnreadableError
        If the file is damaged or not HDF5.
    """

    def __init__(self, path: str | os.PathLike, keep: object = None):
        self.path = Path(path)
        self._datasets, self._tree, self._keep = {}, None, keep
        self._open()

    @report_read_errors
    def _open(self):
        if not self.path.is_file():  # opening a pipe would block
            raise AnalysisError(f"{self.path}: {'not a file' if self.path.exists() else 'no such file'}")
        try:
            self.file = h5py.File(self.path, "r")
        except OSError as error:
            raise UnreadableError(f"{self.path}: not a readable HDF5 file ({error})") from error
        try:
            self._read_header()
        except Exception:
            self.file.close()
            raise

    def _read_header(self):
        """Read the attributes and the recipe."""
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

    def __getitem__(self, name: str) -> "xarray.Dataset":
        if name not in self._datasets:
            if name not in self._names():
                raise KeyError(f"{name}; there are {', '.join(self._names())}")
            import xarray

            self._datasets[name] = self._open_with(xarray.open_dataset, group=name)
        return self._datasets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    @report_read_errors
    def _open_with(self, opener, **options):
        # Units such as "s" or "days" belong to numbers; xarray would make dates of them, cut to nanoseconds.
        return opener(self.path, engine="h5netcdf", decode_times=False, **options)

    def _names(self):
        return [name for name in self.groups_with_variables() if name != "claims"]

    def __enter__(self) -> "RunResult":
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Close the file with all its datasets and its tree."""
        for dataset in [*self._datasets.values(), *([] if self._tree is None else [self._tree])]:
            dataset.close()
        self.file.close()

    def __repr__(self) -> str:
        return f"<bathline.RunResult {self.path.name}: {self.title} ({self.status}); {', '.join(self._names())}>"

    def _repr_html_(self) -> str:
        """Title, status, groups and claims, for notebooks."""
        head = f"<b>{html.escape(self.title)}</b> ({html.escape(self.status)}), {html.escape(self.path.name)}"
        groups = "".join(
            f"<li><code>{html.escape(name)}</code>: {html.escape(', '.join(self.variables(name)))}</li>"
            for name in self._names()
        )
        claims = self.claims
        return f"<div>{head}<ul>{groups}</ul>{'' if claims.empty else claims._repr_html_()}</div>"

    @property
    def tree(self):
        """xarray.DataTree : The whole file, read lazily; AnalysisError if xarray has no DataTree."""
        import xarray

        if self._tree is None:
            if not hasattr(xarray, "open_datatree"):
                raise AnalysisError(f"this xarray has no DataTree; the groups are {', '.join(self)}")
            self._tree = self._open_with(xarray.open_datatree)
        return self._tree

    @property
    def settings(self) -> dict:
        """dict : Values that a sweep has set for this result, by key."""
        from bathline.sweep_settings import settings_of

        return settings_of(str(self.attributes.get("sweep_settings", "")))

    @property
    def claims(self) -> "pandas.DataFrame":
        """pandas.DataFrame : The claims, one row each; `problem` says why nothing was measured."""
        import pandas

        # Wide columns come last, because pandas omits the middle of a table wider than the terminal.
        columns = ["passed", "measured", "expected", "lower", "upper", "uncertainty"]
        columns += ["quantity", "source", "note", "problem"]
        rows = [
            {"name": claim.name, **{name: getattr(claim, name) for name in columns}} for claim in self.claim_list()
        ]
        return pandas.DataFrame(rows, columns=["name", *columns]).set_index("name")

    def quantity(self, path: str) -> "np.ndarray | float":
        """Read a quantity by the path that figures and claims use.

        Parameters
        ----------
        path : str
            For instance "closed.q[0][1]" or "closed.q[0].max".

        Returns
        -------
        ndarray of float or float
            Values along the first dimension, in the units of the file, or a number.

        Raises
        ------
        AnalysisError
            If there is no such quantity.
        """
        values = self.read(path).values
        return values.item() if values.ndim == 0 else values

    def plot(self, ax: "matplotlib.axes.Axes | None" = None, panel: int = 0) -> "matplotlib.figure.Figure":
        """Draw the recipe's figure, or the default figure of its study.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw one panel into, in the style of their figure, instead of a new figure.
        panel : int
            Index of that panel.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, or that of `ax`.

        Raises
        ------
        AnalysisError
            If the file lacks what the figure shows, or `ax` is given and there is no such panel with lines.
        """
        from bathline.figure import draw, draw_into
        from bathline.style import unfreeze_layout

        return unfreeze_layout(draw(self)) if ax is None else draw_into(self, ax, panel)

    @property
    def title(self) -> str:
        """str : Title of the result; without one the name of its folder."""
        return str(self.attributes.get("title") or self.recipe.get("title") or self.path.parent.name)

    @property
    def status(self) -> str:
        """str : `complete`, `failed` or `partial`; `unknown` if the file has none."""
        return str(self.attributes.get("status", "unknown"))

    @property
    def figure(self):
        """dict : The recipe's table `figure`; empty if it has none."""
        return self.recipe.get("figure") or {}

    @property
    def labels(self):
        """list of str : Labels of the integrators, in the order of the recipe."""
        return [entry.get("name") or entry.get("method", "") for entry in self.recipe.get("integrators", [])]

    @report_read_errors
    def groups(self, parent):
        """Names of the groups inside a group.

        Parameters
        ----------
        parent : str
            Path of the group in HDF5.

        Returns
        -------
        list of str
            Integrators first, in the order of the recipe; empty if there is no such group.
        """
        if parent not in self.file:
            return []
        names = [name for name, item in self.file[parent].items() if isinstance(item, h5py.Group)]
        order = {label: index for index, label in enumerate(self.labels)}
        return sorted(names, key=lambda name: (order.get(name, len(order)), natural_key(name)))

    def groups_with_variables(self, parent="/"):
        """Paths of all groups that contain variables.

        Parameters
        ----------
        parent : str
            Path of the group to search.

        Returns
        -------
        list of str
            In the order of `groups`, each before the groups inside it.
        """
        paths = []
        for name in self.groups(parent):
            path = f"{parent}/{name}".lstrip("/")
            paths += [path] if self.variables(path) else []
            paths += self.groups_with_variables(path)
        return paths

    def has(self, path):
        """Whether a quantity exists.

        Parameters
        ----------
        path : str
            Path of a quantity.

        Returns
        -------
        bool

        Raises
        ------
        UnreadableError
            If it exists but cannot be read.
        """
        try:
            self.read(path)
        except UnreadableError:
            raise
        except AnalysisError:
            return False
        return True

    @report_read_errors
    def variables(self, group):
        """Names of the variables of a group.

        Parameters
        ----------
        group : str
            Path of the group, with dots or slashes.

        Returns
        -------
        list of str
            In natural order; empty if there is no such group.
        """
        item = self.file.get(group) or self.file.get(group.replace(".", "/"))
        if not isinstance(item, h5py.Group):
            return []
        return sorted((name for name in item if isinstance(item[name], h5py.Dataset)), key=natural_key)

    @report_read_errors
    def has_variable(self, path):
        """Whether a variable exists, with any number of dimensions.

        Parameters
        ----------
        path : str
            Path of the variable without indices.

        Returns
        -------
        bool
        """
        return self._find_dataset(path) is not None

    @report_read_errors
    def shape(self, path):
        """Shape of a variable.

        Parameters
        ----------
        path : str
            Path of the variable without indices.

        Returns
        -------
        tuple of int or None
            None if there is no such variable.
        """
        dataset = self._find_dataset(path)
        return None if dataset is None else dataset.shape

    @report_read_errors
    def read(self, path):
        """Read a quantity with its units and its scale.

        Parameters
        ----------
        path : str
            Path of the quantity, as described at the head of this module.

        Returns
        -------
        Quantity

        Raises
        ------
        AnalysisError
            If there is no such variable, or the indices or the statistic do not apply; the message names the variables
            of the group.
        UnreadableError
            If it cannot be read.
        """
        series, _, statistic = path.strip().rpartition(".")
        # A variable may have the name of a statistic.
        if statistic in STATISTICS and self._find_dataset(path) is None:
            return self._evaluate_statistic(self._select(series, several=True), path, statistic)
        return self._select(path)

    def attribute(self, path, name):
        """An attribute of a variable as text; empty if there is none.

        Parameters
        ----------
        path : str
            Path of the variable.
        name : str
            Name of the attribute.

        Returns
        -------
        str
            Its text.
        """
        dataset = self._find_dataset(path)
        return "" if dataset is None else _text(dataset, name)

    def _select(self, path, several=False):
        """The values selected by the indices of a path: one in each row, or with `several` all remaining components."""
        name, indices = _parse_path(path)
        dataset = self._find_dataset(name)
        if dataset is None:
            raise AnalysisError(f"{self.path}: no variable '{name}'; {self._available_names(name)}")
        values = dataset[()]
        axes_after_first = list(range(1, values.ndim))
        long_axes = [axis for axis in axes_after_first if values.shape[axis] != 1]
        # Indices apply to the first of the later dimensions, as in claims, or to those longer than one; all dimensions
        # without an index must have length one.
        first_axes = axes_after_first[: len(indices)]
        covers = len(first_axes) == len(indices) and all(axis in first_axes for axis in long_axes)
        axes = first_axes if covers or (several and len(indices) < len(long_axes)) else long_axes
        scale = self._scale(dataset)
        # Of variables that are no time series, the first index may select the row, as in claims.
        if indices and len(indices) == values.ndim and not several and not scale.path.endswith("time"):
            axes, scale = list(range(values.ndim)), None
        if len(axes) != len(indices):
            raise AnalysisError(
                f"{self.path}: '{path}' has {len(indices)} indices, but {_shape_text(dataset)} needs "
                f"{len(long_axes)}, for instance {name}{'[0]' * len(long_axes)}"
            )
        selection = [slice(None)] * values.ndim
        for axis, index in zip(axes, indices):
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

    def _evaluate_statistic(self, series, path, name):
        """The statistic of a series, as a quantity."""
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

    @report_read_errors
    def array(self, path):
        """Read a whole variable.

        Parameters
        ----------
        path : str
            Path of the variable without indices.

        Returns
        -------
        values : ndarray of float
            Values of any number of dimensions.
        dataset : h5py.Dataset
            The variable, for its attributes.

        Raises
        ------
        AnalysisError
            If there is no such variable.
        """
        dataset = self._find_dataset(path)
        if dataset is None:
            raise AnalysisError(f"{self.path}: no variable '{path}'; {self._available_names(path)}")
        return np.asarray(dataset[()], dtype=float), dataset

    @report_read_errors
    def scale_of(self, dataset, axis):
        """Scale of a dimension.

        Parameters
        ----------
        dataset : h5py.Dataset
            A variable of this file.
        axis : int
            The dimension.

        Returns
        -------
        Quantity
            The numbers 0, 1, ... if the dimension has no scale or a scale of texts.
        """
        dimension = dataset.dims[axis]
        if len(dimension) > 0 and not h5py.check_string_dtype(dimension[0].dtype):
            return _scale_quantity(dimension[0])
        return Quantity("", np.arange(dataset.shape[axis], dtype=float), "", "index")

    @report_read_errors
    def claim_list(self):
        """Read all claims.

        Returns
        -------
        list of Claim
            Columns that the file lacks have their defaults.

        Raises
        ------
        AnalysisError
            If a value has a wrong type.
        """
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
        """Warnings of the program.

        Returns
        -------
        list of str
            One text for each warning.
        """
        value = self.attributes.get("warnings", [])
        lines = value.splitlines() if isinstance(value, str) else [str(item) for item in value]
        return [line.strip() for line in lines if line.strip()]

    def _find_dataset(self, path):
        """The dataset of a dotted path. Labels may contain dots, so that all ways to split the path are tried."""

        def search(group, parts):
            for count in range(len(parts), 0, -1):
                name = ".".join(parts[:count])
                if name not in group:
                    continue
                item = group[name]
                if count == len(parts):
                    return item if isinstance(item, h5py.Dataset) else None
                dataset = search(item, parts[count:]) if isinstance(item, h5py.Group) else None
                if dataset is not None:
                    return dataset
            return None

        return search(self.file, path.replace("/", ".").split("."))

    def _available_names(self, path):
        """Text with the variables of the group of a missing one, or with the groups if the group is missing too."""
        group, parts = self.file, path.replace("/", ".").split(".")
        while parts and isinstance(group.get(parts[0]), h5py.Group):
            group = group[parts.pop(0)]
        parent = f"group '{group.name.strip('/').replace('/', '.')}'" if group.name != "/" else "file"
        names = [
            _shape_text(item) if isinstance(item, h5py.Dataset) else f"{name}. (group)"
            for name, item in group.items()
        ]
        return f"the {parent} has {', '.join(names) or 'nothing'}"

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


def _parse_path(path):
    """'open.q[0][1]' -> ('open.q', [0, 1])."""
    match = re.fullmatch(r"([^\[\]]+)((?:\[\s*-?\d+(?:\s*,\s*-?\d+)*\s*\])*)", path.strip())
    if match is None:
        raise AnalysisError(f"'{path}' is not the path of a quantity, such as closed.energy_total or open.q[0][1]")
    return match[1], [int(number) for number in re.findall(r"-?\d+", match[2])]


def _column(dataset):
    """A column of the claims as a list of texts or floats."""
    values = dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) else dataset[()]
    return [as_python(value) for value in np.atleast_1d(values)]


def _text(dataset, attribute):
    return str(as_python(dataset.attrs.get(attribute, "")))


def _shape_text(dataset):
    """A variable with its dimensions, such as 'q(time 201, particle 2, axis 2)'."""
    names = []
    for axis, length in enumerate(dataset.shape):
        dimension = dataset.dims[axis]
        name = dimension[0].name.rsplit("/", 1)[-1] if len(dimension) > 0 else ""
        names.append(f"{name} {length}".strip())
    return (
        f"{dataset.name.rsplit('/', 1)[-1]}({', '.join(names)})" if names else dataset.name.rsplit("/", 1)[-1]
    )
