"""The statistics that may end the path of a quantity, the same as in claims: "closed.q[0].max"."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Statistic:
    """A reduction of a series to one number.

    Attributes
    ----------
    of : callable
        The number, computed from the values or, if `along`, from the values and the scale, both of shape (n,).
    along : bool
        Whether the scale of the first dimension is an argument.
    units : callable
        The units of the number, computed from the units of the values and of the scale.
    """

    of: Callable
    along: bool = False
    units: Callable = lambda values, scale: values


def _position_of(find):
    def position(values, scale):
        # argmin and argmax would return the index of a NaN as if it were an extreme value.
        return np.nan if np.isnan(values).any() else scale[find(values)]

    return Statistic(position, along=True, units=lambda values, scale: scale)


def _slope(values, scale):
    covariances = np.cov(scale, values)
    return covariances[0, 1] / covariances[0, 0]


def _divide_units(values, scale):
    """Units of a slope: 'm' and 's' give 'm/s', 'kg/s' and 's' give '(kg/s)/s'."""
    if scale in ("", "1"):
        return values
    numerator = f"({values})" if "/" in values else values or "1"
    return f"{numerator}/({scale})" if set(scale) & set(" /*") else f"{numerator}/{scale}"


STATISTICS = {
    "first": Statistic(lambda values: values.flat[0]),
    "last": Statistic(lambda values: values.flat[-1]),
    "min": Statistic(np.min),
    "max": Statistic(np.max),
    "min_at": _position_of(np.argmin),
    "max_at": _position_of(np.argmax),
    "mean": Statistic(np.mean),
    "rms": Statistic(lambda values: np.sqrt(np.mean(values**2))),
    "max_abs": Statistic(lambda values: np.max(np.abs(values))),
    "peak_to_peak": Statistic(np.ptp),
    "slope": Statistic(_slope, along=True, units=_divide_units),
    "count": Statistic(np.size, units=lambda values, scale: "1"),
}
