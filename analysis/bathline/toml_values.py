"""Conversion of Python values to TOML, for recipes and for --set."""

import json
import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

import numpy as np
import tomli_w

from bathline.exceptions import UsageError

_ACCEPTED = "texts, numbers, True, False, paths, arrays of these, and lists and dicts of all of them"


def as_toml(value, key=""):
    """Convert a value to types of TOML.

    Parameters
    ----------
    value : object
        Text, number, path, array, list or dict.
    key : str
        Key of the value, for error messages.

    Returns
    -------
    str, bool, int, float, list or dict

    Raises
    ------
    UsageError
        If a value has no type in TOML; the message names its key.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {_name(name, key): as_toml(item, _join(key, name)) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [as_toml(item, _join(key, index)) for index, item in enumerate(value)]
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        index = np.argwhere(np.ma.getmaskarray(value))[0]
        raise UsageError(
            f"{'.'.join([key, *map(str, index)])}: this element is masked and has no value; fill it, as with filled(0.0)",
            2,
        )
    # This includes pandas Series and xarray DataArrays. Dates are excluded, since they would silently become numbers.
    if hasattr(value, "__array__") and (array := np.asarray(value)).dtype.kind in "biufUO":
        return as_toml(array.tolist(), key)
    raise UsageError(f"{key}: {_describe(value)} cannot be stored in a recipe, which accepts {_ACCEPTED}", 2)


def inline_toml(value):
    """Format a value as TOML on one line.

    Parameters
    ----------
    value : str, bool, int, float, list or dict
        A value returned by `as_toml`.

    Returns
    -------
    str
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {inline_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline_toml, value)) + "]"
    return tomli_w.dumps({"value": value}).removeprefix("value = ").strip()


def _name(name, key):
    if not isinstance(name, str):
        raise UsageError(f"{_join(key, name)}: keys must be texts, not {_describe(name)}", 2)
    return str(name)


def _join(key, name):
    return f"{key}.{name}" if key else str(name)


def _describe(value):
    if value is None:
        return "None"
    dtype = getattr(value, "dtype", None)
    return f"a value of type {type(value).__name__}" + (f" ({dtype})" if dtype is not None else "")
