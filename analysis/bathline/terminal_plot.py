"""Curves as text for terminals, with the eight dots of Braille characters."""

import numpy as np

# Bits of the dots in U+2800 to U+28FF, by column and row.
_DOTS = np.array([[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]])


def braille_curve(x, y, width, height):
    """Draw the curve y(x) with Braille characters over the whole ranges of x and y.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The curve; non-finite points are gaps.
    width, height : int
        Size in characters.

    Returns
    -------
    list of str
        `height` lines of `width` characters.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    columns, rows = 2 * width, 4 * height
    finite = np.isfinite(x) & np.isfinite(y)
    dots = np.zeros((columns, rows), dtype=bool)
    if finite.any():
        column_of_point = _bin_indices(x, finite, columns)
        row_of_point = rows - 1 - _bin_indices(y, finite, rows)
        previous = None
        for column in np.unique(column_of_point[finite]):
            rows_in_column = row_of_point[finite & (column_of_point == column)]
            low, high = rows_in_column.min(), rows_in_column.max()
            if previous is not None:
                # Steep parts have no gaps: each column extends to the last row of the column before it.
                low, high = min(low, previous), max(high, previous)
            dots[column, low : high + 1] = True
            previous = rows_in_column[-1]
    cells = dots.reshape(width, 2, height, 4)
    codes = 0x2800 + np.einsum("ajbk,jk->ba", cells.astype(int), _DOTS)
    return ["".join(map(chr, row)) for row in codes]


def _bin_indices(values, finite, size):
    """Index of each value among `size` equal bins of the range; 0 for non-finite values."""
    low, high = values[finite].min(), values[finite].max()
    fraction = (np.where(finite, values, low) - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return np.minimum(fraction * size, size - 1).astype(int)
