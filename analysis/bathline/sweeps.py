"""The results of a sweep in order, as a table, as a dataset over the swept keys, and as a figure."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bathline.exceptions import AnalysisError
from bathline.result_file import RunResult
from bathline.statistic import STATISTICS
from bathline.sweep_settings import sweep_order_key, value_in_recipe
from bathline.toml_values import inline_toml

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import pandas
    import xarray


class Sweep:
    """The results of a sweep; iterating yields the results.

    Parameters
    ----------
    paths : sequence of path-like
        Result files, in the order of the sweep. They are opened when they are needed.
    keep : object, optional
        An object to keep alive as long as the sweep, such as a temporary folder.
    """

    def __init__(self, paths: Sequence[str | os.PathLike], keep: object = None):
        self.paths = [Path(path) for path in paths]
        self._keep = keep

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> RunResult:
        return self.results[index]

    def __repr__(self) -> str:
        return f"<bathline.Sweep of {len(self)} results over {', '.join(self.keys) or 'no keys'}>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @cached_property
    def results(self) -> list[RunResult]:
        """list of RunResult : The open results."""
        return [RunResult(path, keep=self._keep) for path in self.paths]

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """pandas.DataFrame : One row for each result: the swept keys, then the measured value of every claim."""
        import pandas

        claims = [{claim.name: claim.measured for claim in result.claim_list()} for result in self]
        return pandas.DataFrame([{**settings, **measured} for settings, measured in zip(self.settings, claims)])

    @cached_property
    def keys(self) -> list[str]:
        """list of str : The swept keys, in alphabetical order."""
        return sorted({key for result in self for key in result.settings})

    @cached_property
    def settings(self) -> list[dict]:
        """list of dict : Values of the swept keys of every result; where it does not set a key, that of its recipe."""
        return [
            {key: result.settings.get(key, value_in_recipe(result.recipe, key)) for key in self.keys} for result in self
        ]

    @property
    def dataset(self) -> "xarray.Dataset":
        """xarray.Dataset : All claims and all single numbers of the results over the swept keys; see `select`."""
        claims = dict.fromkeys(claim.name for result in self for claim in result.claim_list())
        numbers = [
            f"{group.replace('/', '.')}.{name}"
            for result in self.results[:1]
            for group in result
            for name in result.variables(group)
            if result.shape(f"{group}/{name}") == ()
        ]
        return self.select(*claims, *numbers)

    def select(self, *quantities: str) -> "xarray.Dataset":
        """Quantities of all results over the swept keys.

        Every swept key is a dimension with its values as coordinate; lists are labelled by their text in TOML. Keys that
        change together share the dimension of the first. If the points are no product of lists, the only dimension is
        `point`, with the keys as coordinates along it. Points without a result are NaN.

        Parameters
        ----------
        *quantities : str
            Paths of quantities, such as "closed.q[0].max", whose series need the same length in all results, or claims.
            The error of a quantity, if the file has one, or the uncertainty of a claim is the variable
            `<quantity>_error`.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        AnalysisError
            If a quantity does not exist or its series differ in length.
        """
        import xarray

        if not len(self):
            return xarray.Dataset()
        dimensions, positions = self._dimensions()
        shape = tuple(len(values[0]) for values in dimensions.values())
        coordinates = {
            key: (name, _coordinate(column))
            for name, values in dimensions.items()
            for key, column in zip([name] if len(values) == 1 else self._keys_of[name], values)
        }
        variables = {}
        for quantity in quantities:
            read = self._quantities(quantity)
            self._add(variables, coordinates, quantity, [value for value, _ in read], list(dimensions), shape, positions)
            errors = [error for _, error in read]
            if any(error is not None for error in errors):
                nothing = next(error for error in errors if error is not None)
                nothing = (np.full_like(nothing[0], np.nan), *nothing[1:])
                errors = [nothing if error is None else error for error in errors]
                self._add(variables, coordinates, f"{quantity}_error", errors, list(dimensions), shape, positions)
        return xarray.Dataset(variables, coordinates)

    def _add(self, variables, coordinates, name, read, dimensions, shape, positions):
        """Add a variable from its values, units, description and scale in every result."""
        first, units, long_name, scale = next((one for one in read if one[2]), read[0])
        if any(np.shape(values) != np.shape(first) for values, *_ in read):
            raise AnalysisError(
                f"'{name}' is a series whose length differs between the results; a statistic makes it a number, as in "
                f"'{name}.last'"
            )
        values = np.full(shape + np.shape(first), np.nan)
        for position, (own, *_) in zip(positions, read):
            values[position] = own
        inner = []
        if np.ndim(first):
            inner = [f"{name}.{(scale.path if scale else '').rpartition('.')[2] or 'index'}"]
            scales = [scale.values if scale else None for *_, scale in read]
            if scale and all(np.array_equal(own, scale.values) for own in scales):
                coordinates[inner[0]] = (inner[0], scale.values, {"units": scale.units, "long_name": scale.long_name})
        variables[name] = (dimensions + inner, values, {"units": units, "long_name": long_name})

    def _quantities(self, name):
        """`_quantity` of every result; a claim that a result does not make is NaN."""
        is_claim = [any(claim.name == name for claim in result.claim_list()) for result in self]
        missing = (np.array(np.nan), "", "", None), None
        return [
            self._quantity(result, name) if makes or not any(is_claim) else missing
            for result, makes in zip(self, is_claim)
        ]

    @staticmethod
    def _quantity(result, name):
        """Values, units, description and scale of a quantity or claim, and the same of its error or None."""
        claim = next((claim for claim in result.claim_list() if claim.name == name), None)
        if claim is not None:
            value = (np.array(claim.measured), "", f"measured value of {claim.quantity}", None)
            error = _error_of(result, claim.quantity)
            if error is None and np.isfinite(claim.uncertainty):
                error = (np.array(claim.uncertainty), "", f"uncertainty of {claim.name}", None)
            return value, error
        found = result.read(name)
        return (found.values, found.units, found.long_name, found.scale), _error_of(result, name)

    def _dimensions(self):
        """Values of the keys of every dimension, and the position of every result in the dimensions."""
        keys = self.keys
        columns = {key: [settings[key] for settings in self.settings] for key in keys}
        # A set of keys whose values determine each other changes together.
        labels = {key: [inline_toml(value) if value is not None else "" for value in columns[key]] for key in keys}
        groups = []
        for key in keys:
            for group in groups:
                pairs = set(zip(labels[group[0]], labels[key]))
                if len(pairs) == len(set(labels[group[0]])) == len(set(labels[key])) > 1:
                    group.append(key)
                    break
            else:
                groups.append([key])
        rows = [list(zip(*(labels[key] for key in group))) for group in groups]
        distinct = [list(dict.fromkeys(row)) for row in rows]
        size = int(np.prod([len(values) for values in distinct]))
        if size > 2 * len(self) or len(set(zip(*rows))) < len(self):
            groups, distinct = [keys], None
        self._keys_of = {(group[0] if distinct else "point"): group for group in groups}
        if distinct is None:
            return {"point": [columns[key] for key in keys]}, [(index,) for index in range(len(self))]
        dimensions = {}
        for group, row, values in zip(groups, rows, distinct):
            first = [row.index(value) for value in values]
            dimensions[group[0]] = [[columns[key][index] for index in first] for key in group]
        return dimensions, [tuple(values.index(row[i]) for row, values in zip(rows, distinct)) for i in range(len(self))]

    def keys_beside(self, key: str) -> list[str]:
        """The swept keys that do not change together with a key.

        Parameters
        ----------
        key : str
            A swept key.

        Returns
        -------
        list of str
        """
        self._dimensions()
        group = next((keys for keys in self._keys_of.values() if key in keys), [key])
        return [other for other in self.keys if other not in (group if len(group) < len(self.keys) else [key])]

    def gather(self, quantity: str) -> list:
        """Read a quantity of every result.

        Parameters
        ----------
        quantity : str
            Path of a quantity, such as "convergence.gamma.order_q".

        Returns
        -------
        list of (float or ndarray)
            In the order of the sweep.
        """
        return [result.quantity(quantity) for result in self]

    def tabulate(self, *quantities: str) -> "pandas.DataFrame":
        """The table with additional columns for numbers that are no claims.

        Parameters
        ----------
        *quantities : str
            Paths of numbers, such as "closed.q[0].max".

        Returns
        -------
        pandas.DataFrame
        """
        return self.table.assign(**{quantity: self.numbers(quantity) for quantity in quantities})

    def plot(
        self,
        *quantities: str,
        against: str,
        xscale: str = "linear",
        yscale: str = "linear",
        ax: "matplotlib.axes.Axes | None" = None,
    ) -> "matplotlib.figure.Figure":
        """Draw numbers over a swept key, one curve for each quantity and each combination of the other swept keys.

        Numbers with errors (see `errors`) have error bars.

        Parameters
        ----------
        *quantities : str
            Paths of numbers, such as "closed.energy_particles.last", or claims.
        against : str
            A swept key, such as "time.step".
        xscale, yscale : {"linear", "log"}
            Scales of the axes.
        ax : matplotlib.axes.Axes, optional
            Axes to draw into, in the style of their figure, instead of a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, or that of `ax`.

        Raises
        ------
        AnalysisError
            If `against` was not swept, a quantity does not exist or is a series, or a scale can show none of its values.
        """
        from bathline.style import unfreeze_layout
        from bathline.sweep_figure import draw, draw_into

        if ax is not None:
            return draw_into(ax, self, quantities, against, xscale, yscale)
        return unfreeze_layout(draw(self, quantities, against, xscale, yscale))

    def numbers(self, quantity: str) -> list[float]:
        """Read a number of every result.

        Parameters
        ----------
        quantity : str
            Path of a number, or a claim.

        Returns
        -------
        list of float
            In the order of the sweep.

        Raises
        ------
        AnalysisError
            If the quantity is a series.
        """
        if quantity in self.table and quantity not in self.keys:
            return list(self.table[quantity])
        values = self.gather(quantity)
        if not all(isinstance(value, Real) for value in values):
            raise AnalysisError(f"'{quantity}' is a series; a statistic makes it a number, as in '{quantity}.last'")
        return values

    def errors(self, quantity: str) -> list[float]:
        """Errors of a number of every result: the variable `<variable>_error` of the file, or a claim's uncertainty.

        Parameters
        ----------
        quantity : str
            Path of a number, or a claim.

        Returns
        -------
        list of float
            NaN where there is none.
        """
        errors = [error for _, error in self._quantities(quantity)]
        return [float("nan") if error is None else float(error[0]) for error in errors]


def open_sweep(files: str | os.PathLike | Iterable[str | os.PathLike]) -> Sweep:
    """Open the results of a sweep.

    Parameters
    ----------
    files : str, path-like or iterable of path-like
        A pattern such as "out/sw.*.h5", a folder, or files and folders. Checkpoints are left out.

    Returns
    -------
    Sweep
        In the order of the sweep.

    Raises
    ------
    AnalysisError
        If there is no file, or one cannot be read.
    """
    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    if given == [files] and not os.path.exists(files):
        given = sorted(glob.glob(os.fspath(files)))
    paths = files_of_sweep(given)
    if not paths:
        raise AnalysisError(f"{os.fspath(files) if isinstance(files, str | os.PathLike) else 'the list'}: no result files")
    results = [RunResult(path) for path in paths]
    results.sort(key=lambda result: sweep_order_key(result.settings, str(result.attributes.get("recipe", ""))))
    sweep = Sweep([result.path for result in results])
    sweep.results = results
    return sweep


def files_of_sweep(paths):
    """The result files among files and folders.

    Parameters
    ----------
    paths : iterable of path-like
        Files, and folders that contain files.

    Returns
    -------
    list of str
        Files as given, and those of folders in the order of their names, without checkpoints.
    """
    files = []
    for path in map(os.fspath, paths):
        files += sorted(glob.glob(os.path.join(glob.escape(path), "*.h5"))) if os.path.isdir(path) else [path]
    return [path for path in files if ".checkpoint." not in os.path.basename(path)]


def _error_of(result, quantity):
    """Values, units, description and scale of the variable beside a quantity that has its error; None without one."""
    series, dot, statistic = quantity.rpartition(".")
    if statistic not in STATISTICS or result.has_variable(quantity):
        series, dot, statistic = quantity, "", ""
    elif statistic not in ("first", "last"):
        return None  # the error of another statistic does not follow from those of the values
    name, bracket, indices = series.partition("[")
    path = f"{name}_error{bracket}{indices}{dot}{statistic}"
    if not result.has_variable(f"{name}_error") or not result.has(path):
        return None
    error = result.read(path)
    return error.values, error.units, error.long_name, error.scale


def _coordinate(values):
    """Values of a key as a coordinate: numbers, truth values or texts; others as their texts in TOML."""
    for kind in (bool, Real, str):
        if all(isinstance(value, kind) for value in values):
            return np.array(values)
    return np.array([value if isinstance(value, str) else "" if value is None else inline_toml(value) for value in values])
