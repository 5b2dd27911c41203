"""Curves as text, for terminals: eight dots in every character."""

import numpy as np

# The dots of U+2800 by column and row.
_DOTS = np.array([[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]])


def curve(x, y, width, height):
    """`height` lines of `width` characters with the curve y(x), which fill the range of either; gaps where not finite."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    columns, rows = 2 * width, 4 * height
    seen = np.isfinite(x) & np.isfinite(y)
    dots = np.zeros((columns, rows), dtype=bool)
    if seen.any():
        place = _scaled(x, seen, columns)
        level = rows - 1 - _scaled(y, seen, rows)
        previous = None
        for column in np.unique(place[seen]):
            here = level[seen & (place == column)]
            low, high = here.min(), here.max()
            if previous is not None:
                # Steep pieces have no holes: each column reaches to where the one before it ended.
                low, high = min(low, previous), max(high, previous)
            dots[column, low : high + 1] = True
            previous = here[-1]
    cells = dots.reshape(width, 2, height, 4)
    codes = 0x2800 + np.einsum("ajbk,jk->ba", cells.astype(int), _DOTS)
    return ["".join(map(chr, row)) for row in codes]


def _scaled(values, seen, size):
    """The place of each value among `size` equal parts of the range; those that are not seen are at 0."""
    low, high = values[seen].min(), values[seen].max()
    part = (np.where(seen, values, low) - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return np.minimum(part * size, size - 1).astype(int)
