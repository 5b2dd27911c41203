"""Names of curves and labels of axes where the recipe gives none."""

import re
import textwrap

import numpy as np

from bathline import style
from bathline.integrators import integrator_of
from bathline.statistic import STATISTICS

# Inches of a panel's part of the figure that tick labels, axis labels and a title take from the axes.
_MARGIN = 0.5
# An axis label names at most this many quantities; the legend names them all.
_MAX_QUANTITIES = 2


def legend_names(recipe, panels):
    """Names of all series in the legends.

    A series without a name gets none if another panel names its style and no other series of its own panel has it.

    Parameters
    ----------
    recipe : dict
        The recipe of the result.
    panels : list of dict
        The tables `figure.panels`.

    Returns
    -------
    list of list of (str or None)
        For each panel the names of its series; None where a series has no entry.
    """
    styles = [[_colour_and_dashes(recipe, series, index) for index, series in enumerate(panel["series"])] for panel in panels]
    named = {
        curve_style
        for panel, panel_styles in zip(panels, styles)
        for series, curve_style in zip(panel["series"], panel_styles)
        if series.get("name") and panel_styles.count(curve_style) == 1
    }
    names = []
    for panel, panel_styles in zip(panels, styles):
        defaults = _default_names(recipe, panel["series"]) if len(panel_styles) > 1 else [None]
        needed = [curve_style not in named or panel_styles.count(curve_style) > 1 for curve_style in panel_styles]
        names.append([
            series.get("name") or (default if need else None)
            for series, default, need in zip(panel["series"], defaults, needed)
        ])
    return names


def _colour_and_dashes(recipe, series, index):
    curve_style = style.style_of_series(recipe, series, index)
    return curve_style.color, curve_style.dashes


def _default_names(recipe, all_series):
    """The shortest names that distinguish these series: labels of one variable, variables of one label, or both."""
    labels, variables, full_names = zip(*(_name_parts(recipe, series) for series in all_series))
    for names, others in ((labels, variables), (variables, labels)):
        if len(set(others)) == 1 and len(set(names)) == len(names):
            return names
    return full_names


def _name_parts(recipe, series):
    """Label, variable, and full name of a series."""
    of, minus, scale = series["of"], series.get("minus"), series.get("scale", 1.0)
    if not isinstance(of, str):
        return "", "given values", "given values"
    label, variable, full_name = (*_split_path(recipe, of), of)
    if minus:
        other_label, other_variable = _split_path(recipe, minus)
        label += f" \N{MINUS SIGN} {other_label}" if other_label != label else ""
        variable += f" \N{MINUS SIGN} {other_variable}" if other_variable != variable else ""
        full_name += f" \N{MINUS SIGN} {minus}"
    if isinstance(scale, list):
        return label, f"scaled {variable}", f"scaled {full_name}"
    if scale == 1.0:
        return label, variable, full_name
    factor = "\N{MINUS SIGN}" if scale == -1.0 else f"{scale:g} ".replace("-", "\N{MINUS SIGN}")
    return label, *(factor + (f"({text})" if minus else text) for text in (variable, full_name))


def _split_path(recipe, path):
    """'reduction.closed.difference[0].max' -> ('closed', 'difference[0].max')."""
    groups, _, variable = path.partition("[")[0].rpartition(".")
    if variable in STATISTICS and groups.count("."):
        groups = groups.rpartition(".")[0]
    table = integrator_of(recipe, path) or {}
    return table.get("name") or table.get("method") or groups, path[len(groups) + 1 :] if groups else path


def difference_label(minuend, subtrahend):
    """Description of the difference of two quantities.

    Parameters
    ----------
    minuend, subtrahend : Quantity
        The two quantities.

    Returns
    -------
    str
        Names the quantity if both have the same description.
    """
    if minuend.long_name != subtrahend.long_name:
        return "difference"
    return f"difference in {minuend.long_name or minuend.path}"


def label_axes(axes, panel, curves, shape):
    """Label both axes of a panel, by its recipe or else by the file's descriptions and units.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes of the panel.
    panel : dict
        The table of the panel.
    curves : list
        Curves of the panel, with `x`, `y` and `scale`.
    shape : (float, float)
        Width and height of the panel's part of the figure in inches.
    """
    width, height = (inches - _MARGIN for inches in shape)
    has_units = all(np.all(curve.scale == 1.0) for curve in curves)
    units = {curve.y.units for curve in curves if curve.y.units} if has_units else set()
    if panel.get("ylabel"):
        axes.set_ylabel(style.with_units(panel["ylabel"], units.pop()) if len(units) == 1 else panel["ylabel"])
    else:
        axes.set_ylabel(_first_fitting(axes, _value_labels(panel, curves, units), height))
    x = next((curve.x for curve in curves if curve.x is not None), None)
    if x is not None and panel.get("xlabel"):
        axes.set_xlabel(style.with_units(panel["xlabel"], x.units))
    elif x is not None:
        text = x.long_name or x.path
        labels = [style.with_units(text, x.units), style.with_units(_main_clause(text), x.units)]
        axes.set_xlabel(_first_fitting(axes, labels, width))


def _value_labels(panel, curves, units):
    """Labels of the vertical axis, longest first; without units where scale factors have changed them."""
    quantities = {curve.y.long_name or curve.y.path: curve.y.units for curve in curves}
    common_units = next(iter(units)) if len(units) == 1 else ""
    if len(quantities) > _MAX_QUANTITIES:
        return [style.with_units("values", common_units)]
    if len(quantities) == 1:
        (name,) = quantities
        return [style.with_units(_magnitude(panel, text), common_units) for text in (name, _main_clause(name))]
    each = [
        style.with_units(_magnitude(panel, _main_clause(name)), own_units if len(units) > 1 else "")
        for name, own_units in quantities.items()
    ]
    return [style.with_units(separator.join(each), common_units) for separator in (", ", ",\n")]


def _magnitude(panel, name):
    """Mark differences on a logarithmic axis as magnitudes."""
    return f"|{name}|" if panel.get("yscale") == "log" and name.startswith("difference") else name


def _main_clause(text):
    """A description up to its first comma outside parentheses."""
    for comma in re.finditer(", ", text):
        start = text[: comma.start()]
        if start.count("(") == start.count(")"):
            return start
    return text


def _first_fitting(axes, texts, room):
    """The first of these texts that fits into the room in inches, or else the last one in several lines."""
    fitting = next((text for text in texts if _text_width(axes, text) <= room), None)
    return fitting or wrap_text(axes, texts[-1], room)


def wrap_text(axes, text, room):
    """Break a text into lines that fit into a width; formulas are not broken.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Axes whose label font applies.
    text : str
        The text.
    room : float
        Width in inches.

    Returns
    -------
    str
        The text with line breaks.
    """
    width = _text_width(axes, text)
    if width <= room:
        return text
    protected = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", "\0"), text)
    columns = max(int(len(text) * room / width), 1)
    lines = textwrap.wrap(protected, columns, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _text_width(axes, text):
    """Width in inches of a text in the font of labels and titles."""
    artist = axes.figure.text(0, 0, text, fontsize=axes.xaxis.label.get_fontsize())
    width = artist.get_window_extent().width / axes.figure.dpi
    artist.remove()
    return width
