"""Oscillations too dense for the width of a panel: detection and reduction to their envelopes."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# Number of vertical stripes of a panel for the density estimate, each about ten pixels wide.
STRIPES = 60
# Strokes up or down within a stripe: above the first number, summed over all curves, a stripe is solid; a curve at or
# below the second leaves others visible and does not count.
SOLID_STROKES = 3.0
SPARSE_STROKES = 1.7
# Largest fraction of solid stripes in a panel whose curves are still drawn as lines.
MAX_SOLID_FRACTION = 1 / 3
# The range of a curve in a stripe is taken over this many stripes on both sides as well.
NEIGHBOURS = 2
# Ranges below this fraction of the panel's height are drawn as a thick line.
MIN_RANGE_FRACTION = 0.02
# Columns of an envelope, at most, and turning points for each column, so that one with few samples per period still
# contains a maximum and a minimum.
MAX_COLUMNS = 300
TURNING_POINTS_PER_COLUMN = 4
# Turning points needed for an estimate of the period.
MIN_TURNING_POINTS = 16


def find_dense_curves(curves, log=False, height=None):
    """Find the curves of a panel that would fill it as a solid area.

    Parameters
    ----------
    curves : list of array_like
        Values of each curve at equally spaced times, one-dimensional.
    log : bool
        Whether the vertical axis is logarithmic.
    height : float, optional
        Height of the panel in the units of the values (decades if `log`); by default the largest range of a curve.

    Returns
    -------
    list of bool
        For each curve whether it is to be drawn as a band.
    """
    curves = [_heights(values, log) for values in curves]
    height = height or max((np.ptp(values) for values in curves if len(values)), default=0.0)
    strokes = np.array([_strokes_per_stripe(values, height) for values in curves])
    strokes = np.where(strokes > SPARSE_STROKES, strokes, 0.0)
    solid = strokes.sum(axis=0) > SOLID_STROKES
    if np.mean(solid) <= MAX_SOLID_FRACTION:
        return [False] * len(curves)
    return [bool(np.mean(own[solid] > 0) > MAX_SOLID_FRACTION) for own in strokes]


def _heights(values, log):
    """Finite heights of the values on a linear or logarithmic axis."""
    values = np.asarray(values, dtype=float)
    if log:
        values = np.log10(np.abs(np.where(values == 0, np.nan, values)))
    return values[np.isfinite(values)]


def _strokes_per_stripe(values, height):
    """Path length divided by range in each stripe: the number of strokes up or down, shape (STRIPES,)."""
    if len(values) < 4 * STRIPES:
        return np.zeros(STRIPES)
    stripes = np.array_split(values, STRIPES)
    low, high = (np.pad([end(stripe) for stripe in stripes], NEIGHBOURS, mode="edge") for end in (np.min, np.max))
    # A single stripe may hold less than a period.
    window = 2 * NEIGHBOURS + 1
    ranges = sliding_window_view(high, window).max(axis=1) - sliding_window_view(low, window).min(axis=1)
    lengths = np.array([steps.sum() for steps in np.array_split(np.abs(np.diff(values)), STRIPES)])
    return np.divide(lengths, ranges, out=np.zeros(STRIPES), where=ranges > MIN_RANGE_FRACTION * height)


def estimate_end_periods(time, values):
    """Estimate the periods of an oscillation at its start and at its end from the turning points there.

    Parameters
    ----------
    time, values : ndarray, shape (n,)
        The path; times in any unit.

    Returns
    -------
    list of float
        The period at the start and at the end, in the unit of time.
    """
    estimates = []
    for sign in (1, -1):
        count = max(len(values) // STRIPES, 4)
        # With few samples per period, a short part may contain only one or two turning points.
        while _count_turning_points(values[::sign][:count]) < MIN_TURNING_POINTS and 2 * count < len(values):
            count *= 2
        part = time[::sign][:count]
        turning_points = _count_turning_points(values[::sign][:count])
        estimates.append(2.0 * abs(part[-1] - part[0]) / max(turning_points, 1))
    return estimates


def _count_turning_points(values):
    directions = np.sign(np.diff(values))
    return np.count_nonzero(directions[1:] * directions[:-1] < 0)


def envelope(x, y, log_x=False):
    """Lower and upper envelope of a series, one value in each column of the panel.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The series; x increases. Non-finite points are ignored.
    log_x : bool
        Whether the horizontal axis is logarithmic; the columns then have equal width in log x.

    Returns
    -------
    x, low, high : ndarray, shape (columns,)
        Mean of x, minimum and maximum of y in each column; the first and last x are those of the series.
    """
    with np.errstate(divide="ignore"):
        position = np.log(np.where(x > 0, x, np.nan)) if log_x else np.asarray(x, dtype=float)
    finite = np.isfinite(position) & np.isfinite(y)
    x, y, position = np.asarray(x)[finite], np.asarray(y)[finite], position[finite]
    if len(x) < 2:
        return x, y, y
    columns = min(max(_count_turning_points(y) // TURNING_POINTS_PER_COLUMN, 1), MAX_COLUMNS)
    fraction = (position - position[0]) / (position[-1] - position[0])
    column = np.minimum(fraction * columns, columns - 1).astype(int)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    middle = np.add.reduceat(x, starts) / np.diff(np.append(starts, len(x)))
    # The band extends from edge to edge.
    middle[0], middle[-1] = x[0], x[-1]
    return middle, np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
