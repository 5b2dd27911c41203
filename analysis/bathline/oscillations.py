"""Oscillations that are too many for the width of a panel: found, and cut down to what they reach."""

import numpy as np

# Stripes of a panel, each some ten dots of a picture wide.
STRIPES = 60
# Lines to and fro within a stripe that leave no paper between them.
MOST_LINES = 3.0
# Swings smaller than this part of the whole are no more than a thick line.
LEAST_SWING = 0.02
COLUMNS = 300


def is_dense(values, log=False):
    """Whether a line through these values, equally wide apart, would be a solid area over a third of its panel."""
    values = np.asarray(values, dtype=float)
    if log:
        values = np.log10(np.abs(np.where(values == 0, np.nan, values)))
    values = values[np.isfinite(values)]
    if len(values) < 4 * STRIPES or np.ptp(values) == 0:
        return False
    stripes = np.array_split(values, STRIPES)
    swings = np.array([np.ptp(stripe) for stripe in stripes])
    lines = np.array([np.abs(np.diff(stripe)).sum() for stripe in stripes])
    return np.mean((lines > MOST_LINES * swings) & (swings > LEAST_SWING * np.ptp(values))) > 1 / 3


def periods_at_ends(time, values):
    """Estimates of the period in the first stripe and in the last, from how often the values turn back."""
    estimates = []
    count = max(len(values) // STRIPES, 4)
    for part in (slice(None, count), slice(-count, None)):
        steps = np.diff(values[part])
        turns = np.count_nonzero(steps[1:] * steps[:-1] < 0)
        estimates.append(2.0 * (time[part][-1] - time[part][0]) / max(turns, 1))
    return estimates


def reach(x, y, log_x=False, columns=COLUMNS):
    """Of every column of a panel where it is, and the least and the largest value in it; x grows."""
    with np.errstate(divide="ignore"):
        place = np.log(np.where(x > 0, x, np.nan)) if log_x else np.asarray(x, dtype=float)
    known = np.isfinite(place) & np.isfinite(y)
    x, y, place = np.asarray(x)[known], np.asarray(y)[known], place[known]
    if len(x) < 2:
        return x, y, y
    column = np.minimum((place - place[0]) / (place[-1] - place[0]) * columns, columns - 1).astype(int)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    middle = np.add.reduceat(x, starts) / np.diff(np.append(starts, len(x)))
    # From edge to edge.
    middle[0], middle[-1] = x[0], x[-1]
    return middle, np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
