"""Numbers of a sweep over one of its keys."""

from numbers import Real

from matplotlib.lines import Line2D

from bathline import legend, style
from bathline.result_file import AnalysisError, ResultFile
from bathline.statistic import STATISTICS

MOST_LETTERS = 40  # as many as stand beside an axis


def draw(sweep, quantities, against, xscale, yscale):
    """The figure of `Sweep.plot`."""
    if against not in sweep.keys:
        raise AnalysisError(f"'{against}' was not swept; there is: {', '.join(sweep.keys) or 'nothing'}")
    if not quantities:
        raise AnalysisError("a quantity is needed, such as 'closed.energy_particles.last', or the id of a claim")
    style.use()
    figure = style.new_figure(style.COLUMN_WIDTH, 2.5)
    axes = figure.subplots()
    axes.set_xscale(xscale)
    axes.set_yscale(yscale)
    places, names = _places([result.settings[against] for result in sweep])
    if names:
        # Names that would run into each other stand aslant.
        aslant = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if sum(map(len, names)) > 40 else {}
        axes.set_xticks(range(len(names)), names, **aslant)
    handles = []
    for count, (name, quantity, points) in enumerate(_curves(sweep, quantities, against, places)):
        colour = {"color": count} if len(sweep.keys) > 1 else {}
        look = style.series_look(sweep.results[0].recipe, {"of": quantity} | colour, count)
        line = style.line_of(look) | {"marker": look.marker, "linewidth": 0.8}
        # Nothing lies between two names.
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


def _curves(sweep, quantities, against, places):
    """Name, quantity and points of every curve; the name says what sets it apart from the others."""
    curves = {}
    for quantity in quantities:
        for result, place, value in zip(sweep, places, sweep.numbers(quantity)):
            rest = [f"{key} = {result.settings[key]}" for key in sweep.keys if key != against]
            name = ", ".join([quantity, *rest] if len(quantities) > 1 else rest)
            curves.setdefault((name, quantity), []).append((place, value))
    return [(*key, points) for key, points in curves.items()]


def _places(values):
    """Where values stand on an axis, and their names where they are no numbers."""
    if all(isinstance(value, Real) for value in values):
        return values, []
    names = list(dict.fromkeys(map(str, values)))
    return [names.index(str(value)) for value in values], names


def _label(sweep, quantity):
    """What the file calls a quantity, with its statistic and units; the id of a claim as it is."""
    if quantity in sweep.table:
        return quantity
    with ResultFile(sweep.results[0].path) as result:
        found = result.quantity(quantity)
    statistic = quantity.rpartition(".")[2]
    words = (found.long_name or quantity) + (f", {statistic}" if statistic in STATISTICS else "")
    # What is longer than the axis is called as it was asked for.
    return style.with_units(words if len(words) <= MOST_LETTERS else quantity, found.units)
