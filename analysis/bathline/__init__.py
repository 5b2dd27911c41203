"""Dissipative mechanics computed as closed conservative systems, from Python.

    import bathline

    result = bathline.run("limebeer2020/fig06", ranks=2, set={"time.end": 10.0})
    result["closed"].q.isel(particle=0).plot()     # an xarray Dataset for each integrator
    result.claims                                  # a pandas DataFrame
    result.plot()                                  # the recipe's figure

A recipe is a path, the name of one that comes along, its TOML text, or a dict of the same shape, whose values
may be numpy's.
"""

from bathline.datasets import Results, open
from bathline.failures import Failed, NumericalFailure, Stopped, UsageError
from bathline.program import check, run, sweep
from bathline.result import AnalysisError

__all__ = [
    "AnalysisError",
    "Failed",
    "NumericalFailure",
    "Results",
    "Stopped",
    "UsageError",
    "check",
    "open",
    "run",
    "sweep",
]
