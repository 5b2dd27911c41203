"""Long series cut down to what a picture can show, without losing an extreme value."""

import numpy as np

BUCKETS = 2000  # about three per pixel of a journal column at 200 dpi


def downsample(x, y, log_x=False, buckets=BUCKETS):
    """The indices to draw, in order: of every stretch of the path its ends and the extremes of x and y.

    Where x only grows, the stretches are equally wide in the picture (on a logarithmic axis if `log_x`);
    otherwise, an orbit for instance, they hold equally many points. Points that are not numbers are kept,
    so that gaps stay.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    size = len(x)
    if size <= 6 * buckets:
        return np.arange(size)

    bucket = np.arange(size) * buckets // size
    if np.all(np.diff(x) > 0):
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.log(np.maximum(x, x[x > 0].min(initial=np.inf))) if log_x and np.any(x > 0) else x
        bucket = np.minimum((place - place[0]) / (place[-1] - place[0]) * buckets, buckets - 1).astype(int)

    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    ends = np.append(starts[1:], size) - 1
    kept = [starts, ends, np.flatnonzero(~(np.isfinite(x) & np.isfinite(y)))]
    for values in (x, y):
        # Sorted by value within each bucket, its first and last are the extremes.
        kept.append(np.lexsort((np.where(np.isfinite(values), values, np.inf), bucket))[starts])
        kept.append(np.lexsort((np.where(np.isfinite(values), values, -np.inf), bucket))[ends])
    return np.unique(np.concatenate(kept))


def marker_indices(x, y, count=36):
    """The indices of about `count` points at equal distances along the drawn path, for markers."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) <= 2 * count:
        return np.arange(len(x))
    length = np.zeros(len(x))
    for values in (x, y):
        finite = values[np.isfinite(values)]
        extent = np.ptp(finite) if len(finite) else 0.0
        step = np.nan_to_num(np.diff(values)) / (extent or 1.0)
        length[1:] += step**2
    path = np.cumsum(np.sqrt(length))
    return np.unique(np.searchsorted(path, np.linspace(0.0, path[-1], count)).clip(max=len(x) - 1))
