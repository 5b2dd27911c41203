"""Values that run away, out of what can be drawn or out of the panel of those that do not."""

import numpy as np

# Logarithmic axes of more have ticks that are no numbers any longer.
LARGEST = 1e200
# An axis shows all paths, but those that grow faster and faster and swing so many times as far as the middle one, or as
# that one is large; any other may be larger, until nothing would be seen of the middle one.
RUNAWAY = 10.0
LARGEST_BOUNDED = 100.0
# What grows faster and faster has come no farther than this part of its way after half its time.
MOST_AT_HALF = 0.4


def drawable(values):
    """The values, those that are too large for any picture replaced by gaps."""
    return np.where(np.abs(values) <= LARGEST, values, np.nan)


def limits(paths):
    """The ends of an axis that shows all of these paths, pairs of times and values, but those that run away.

    None where none does, which is what an axis shows by itself."""
    ranges, ends, most = [], [], []
    for time, values in paths:
        known = np.isfinite(values)
        ranges.append((values[known].min(), values[known].max()) if known.any() else (0.0, 0.0))
        ends.append(time[known].max() if known.any() else -np.inf)
        most.append(RUNAWAY if _grows(values[known]) else LARGEST_BOUNDED)
    # Of a run that failed early the swings say nothing of how far the others get until the end.
    whole = np.array(ends) == max(ends)
    swings, sizes = np.ptp(ranges, axis=1), np.max(np.abs(ranges), axis=1)
    middle = (np.count_nonzero(whole) - 1) // 2
    calm = swings <= np.array(most) * max(np.sort(swings[whole])[middle], np.sort(sizes[whole])[middle])
    if calm.all():
        return None
    low, high = np.min(np.array(ranges)[calm]), np.max(np.array(ranges)[calm])
    if low == high:
        return None
    return [low - 0.05 * (high - low), high + 0.05 * (high - low)]


def _grows(values):
    """Whether these values depart from their start faster and faster."""
    way = np.abs(values - values[:1])
    return len(way) > 1 and way[: len(way) // 2].max() < MOST_AT_HALF * way.max()
