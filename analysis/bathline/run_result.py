"""Result files as lazy xarray datasets, by the labels of their integrators."""

from collections.abc import Mapping
from pathlib import Path

from bathline.result_file import AnalysisError, ResultFile, reading
from bathline.sweep_settings import settings_of

_ENGINE = "h5netcdf"


class RunResult(Mapping):
    """An open result file: a mapping from an integrator's label, or another group's path, to an xarray Dataset.

    Paths are those in the file, such as "convergence" or "memory-kernel/closed/line". Values are read when they are used, and carry units and names of coordinates. Use it in a `with` statement, or
    `close` it, or leave it to the garbage collector.
    """

    def __init__(self, path, keep=None):
        self.path = Path(path)
        # Foreign parts and damage are refused here, before xarray sees the file.
        self._result = ResultFile(self.path)
        self._datasets = {}
        self._tree = None
        self._keep = keep

    def __getitem__(self, name):
        if name not in self._datasets:
            if name not in self._names():
                raise KeyError(f"{name}; there are {', '.join(self._names())}")
            import xarray

            self._datasets[name] = self._opened(xarray.open_dataset, group=name)
        return self._datasets[name]

    def __iter__(self):
        return iter(self._names())

    def __len__(self):
        return len(self._names())

    @reading
    def _opened(self, opener, **options):
        return opener(self.path, engine=_ENGINE, **options)

    def _names(self):
        return [name for name in self._result.groups_with_variables() if name != "claims"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def tree(self):
        """The whole file as a lazy xarray DataTree; AnalysisError where xarray is older than these."""
        import xarray

        if self._tree is None:
            if not hasattr(xarray, "open_datatree"):
                raise AnalysisError(f"this xarray has no DataTree; the groups are {', '.join(self)}")
            self._tree = self._opened(xarray.open_datatree)
        return self._tree

    def close(self):
        """Closes the file, and every dataset and the tree of it."""
        for opened in [*self._datasets.values(), *([] if self._tree is None else [self._tree])]:
            opened.close()
        self._result.__exit__(None, None, None)

    def __repr__(self):
        return f"<bathline.Results {self.path.name}: {self.title} ({self.status}); {', '.join(self._names())}>"

    @property
    def attributes(self):
        """Title, status, versions and provenance, as a dict."""
        return dict(self._result.attributes)

    @property
    def title(self):
        return self._result.title

    @property
    def status(self):
        """`complete`, `failed` or `partial`."""
        return self._result.status

    @property
    def recipe(self):
        """The recipe with all defaults, as a dict."""
        return self._result.recipe

    @property
    def settings(self):
        """What a sweep has set for this result: a dict by key, its values as TOML has them."""
        return settings_of(str(self._result.attributes.get("sweep_settings", "")))

    @property
    def claims(self):
        """The claims as a pandas DataFrame, a row a claim, indexed by its id; `problem` says why nothing was measured."""
        import pandas

        # What is wide comes last, as pandas leaves out what is in the middle of a table wider than the terminal.
        columns = ["passed", "measured", "expected", "lower", "upper", "uncertainty", "quantity", "source", "note", "problem"]
        rows = [{"name": claim.name, **{name: getattr(claim, name) for name in columns}} for claim in self._result.claims()]
        return pandas.DataFrame(rows, columns=["name", *columns]).set_index("name")

    def quantity(self, path):
        """One quantity by the path that figures use, such as "closed.q[0][1]"; a number or a numpy array."""
        values = self._result.quantity(path).values
        return values.item() if values.ndim == 0 else values

    def plot(self):
        """The figure of the recipe, or else the one that its study calls for, as a matplotlib Figure."""
        from bathline.figure import draw
        from bathline.style import free_layout

        return free_layout(draw(self._result))


def open(path, keep=None):
    """Opens a result file, complete or still being written; raises AnalysisError where it is none.

    keep  an object that lives as long as what is returned, such as a temporary folder
    """
    return RunResult(path, keep)
