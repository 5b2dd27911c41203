"""The statistics that a quantity may end in, as claims take them: "closed.q[0].max"."""

import numpy as np

STATISTICS = {
    "first": lambda values: values.flat[0],
    "last": lambda values: values.flat[-1],
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "rms": lambda values: np.sqrt(np.mean(values**2)),
    "max_abs": lambda values: np.max(np.abs(values)),
    "spread": np.ptp,
}
