"""The settings of a sweep element, and the order of the results of a sweep."""

import json
import tomllib
from numbers import Real

from bathline.values import natural_key


def settings_of(text):
    """Parse an attribute `sweep_settings`.

    Parameters
    ----------
    text : str
        Lines such as `time.step=0.1`.

    Returns
    -------
    dict
        Values by key; a value that is not TOML remains a text.
    """
    settings = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        try:
            settings |= tomllib.loads(f"{json.dumps(key)} = {value}")
        except tomllib.TOMLDecodeError:
            settings[key] = value
    return settings


def value_in_recipe(recipe, key):
    """The value of a dotted key in a recipe.

    Parameters
    ----------
    recipe : dict
        The recipe with all defaults.
    key : str
        As in `--set`: elements of lists are named by their index, their `name` or, of integrators, their `method`.

    Returns
    -------
    object
        None if the recipe has no such key.
    """
    value = recipe
    for part in key.split("."):
        if isinstance(value, list):
            names = [item.get("name") or item.get("method") if isinstance(item, dict) else None for item in value]
            index = names.index(part) if part in names else int(part) if part.isdigit() else len(value)
            value = value[index] if index < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def sweep_order_key(settings, recipe):
    """Sort key for the results of one sweep: the positions of their values in the recipe's table `sweep`.

    Parameters
    ----------
    settings : dict
        Values of one result by key, as returned by `settings_of`.
    recipe : str
        Text of the recipe.

    Returns
    -------
    list
        Values that are not listed in the recipe, as those of `--set sweep=...`, follow in increasing order.
    """
    try:
        listed = tomllib.loads(recipe).get("sweep", {})
    except tomllib.TOMLDecodeError:
        listed = {}
    order, zipped = [], [keys for keys in listed.get("zip", []) if settings.keys() >= set(keys)]
    for key, value in sorted(settings.items()):
        group = next((keys for keys in zipped if key in keys), [key])
        if key == min(group):
            rows = list(zip(*(_listed_values(listed, name) for name in group)))
            own = tuple(settings[name] for name in group)
            order.append((0, rows.index(own), []) if own in rows else _value_order(value))
    return order


def _listed_values(table, key):
    """The list of a key such as "time.step", which may be quoted, dotted or nested; empty if there is none."""
    if isinstance(table.get(key), list):
        return table[key]
    head, _, rest = key.partition(".")
    return _listed_values(table[head], rest) if rest and isinstance(table.get(head), dict) else []


def _value_order(value):
    return (1, value, []) if isinstance(value, Real) else (2, 0, natural_key(value))
