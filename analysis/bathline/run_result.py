"""Result files as lazy xarray datasets, by the labels of their integrators."""

from collections.abc import Mapping
from pathlib import Path

from bathline.result_file import AnalysisError, ResultFile, report_read_errors
from bathline.sweep_settings import settings_of

_ENGINE = "h5netcdf"


class RunResult(Mapping):
    """An open result file: a mapping from labels of integrators and paths of other groups to xarray Datasets.

    Paths are those in the file, such as "convergence/closed". Values are read lazily and carry units and named
    coordinates. The file is closed at the end of a `with` statement, by `close`, or by the garbage collector.

    Parameters
    ----------
    path : path-like
        The result file.
    keep : object, optional
        An object to keep alive as long as the result, such as a temporary folder.

    Raises
    ------
    AnalysisError
        If the file cannot be read.
    """

    def __init__(self, path, keep=None):
        self.path = Path(path)
        # External links and damage are refused here, before xarray opens the file.
        self._result = ResultFile(self.path)
        self._datasets = {}
        self._tree = None
        self._keep = keep

    def __getitem__(self, name):
        if name not in self._datasets:
            if name not in self._names():
                raise KeyError(f"{name}; there are {', '.join(self._names())}")
            import xarray

            self._datasets[name] = self._open_with(xarray.open_dataset, group=name)
        return self._datasets[name]

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    @report_read_errors
    def _open_with(self, opener, **options):
        # Units such as "s" or "days" belong to numbers; xarray would make dates of them, cut to nanoseconds.
        return opener(self.path, engine=_ENGINE, decode_times=False, **options)

    def _names(self):
        return [name for name in self._result.groups_with_variables() if name != "claims"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def tree(self):
        """xarray.DataTree : The whole file, read lazily; AnalysisError if xarray has no DataTree."""
        import xarray

        if self._tree is None:
            if not hasattr(xarray, "open_datatree"):
                raise AnalysisError(f"this xarray has no DataTree; the groups are {', '.join(self)}")
            self._tree = self._open_with(xarray.open_datatree)
        return self._tree

    def close(self):
        """Close the file with all its datasets and its tree."""
        for dataset in [*self._datasets.values(), *([] if self._tree is None else [self._tree])]:
            dataset.close()
        self._result.__exit__(None, None, None)

    def __repr__(self):
        return f"<bathline.RunResult {self.path.name}: {self.title} ({self.status}); {', '.join(self._names())}>"

    @property
    def attributes(self):
        """dict : Title, status, versions and provenance."""
        return dict(self._result.attributes)

    @property
    def title(self):
        """str : Title of the recipe."""
        return self._result.title

    @property
    def status(self):
        """str : `complete`, `failed` or `partial`."""
        return self._result.status

    @property
    def recipe(self):
        """dict : The recipe with all defaults."""
        return self._result.recipe

    @property
    def settings(self):
        """dict : Values that a sweep has set for this result, by key."""
        return settings_of(str(self._result.attributes.get("sweep_settings", "")))

    @property
    def claims(self):
        """pandas.DataFrame : The claims, one row each; `problem` says why nothing was measured."""
        import pandas

        # Wide columns come last, because pandas omits the middle of a table wider than the terminal.
        columns = ["passed", "measured", "expected", "lower", "upper", "uncertainty"]
        columns += ["quantity", "source", "note", "problem"]
        rows = [{"name": claim.name, **{name: getattr(claim, name) for name in columns}} for claim in self._result.claims()]
        return pandas.DataFrame(rows, columns=["name", *columns]).set_index("name")

    def quantity(self, path):
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
        values = self._result.quantity(path).values
        return values.item() if values.ndim == 0 else values

    def plot(self):
        """Draw the recipe's figure, or the default figure of its study.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        AnalysisError
            If the file lacks what the figure shows.
        """
        from bathline.figure import draw
        from bathline.style import unfreeze_layout

        return unfreeze_layout(draw(self._result))


def open(path, keep=None):
    """Open a result file, complete or still being written.

    Parameters
    ----------
    path : path-like
        The result file.
    keep : object, optional
        An object to keep alive as long as the result, such as a temporary folder.

    Returns
    -------
    RunResult

    Raises
    ------
    AnalysisError
        If the file cannot be read.
    """
    return RunResult(path, keep)
