"""Values from Python as a recipe holds them, and as --set takes them."""

import json
import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

import numpy as np
import tomli_w

from bathline.exceptions import UsageError

_TAKEN = "texts, numbers, True, False, paths, arrays of these, and lists and dicts of all of them"


def as_toml(value, key=""):
    """A value in types that TOML has; UsageError naming the key inside `key` whose value has none."""
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
        return [as_toml(item, _join(key, place)) for place, item in enumerate(value)]
    # Series of pandas and arrays of xarray are arrays in this sense, too. Dates would silently become numbers.
    if hasattr(value, "__array__") and (array := np.asarray(value)).dtype.kind in "biufUO":
        return as_toml(array.tolist(), key)
    raise UsageError(f"{key}: {_what(value)} has no place in a recipe, which takes {_TAKEN}", 2)


def on_one_line(value):
    """What `as_toml` has returned, as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {on_one_line(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(on_one_line, value)) + "]"
    return tomli_w.dumps({"value": value}).removeprefix("value = ").strip()


def _name(name, key):
    if not isinstance(name, str):
        raise UsageError(f"{_join(key, name)}: keys are texts, not {_what(name)}", 2)
    return str(name)


def _join(key, name):
    return f"{key}.{name}" if key else str(name)


def _what(value):
    if value is None:
        return "None"
    dtype = getattr(value, "dtype", None)
    return f"a value of type {type(value).__name__}" + (f" ({dtype})" if dtype is not None else "")
