"""Errors against work, on logarithmic axes: `figure.kind = "work"`.

The panels are those of the kind `convergence`, drawn over `work`, the components of forces that a run has evaluated: which
method reaches an accuracy with the least of them?
"""

from bathline.default_figures import error_panels
from bathline.figure_kinds import convergence
from bathline.result_file import AnalysisError


def draw(result, spec):
    """The figure of all panels."""
    panels = [{**panel, "x": "work"} for panel in spec.get("panels") or []] or error_panels(result, "work")
    if not panels:
        raise AnalysisError(f"{result.path}: the group 'convergence' has no errors with their work to draw")
    return convergence.draw(result, {**spec, "panels": panels})
