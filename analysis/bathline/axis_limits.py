"""Axis limits when some paths diverge, and values too large to be drawn."""

import numpy as np

# matplotlib's logarithmic axes have no usable tick labels beyond this magnitude.
MAX_DRAWABLE = 1e200
# A path is left out of the limits when its range exceeds this multiple of the median path's range and size: the first
# factor for paths that grow faster than linearly, the second for all others.
DIVERGENCE_FACTOR = 10.0
BOUNDED_FACTOR = 100.0
# A path grows faster than linearly if its maximal displacement in the first half is below this fraction of the maximum.
MAX_FRACTION_AT_HALF = 0.4


def mask_undrawable(values):
    """Replace values too large to be drawn by NaN.

    Parameters
    ----------
    values : ndarray
        Values of any shape.

    Returns
    -------
    ndarray
        The same shape, with NaN where `abs(values) > MAX_DRAWABLE`.
    """
    return np.where(np.abs(values) <= MAX_DRAWABLE, values, np.nan)


def common_limits(paths):
    """Limits of an axis that shows all paths except diverging ones.

    Parameters
    ----------
    paths : list of (ndarray, ndarray)
        Times and values of each path, one-dimensional; NaN is ignored.

    Returns
    -------
    list of float or None
        Lower and upper limit with a margin of 5 %; None if no path diverges, so that automatic limits apply.
    """
    ranges, ends, factors = [], [], []
    for time, values in paths:
        finite = np.isfinite(values)
        ranges.append((values[finite].min(), values[finite].max()) if finite.any() else (0.0, 0.0))
        ends.append(time[finite].max() if finite.any() else -np.inf)
        factors.append(DIVERGENCE_FACTOR if _grows_superlinearly(values[finite]) else BOUNDED_FACTOR)
    # The median is taken over complete paths only: the range of a run that failed early is no scale for the others.
    complete = np.array(ends) == max(ends)
    extents, sizes = np.ptp(ranges, axis=1), np.max(np.abs(ranges), axis=1)
    median = (np.count_nonzero(complete) - 1) // 2
    bounded = extents <= np.array(factors) * max(np.sort(extents[complete])[median], np.sort(sizes[complete])[median])
    if bounded.all():
        return None
    low, high = np.min(np.array(ranges)[bounded]), np.max(np.array(ranges)[bounded])
    if low == high:
        return None
    return [low - 0.05 * (high - low), high + 0.05 * (high - low)]


def _grows_superlinearly(values):
    displacement = np.abs(values - values[:1])
    count = len(displacement)
    return count > 1 and displacement[: count // 2].max() < MAX_FRACTION_AT_HALF * displacement.max()
