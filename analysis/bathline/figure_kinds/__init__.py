"""Kinds of figures: one module each, found by its name.

A module of this folder is a value of `figure.kind`. It has `draw(result, spec)`, which returns a matplotlib
Figure of the open `result.Result` according to the recipe's table `figure`; its docstring says what it draws.
"""

import importlib
import pkgutil


def names():
    """All kinds."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(kind):
    """The module of a kind; KeyError when there is none."""
    if kind not in names():
        raise KeyError(kind)
    return importlib.import_module(f"{__name__}.{kind}")
