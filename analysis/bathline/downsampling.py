"""Reduction of long series to the resolution of a figure, keeping all extreme values."""

import numpy as np

BUCKETS = 2000  # about three per pixel of a journal column at 200 dpi


def downsample(x, y, log_x=False, buckets=BUCKETS):
    """Indices of the points to draw: of each bucket its first and last point and the extremes of x and y.

    Where x increases strictly, the buckets have equal width in the figure; otherwise, as for an orbit, they hold equal
    numbers of points. Non-finite points are kept, so that gaps remain.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Coordinates of the points.
    log_x : bool
        Whether the horizontal axis is logarithmic.
    buckets : int
        Number of buckets. Series of at most `6 * buckets` points are returned whole.

    Returns
    -------
    ndarray of int
        Increasing indices.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    size = len(x)
    if size <= 6 * buckets:
        return np.arange(size)

    bucket = np.arange(size) * buckets // size
    if np.all(np.diff(x) > 0):
        with np.errstate(divide="ignore", invalid="ignore"):
            position = np.log(np.maximum(x, x[x > 0].min(initial=np.inf))) if log_x and np.any(x > 0) else x
        fraction = (position - position[0]) / (position[-1] - position[0])
        bucket = np.minimum(fraction * buckets, buckets - 1).astype(int)

    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    ends = np.append(starts[1:], size) - 1
    kept = [starts, ends, np.flatnonzero(~(np.isfinite(x) & np.isfinite(y)))]
    for values in (x, y):
        # Sorted by value within each bucket, the first and the last index are the extremes.
        kept.append(np.lexsort((np.where(np.isfinite(values), values, np.inf), bucket))[starts])
        kept.append(np.lexsort((np.where(np.isfinite(values), values, -np.inf), bucket))[ends])
    return np.unique(np.concatenate(kept))


def marker_indices(x, y, count=36):
    """Indices of points for markers at about equal arc length along the drawn path.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Coordinates of the points; each is scaled by its range before the arc length is computed.
    count : int
        Number of markers. Paths of at most `2 * count` points are returned whole.

    Returns
    -------
    ndarray of int
        Increasing indices.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) <= 2 * count:
        return np.arange(len(x))
    squared_lengths = np.zeros(len(x))
    for values in (x, y):
        finite = values[np.isfinite(values)]
        extent = np.ptp(finite) if len(finite) else 0.0
        increments = np.nan_to_num(np.diff(values)) / (extent or 1.0)
        squared_lengths[1:] += increments**2
    arc_length = np.cumsum(np.sqrt(squared_lengths))
    return np.unique(np.searchsorted(arc_length, np.linspace(0.0, arc_length[-1], count)).clip(max=len(x) - 1))
