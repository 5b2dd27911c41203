"""Files of quantities that are named as in recipes.

A quantity is named by a path, "<group>.<variable>[i][j]": "closed.energy_total", "open.q[0][1]" (particle 0, axis 1),
"reduction.closed.difference[0]". The indices select along the dimensions after the first; a dimension of length one
needs no index. A path that ends in a statistic, "closed.q[0].max", is a number, computed over all components that the
indices select. For variables that are no time series, a path with an index for every dimension is a number as well:
"covariance.open.qv[3][0]".
"""

import re
from dataclasses import dataclass, replace

import h5py
import numpy as np

from bathline.exceptions import AnalysisError, UnreadableError, report_read_errors
from bathline.statistic import STATISTICS
from bathline.values import as_python, natural_key


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


class QuantityFile:
    """An open HDF5 file whose variables are read by the paths of quantities.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    file : h5py.File
        The same, open.
    labels : list of str
        Names of the groups that come first.
    """

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

    @report_read_errors
    def group_attribute(self, group, name):
        """An attribute of a group as text; empty if there is none.

        Parameters
        ----------
        group : str
            Path of the group, with dots or slashes.
        name : str
            Name of the attribute.

        Returns
        -------
        str
            Its text.
        """
        item = self.file.get(group) or self.file.get(group.replace(".", "/"))
        return "" if item is None else _text(item, name)

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

        parts = path.replace("/", ".").split(".")
        return search(self.file, parts) if all(parts) else None

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
