"""Values of result files as values of Python, and how they are written and sorted."""

import re

import numpy as np


def as_python(value):
    """Convert an HDF5 attribute to a Python value.

    Parameters
    ----------
    value : object
        A value returned by h5py.

    Returns
    -------
    str, bool, int, float or list
        Bytes that are not UTF-8 are replaced by U+FFFD.
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        # h5py returns bytes that are not UTF-8 as surrogates, which cannot be encoded.
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, np.ndarray):
        return as_python(value.flat[0]) if value.size == 1 else [as_python(item) for item in value.ravel()]
    if isinstance(value, np.generic):
        return as_python(value.item())
    return value


def format_number(value):
    """Format a number to six significant digits.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    str
        With an exponent only where needed.
    """
    return f"{value:.6g}" if np.isfinite(value) else str(value)


def natural_key(text):
    """Sort key that compares digits as numbers: fig9 comes before fig10.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list
        Text and numbers alternately.
    """
    return [int(part) if part.isdigit() else part.lower() for part in re.split(r"(\d+)", str(text))]
