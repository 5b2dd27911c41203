"""Dissipative mechanics computed as closed conservative systems, from Python.

For example::

    import bathline

    result = bathline.run("limebeer2020/fig06", ranks=2, overrides={"time.end": 10.0})
    result["closed"].q.isel(particle=0).plot()     # an xarray Dataset for each integrator
    result.claims                                  # a pandas DataFrame
    result.plot()                                  # the recipe's figure

A recipe is the path of a TOML file, the name of a recipe that is shipped with the program, TOML text, or a dict of
the same structure, whose values may be numpy arrays and scalars.
"""

import os

# Results are only read, and many cluster file systems do not support the locks of HDF5.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

from bathline.differentiation import Problem, gradient
from bathline.exceptions import AnalysisError, BathlineError, NumericalFailure, Stopped, UsageError
from bathline.result_file import RunResult
from bathline.runner import ImportedBath, check, import_bath, open, run, sweep
from bathline.sweeps import Sweep, open_sweep

__all__ = [
    "AnalysisError",
    "BathlineError",
    "ImportedBath",
    "NumericalFailure",
    "Problem",
    "RunResult",
    "Stopped",
    "Sweep",
    "UsageError",
    "check",
    "gradient",
    "import_bath",
    "open",
    "open_sweep",
    "run",
    "sweep",
]
