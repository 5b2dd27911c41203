"""Oscillations that are too many for the width of a panel: found, and cut down to what they reach."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# Stripes of a panel, each some ten dots of a picture wide.
STRIPES = 60
# Lines to and fro within a stripe, those of all curves, that leave no paper between them; a curve with no more than the
# least leaves enough for others.
MOST_LINES = 3.0
LEAST_LINES = 1.7
# This part of a panel is too much to be a solid area.
SOLID = 1 / 3
# Stripes on both sides of one where its curve is taken to swing as far.
NEAR = 2
# Swings smaller than this part of the panel are no more than a thick line.
LEAST_SWING = 0.02
COLUMNS = 300
# Of each column of a band, so that one with few samples a period reaches as far as the others.
TURNS_OF_COLUMN = 4
# Turns that tell a period well.
ENOUGH_TURNS = 16


def dense(curves, log=False, height=None):
    """For each of the curves in a panel, values equally wide apart, whether it is part of what would be a solid area there.

    height  of the panel, in the units of the values; left out, as high as the curves need
    """
    curves = [_shown(values, log) for values in curves]
    height = height or max((np.ptp(values) for values in curves if len(values)), default=0.0)
    lines = np.array([_lines(values, height) for values in curves])
    lines = np.where(lines > LEAST_LINES, lines, 0.0)
    solid = lines.sum(axis=0) > MOST_LINES
    if np.mean(solid) <= SOLID:
        return [False] * len(curves)
    return [bool(np.mean(own[solid] > 0) > SOLID) for own in lines]


def _shown(values, log):
    """The values as heights in a panel, without those that it does not show."""
    values = np.asarray(values, dtype=float)
    if log:
        values = np.log10(np.abs(np.where(values == 0, np.nan, values)))
    return values[np.isfinite(values)]


def _lines(values, height):
    """How many lines to and fro a curve draws in each stripe of a panel of this height."""
    if len(values) < 4 * STRIPES:
        return np.zeros(STRIPES)
    stripes = np.array_split(values, STRIPES)
    low, high = (np.pad([end(stripe) for stripe in stripes], NEAR, mode="edge") for end in (np.min, np.max))
    # A stripe may hold less than a swing.
    around = 2 * NEAR + 1
    swings = sliding_window_view(high, around).max(axis=1) - sliding_window_view(low, around).min(axis=1)
    lengths = np.array([steps.sum() for steps in np.array_split(np.abs(np.diff(values)), STRIPES)])
    return np.divide(lengths, swings, out=np.zeros(STRIPES), where=swings > LEAST_SWING * height)


def estimate_end_periods(time, values):
    """Estimates of the period at the start and at the end, from how often the values turn back there."""
    estimates = []
    for sign in (1, -1):
        count = max(len(values) // STRIPES, 4)
        # So few samples can be in a stripe that they turn back once or twice.
        while _turns(values[::sign][:count]) < ENOUGH_TURNS and 2 * count < len(values):
            count *= 2
        part = time[::sign][:count]
        estimates.append(2.0 * abs(part[-1] - part[0]) / max(_turns(values[::sign][:count]), 1))
    return estimates


def _turns(values):
    """How often the values turn back."""
    ways = np.sign(np.diff(values))
    return np.count_nonzero(ways[1:] * ways[:-1] < 0)


def reach(x, y, log_x=False):
    """Of every column of a panel where it is, and the least and the largest value in it; x grows."""
    with np.errstate(divide="ignore"):
        place = np.log(np.where(x > 0, x, np.nan)) if log_x else np.asarray(x, dtype=float)
    known = np.isfinite(place) & np.isfinite(y)
    x, y, place = np.asarray(x)[known], np.asarray(y)[known], place[known]
    if len(x) < 2:
        return x, y, y
    columns = min(max(_turns(y) // TURNS_OF_COLUMN, 1), COLUMNS)
    column = np.minimum((place - place[0]) / (place[-1] - place[0]) * columns, columns - 1).astype(int)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    middle = np.add.reduceat(x, starts) / np.diff(np.append(starts, len(x)))
    # From edge to edge.
    middle[0], middle[-1] = x[0], x[-1]
    return middle, np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
