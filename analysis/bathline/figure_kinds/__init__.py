"""Kinds of figures: one module each, found by its name.

A module of this folder is a value of `figure.kind`. Its function `draw(result, spec)` returns the matplotlib Figure of
an open `result_file.RunResult` for the recipe's table `figure`; its docstring describes the figure.
"""

import importlib
import pkgutil


def names():
    """Names of all kinds.

    Returns
    -------
    list of str
        In alphabetical order.
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(kind):
    """Import the module of a kind.

    Parameters
    ----------
    kind : str
        A value of `figure.kind`.

    Returns
    -------
    module

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    if kind not in names():
        raise KeyError(kind)
    return importlib.import_module(f"{__name__}.{kind}")
