"""The claims of a result file."""

from dataclasses import dataclass

import h5py
import numpy as np

from bathline.exceptions import AnalysisError
from bathline.values import as_python, format_number


@dataclass(frozen=True)
class Claim:
    """A claim of a recipe with its measured value.

    Attributes are named as in the recipe. `problem` says why nothing was measured, or what is unexpected; `uncertainty`
    is that derived in the recipe. `supported` is false if the recipe marks a statement of a paper as contradicted by
    the numbers; such a claim passes when the statement does not hold.
    """

    name: str
    quantity: str = ""
    source: str = ""
    note: str = ""
    problem: str = ""
    measured: float = float("nan")
    expected: float = float("nan")
    lower: float = float("-inf")
    upper: float = float("inf")
    uncertainty: float = float("nan")
    passed: bool = False
    supported: bool = True

    @property
    def verdict(self):
        """str : "PASS", "FAIL", or "not supported" for a claim that passes because a paper's statement does not hold."""
        if not self.passed:
            return "FAIL"
        return "PASS" if self.supported else "not supported"

    @property
    def accuracy(self):
        """str : The uncertainty to two digits; empty if the recipe gives none."""
        return f"{self.uncertainty:.2g}" if np.isfinite(self.uncertainty) else ""

    @property
    def target(self):
        """str : The expected value or the bounds, such as "79 ± 1.6" or "at most 3"."""
        has_lower, has_upper = np.isfinite(self.lower), np.isfinite(self.upper)
        if np.isfinite(self.expected):
            text = format_number(self.expected)
            below, above = self.expected - self.lower, self.upper - self.expected
            if not (has_lower and has_upper):
                return text
            if below == above == 0:
                return f"exactly {text}"
            if np.isclose(below, above, rtol=1e-6, atol=0.0):
                return f"{text} ± {above:.2g}"
            return f"{text} in [{format_number(self.lower)}, {format_number(self.upper)}]"
        if has_lower and has_upper:
            return f"[{format_number(self.lower)}, {format_number(self.upper)}]"
        if has_lower:
            return f"at least {format_number(self.lower)}"
        if has_upper:
            return f"at most {format_number(self.upper)}"
        return "any value"


# Values are converted because a file may contain any type under these names.
_CLAIM_TYPES = {name: field.type for name, field in Claim.__dataclass_fields__.items()}


def read_claims(file):
    """Read all claims of an open file.

    Parameters
    ----------
    file : h5py.File
        The file.

    Returns
    -------
    list of Claim
        Columns that the file lacks have their defaults; empty if it has no claims.

    Raises
    ------
    AnalysisError
        If a value has a wrong type.
    """
    group = file.get("claims")
    if not isinstance(group, h5py.Group) or "name" not in group:
        return []
    columns = {name: _column(group[name]) for name in Claim.__dataclass_fields__ if name in group}
    claims = []
    for row in range(len(columns["name"])):
        values = {name: column[row] for name, column in columns.items() if row < len(column)}
        try:
            claims.append(Claim(**{name: _CLAIM_TYPES[name](value) for name, value in values.items()}))
        except (TypeError, ValueError) as error:
            raise AnalysisError(f"{file.filename}: claim {row} cannot be read ({error})") from error
    return claims


def _column(dataset):
    """A column of the claims as a list of texts or floats."""
    values = dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) else dataset[()]
    return [as_python(value) for value in np.atleast_1d(values)]
