"""Figures of numbers of a sweep over one of its keys."""

from numbers import Real

from matplotlib.lines import Line2D

from bathline import legend, style
from bathline.result_file import AnalysisError, ResultFile
from bathline.statistic import STATISTICS

MAX_LABEL_LENGTH = 40  # characters that fit beside an axis


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
        If `against` was not swept, or a quantity does not exist or is a series.
    """
    if against not in sweep.keys:
        raise AnalysisError(f"'{against}' was not swept; the swept keys are: {', '.join(sweep.keys) or 'none'}")
    if not quantities:
        raise AnalysisError("a quantity is needed, such as 'closed.energy_particles.last', or the id of a claim")
    figure = style.new_figure(style.COLUMN_WIDTH, 2.5)
    axes = figure.subplots()
    axes.set_xscale(xscale)
    axes.set_yscale(yscale)
    positions, names = _positions([result.settings[against] for result in sweep])
    if names:
        # Long names are rotated so that they do not overlap.
        rotation = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if sum(map(len, names)) > 40 else {}
        axes.set_xticks(range(len(names)), names, **rotation)
    handles = []
    for index, (name, quantity, points) in enumerate(_curves(sweep, quantities, against, positions)):
        colour = {"color": index} if len(sweep.keys) > 1 else {}
        curve_style = style.style_of_series(sweep.results[0].recipe, {"of": quantity} | colour, index)
        line = style.line_properties(curve_style) | {"marker": curve_style.marker, "linewidth": 0.8}
        # Between two names there are no values to join by lines.
        line |= {"linestyle": "none"} if names else {}
        axes.plot(*zip(*sorted(points)), **line)
        handles += [Line2D([], [], label=name, **line)] if name else []
    axes.set_xlabel(against)
    labels = {_label(sweep, quantity) for quantity in quantities}
    axes.set_ylabel(labels.pop() if len(labels) == 1 else "")
    for axis, scale in ((axes.xaxis, xscale), (axes.yaxis, yscale)):
        if scale == "log" and not (names and axis is axes.xaxis):
            style.label_short_decades(axis)
    legend.place(figure, [(axes, handles)])
    return figure


def _curves(sweep, quantities, against, positions):
    """Name, quantity and points of every curve; the name distinguishes it from the others."""
    curves = {}
    for quantity in quantities:
        for result, position, value in zip(sweep, positions, sweep.numbers(quantity)):
            rest = [f"{key} = {result.settings[key]}" for key in sweep.keys if key != against]
            name = ", ".join([quantity, *rest] if len(quantities) > 1 else rest)
            curves.setdefault((name, quantity), []).append((position, value))
    return [(*key, points) for key, points in curves.items()]


def _positions(values):
    """Positions of values on an axis, and their names if they are not numbers."""
    if all(isinstance(value, Real) for value in values):
        return values, []
    names = list(dict.fromkeys(map(str, values)))
    return [names.index(str(value)) for value in values], names


def _label(sweep, quantity):
    """The file's description of a quantity with its statistic and units; a claim is named as it is."""
    if quantity in sweep.table:
        return quantity
    with ResultFile(sweep.results[0].path) as result:
        first = result.quantity(quantity)
    statistic = quantity.rpartition(".")[2]
    text = (first.long_name or quantity) + (f", {statistic}" if statistic in STATISTICS else "")
    # Descriptions longer than the axis are replaced by the path.
    return style.with_units(text if len(text) <= MAX_LABEL_LENGTH else quantity, first.units)
