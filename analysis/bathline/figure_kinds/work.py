"""Errors against work, on logarithmic axes: `figure.kind = "work"`.

The panels are those of the kind `convergence` over `work`, the number of force components evaluated, which shows the
method that reaches an accuracy at the lowest cost.
"""

from bathline.default_figures import error_panels
from bathline.figure_kinds import convergence
from bathline.exceptions import AnalysisError


def draw(result, spec):
    """Draw the figure.

    Parameters
    ----------
    result : RunResult
        An open result.
    spec : dict
        The recipe's table `figure`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    AnalysisError
        If the file contains no errors with their work.
    """
    panels = [{**panel, "x": "work"} for panel in spec.get("panels") or []] or error_panels(result, "work")
    if not panels:
        raise AnalysisError(f"{result.path}: the group 'convergence' contains no errors with their work to draw")
    return convergence.draw(result, {**spec, "panels": panels})
