"""Figures of numbers of a sweep over one of its keys."""

from numbers import Real

import numpy as np
from matplotlib.lines import Line2D

from bathline import legend, style
from bathline.exceptions import AnalysisError
from bathline.statistic import STATISTICS
from bathline.toml_values import inline_toml

MAX_LABEL_LENGTH = 40  # characters that fit beside an axis
MAX_DIGITS = 8  # characters of a number that is written with all its digits


@style.context()
def draw(sweep, quantities, against, xscale, yscale):
    """Draw the figure of `Sweep.plot`, whose parameters and errors apply.

    Parameters
    ----------
    sweep : Sweep
        The results.
    quantities : sequence of str
        Paths of numbers, or claims.
    against : str
        A swept key.
    xscale, yscale : {"linear", "log"}
        Scales of the axes.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    AnalysisError
        As for `Sweep.plot`.
    """
    _check(sweep, quantities, against, xscale, yscale)
    figure = style.new_figure(style.COLUMN_WIDTH, 2.5)
    axes = figure.subplots()
    handles = _draw_curves(axes, sweep, quantities, against, xscale, yscale)
    legend.place(figure, [(axes, handles)])
    return figure


def draw_into(axes, sweep, quantities, against, xscale, yscale):
    """Draw the figure of `Sweep.plot` into axes, in the style of their figure.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The axes.
    sweep, quantities, against, xscale, yscale
        As for `draw`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure of the axes.
    """
    _check(sweep, quantities, against, xscale, yscale)
    handles = _draw_curves(axes, sweep, quantities, against, xscale, yscale)
    if handles:
        axes.legend(handles=handles)
    return axes.get_figure()


def _check(sweep, quantities, against, xscale, yscale):
    """Raise AnalysisError if there is nothing to draw, with the reason."""
    if against not in sweep.keys:
        raise AnalysisError(f"'{against}' was not swept; the swept keys are: {', '.join(sweep.keys) or 'none'}")
    if not quantities:
        raise AnalysisError("a quantity is needed, such as 'closed.energy_particles.last', or the name of a claim")
    for scale in (xscale, yscale):
        if scale not in ("linear", "log"):
            raise AnalysisError(f"'{scale}' is not a scale of an axis: these are 'linear' and 'log'")
    values = {quantity: np.array(sweep.numbers(quantity), dtype=float) for quantity in quantities}
    positions, names = _positions([settings[against] for settings in sweep.settings])
    if names and xscale == "log":
        raise AnalysisError(f"'{against}' has values that are no numbers, which a logarithmic axis needs")
    scales = [(quantity, yscale, numbers) for quantity, numbers in values.items()]
    scales += [] if names else [(against, xscale, np.array(positions, dtype=float))]
    for name, scale, numbers in scales:
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            problems = {claim.problem for result in sweep for claim in result.claim_list() if claim.name == name}
            reason = next(iter(problems - {""}), "")
            raise AnalysisError(f"'{name}' is not a finite number in any result" + (f": {reason}" if reason else ""))
        if scale == "log" and not np.any(finite > 0):
            raise AnalysisError(f"'{name}' has no positive value, which a logarithmic axis needs")


def _draw_curves(axes, sweep, quantities, against, xscale, yscale):
    """Draw the curves and label the axes; return the handles of the legend."""
    axes.set_xscale(xscale)
    axes.set_yscale(yscale)
    positions, names = _positions([settings[against] for settings in sweep.settings])
    if names:
        # Long names are rotated so that they do not overlap.
        rotation = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if sum(map(len, names)) > 40 else {}
        axes.set_xticks(range(len(names)), names, **rotation)
    curves = _curves(sweep, quantities, against, positions)
    handles = []
    for index, (name, quantity, points) in enumerate(curves):
        colour = {"color": index} if len(curves) > 1 else {}
        curve_style = style.style_of_series(sweep.results[0].recipe, {"of": quantity} | colour, index)
        line = style.line_properties(curve_style) | {"marker": curve_style.marker, "linewidth": 0.8}
        # Between two names there are no values to join by lines.
        line |= {"linestyle": "none"} if names else {}
        x, y, errors = map(np.array, zip(*sorted(points, key=lambda point: point[0])))
        axes.plot(x, y, **line)
        if np.isfinite(errors).any():
            axes.errorbar(x, y, errors, fmt="none", ecolor=line["color"], elinewidth=0.8, zorder=1.9)
        handles += [Line2D([], [], label=name, **line)] if name else []
    axes.set_xlabel(against)
    axes.set_ylabel(_common_label(sweep, quantities))
    for axis, scale in ((axes.xaxis, xscale), (axes.yaxis, yscale)):
        if scale == "log":
            style.label_short_decades(axis)
    return handles


def _curves(sweep, quantities, against, positions):
    """Name, quantity and points (position, number, error) of every curve; the name distinguishes it from the others."""
    curves, others = {}, sweep.keys_beside(against)
    for quantity in quantities:
        values = zip(sweep.settings, positions, sweep.numbers(quantity), sweep.errors(quantity))
        for settings, position, *value in values:
            rest = [f"{key} = {_text(settings[key])}" for key in others]
            name = ", ".join([quantity, *rest] if len(quantities) > 1 else rest)
            curves.setdefault((name, quantity), []).append((position, *value))
    return [(*key, points) for key, points in curves.items() if np.isfinite([y for _, y, _ in points]).any()]


def _positions(values):
    """Positions of values on an axis, and their names if they are not numbers."""
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return values, []
    texts = [_text(value) for value in values]
    names = list(dict.fromkeys(texts))
    return [names.index(text) for text in texts], names


def _text(value):
    """A value of a swept key as legends and axes name it: lists and truth values as in TOML."""
    if value is None or isinstance(value, str):
        return value or ""
    text = inline_toml(value)
    return f"{value:.6g}" if isinstance(value, float) and len(text) > MAX_DIGITS else text


def _common_label(sweep, quantities):
    """What all quantities have in common: the description, or else the units."""
    labels = {_label(sweep, quantity) for quantity in quantities}
    if len(labels) == 1:
        return labels.pop()
    units = {"" if quantity in sweep.table else sweep.results[0].read(quantity).units for quantity in quantities}
    return style.with_units("values", units.pop()) if len(units) == 1 else "values"


def _label(sweep, quantity):
    """The file's description of a quantity with its statistic and units; a claim is named as it is."""
    if quantity in sweep.table:
        return quantity
    first = sweep.results[0].read(quantity)
    statistic = quantity.rpartition(".")[2]
    text = (first.long_name or quantity) + (f", {statistic}" if statistic in STATISTICS else "")
    # Descriptions longer than the axis are replaced by the path.
    return style.with_units(text if len(text) <= MAX_LABEL_LENGTH else quantity, first.units)
