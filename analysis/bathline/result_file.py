"""Result files: datasets, recipe, claims and figure of a run."""

import html
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import h5py

from bathline.claim import Claim, read_claims
from bathline.exceptions import AnalysisError, UnreadableError, report_read_errors
from bathline.external_links import refuse_external_links
from bathline.quantity_file import QuantityFile
from bathline.values import as_python

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import numpy as np
    import pandas
    import xarray


class RunResult(QuantityFile, Mapping):
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
        self._datasets, self._tree, self._claims, self._keep = {}, None, None, keep
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
    def claim_list(self) -> list[Claim]:
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
        claims = self._claims or read_claims(self.file)
        if self.status == "complete":  # it does not change any more
            self._claims = claims
        return list(claims)

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
