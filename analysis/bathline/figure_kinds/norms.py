"""Single numbers in rows, with the values printed in a paper: `figure.kind = "norms"`.

Draws `norm_difference` of every label in the group `energy-transfer` that exceeds round-off, on a logarithmic axis,
or the numbers named by
`figure.panels[0].series = [{of = "energy-transfer.variational.norm_difference", name = "variational", color = 0}]`.
A ring is the value that a claim on the same quantity expects, as printed in the paper.
"""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from bathline import legend, style
from bathline.exceptions import AnalysisError
from bathline.values import format_number


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
        If there are no numbers to draw, or a quantity is a series.
    """
    panel = (spec.get("panels") or [{}])[0]
    series = panel.get("series") or _default_series(result)
    if not series:
        raise AnalysisError(f"{result.path}: the group 'energy-transfer' contains no numbers to draw")
    expected = {claim.quantity: claim.expected for claim in result.claim_list() if np.isfinite(claim.expected)}

    width, height = spec.get("width") or style.COLUMN_WIDTH, spec.get("height") or 0.75 + 0.33 * len(series)
    figure = style.new_figure(width, height)
    axes = figure.subplots()
    axes.set_xscale(panel.get("xscale") or "log")
    quantities = [result.read(entry["of"]) for entry in series]
    printed = []
    for row, (entry, quantity) in enumerate(zip(series, quantities)):
        if quantity.values.ndim:
            raise AnalysisError(
                f"{result.path}: '{quantity.path}' is a series, but a figure of kind 'norms' needs numbers"
            )
        value, curve_style = float(quantity.values), style.style_of_series(result.recipe, entry, row)
        axes.plot([value], [row], linestyle="none", marker=curve_style.marker, markersize=4.5, color=curve_style.color)
        axes.annotate(
            format_number(float(f"{value:.5g}")),
            (value, row),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
        if quantity.path in expected:
            printed.append((expected[quantity.path], row))
    if printed:
        axes.plot(*zip(*printed), **_ring())

    axes.set_yticks(range(len(series)), [entry.get("name") or entry["of"] for entry in series])
    axes.set_ylim(len(series) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color="0.88", linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    _set_limits(
        axes, panel, [float(quantity.values) for quantity in quantities] + [value for value, _ in printed]
    )
    axes.set_xlabel(
        style.with_units(
            panel.get("xlabel") or quantities[0].long_name or quantities[0].path,
            quantities[0].units,
        )
    )
    axes.set_title(panel.get("title") or "")

    handles = [
        Line2D([], [], linestyle="none", marker="o", markersize=4.5, color="0.3", label="computed here")
    ]
    if printed:
        handles.append(
            Line2D(
                [],
                [],
                **_ring(),
                label="expected by the claim" if not result.recipe.get("paper") else "printed in the paper",
            )
        )
    legend.on_top(figure, handles, handlelength=1.2)
    return figure


def _default_series(result):
    """`norm_difference` of all labels except those that agree with theory to round-off."""
    paths = {label: f"energy-transfer.{label}.norm_difference" for label in result.groups("energy-transfer")}
    values = {label: float(result.read(path).values) for label, path in paths.items()}
    largest = max(values.values(), default=0.0)
    return [{"of": paths[label], "name": label} for label in paths if values[label] > 1e-9 * largest]


def _ring():
    return {
        "linestyle": "none",
        "marker": "o",
        "markersize": 9,
        "markerfacecolor": "none",
        "markeredgecolor": "0.3",
        "markeredgewidth": 0.8,
    }


def _set_limits(axes, panel, values):
    """Set limits about a decade around the values, with room at the right for their labels."""
    if panel.get("xlim"):
        axes.set_xlim(panel["xlim"])
    elif axes.get_xscale() == "log":
        positive = [value for value in values if value > 0] or [1.0]
        axes.set_xlim(10 ** np.floor(np.log10(min(positive))), 10 ** np.ceil(np.log10(max(positive)) + 0.5))
        axes.xaxis.set_major_locator(LogLocator(numticks=8))
