"""What a sweep has set for a result, and the place of the result in the sweep."""

import json
import tomllib
from numbers import Real

from bathline.result_file import natural_key


def settings_of(text):
    """The lines `time.step=0.1` of an attribute `sweep_settings` as a dict; a value that is no TOML stays a text."""
    settings = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        try:
            settings |= tomllib.loads(f"{json.dumps(key)} = {value}")
        except tomllib.TOMLDecodeError:
            settings[key] = value
    return settings


def sweep_order_key(settings, recipe):
    """A key to sort results of one sweep by: the places of their values in the table `sweep` of the recipe's text.

    Values that are not listed there, as those of `--set sweep=...`, come in the order of their size.
    """
    try:
        listed = tomllib.loads(recipe).get("sweep", {})
    except tomllib.TOMLDecodeError:
        listed = {}
    return [_place(value, _find(listed, key)) for key, value in sorted(settings.items())]


def _find(table, key):
    """The list of a key like "time.step", written in quotes, with dots or as tables; empty where there is none."""
    if isinstance(table.get(key), list):
        return table[key]
    head, _, rest = key.partition(".")
    return _find(table[head], rest) if rest and isinstance(table.get(head), dict) else []


def _place(value, values):
    if value in values:
        return 0, values.index(value), []
    return (1, value, []) if isinstance(value, Real) else (2, 0, natural_key(value))
