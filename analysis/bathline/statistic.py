"""The statistics that a quantity may end in, as claims take them: "closed.q[0].max"."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Statistic:
    """How a series becomes one number."""

    of: Callable  # the number, of the values; where `along` is true, of the values and those of their scale
    along: bool = False  # whether the scale of the first dimension matters
    units: Callable = lambda values, scale: values  # those of the number, of the units of values and scale


def _at(find):
    def place(values, scale):
        # argmin and argmax take NaN for an extreme value, whose place would be told as if it were one.
        return np.nan if np.isnan(values).any() else scale[find(values)]

    return Statistic(place, along=True, units=lambda values, scale: scale)


def _slope(values, scale):
    covariances = np.cov(scale, values)
    return covariances[0, 1] / covariances[0, 0]


def _per(values, scale):
    """Units of a slope: 'm' and 's' give 'm/s', 'kg/s' and 's' give '(kg/s)/s'."""
    if scale in ("", "1"):
        return values
    above = f"({values})" if "/" in values else values or "1"
    return f"{above}/({scale})" if set(scale) & set(" /*") else f"{above}/{scale}"


STATISTICS = {
    "first": Statistic(lambda values: values.flat[0]),
    "last": Statistic(lambda values: values.flat[-1]),
    "min": Statistic(np.min),
    "max": Statistic(np.max),
    "min_at": _at(np.argmin),
    "max_at": _at(np.argmax),
    "mean": Statistic(np.mean),
    "rms": Statistic(lambda values: np.sqrt(np.mean(values**2))),
    "max_abs": Statistic(lambda values: np.max(np.abs(values))),
    "peak_to_peak": Statistic(np.ptp),
    "slope": Statistic(_slope, along=True, units=_per),
    "count": Statistic(np.size, units=lambda values, scale: "1"),
}
