"""What a picture is labelled with where its recipe says nothing: names of curves, and axes by what the file says."""

import re
import textwrap

import numpy as np

from bathline import style
from bathline.result_file import integrator_of
from bathline.statistic import STATISTICS

# So many inches of a panel's share of the figure are no axis, but numbers, labels and a title.
_BESIDE_AXES = 0.5
# More quantities than these are no label, but a list, which the legend is.
_MOST_QUANTITIES = 2


def names_of(recipe, panels):
    """For every panel the names of its series in a legend, None where one has none.

    Of several series one without a name has none where another panel names its look, as no other curve there has it.
    """
    looks = [[_seen(recipe, series, place) for place, series in enumerate(panel["series"])] for panel in panels]
    told = {
        look
        for panel, its_looks in zip(panels, looks)
        for series, look in zip(panel["series"], its_looks)
        if series.get("name") and its_looks.count(look) == 1
    }
    names = []
    for panel, its_looks in zip(panels, looks):
        defaults = _default_names(recipe, panel["series"]) if len(its_looks) > 1 else [None]
        needed = [look not in told or its_looks.count(look) > 1 for look in its_looks]
        names.append([
            series.get("name") or (default if need else None)
            for series, default, need in zip(panel["series"], defaults, needed)
        ])
    return names


def _seen(recipe, series, place):
    look = style.series_look(recipe, series, place)
    return look.color, look.dashes


def _default_names(recipe, all_series):
    """The shortest names that tell these series apart: labels of one variable, variables of one label, or both."""
    labels, variables, whole = zip(*(_parts(recipe, series) for series in all_series))
    for names, others in ((labels, variables), (variables, labels)):
        if len(set(others)) == 1 and len(set(names)) == len(names):
            return names
    return whole


def _parts(recipe, series):
    """Label and variable of a series, and both together."""
    of, minus, scale = series["of"], series.get("minus"), series.get("scale", 1.0)
    if not isinstance(of, str):
        return "", "given values", "given values"
    label, variable, whole = (*_split(recipe, of), of)
    if minus:
        other_label, other_variable = _split(recipe, minus)
        label += f" \N{MINUS SIGN} {other_label}" if other_label != label else ""
        variable += f" \N{MINUS SIGN} {other_variable}" if other_variable != variable else ""
        whole += f" \N{MINUS SIGN} {minus}"
    if isinstance(scale, list):
        return label, f"scaled {variable}", f"scaled {whole}"
    if scale == 1.0:
        return label, variable, whole
    factor = "\N{MINUS SIGN}" if scale == -1.0 else f"{scale:g} ".replace("-", "\N{MINUS SIGN}")
    return label, *(factor + (f"({text})" if minus else text) for text in (variable, whole))


def _split(recipe, path):
    """'reduction.closed.difference[0].max' -> ('closed', 'difference[0].max')."""
    groups, _, variable = path.partition("[")[0].rpartition(".")
    if variable in STATISTICS and groups.count("."):
        groups = groups.rpartition(".")[0]
    table = integrator_of(recipe, path) or {}
    return table.get("name") or table.get("method") or groups, path[len(groups) + 1 :] if groups else path


def difference(one, other):
    """What the difference of two quantities is called."""
    return f"difference in {one.long_name or one.path}" if one.long_name == other.long_name else "difference"


def label_axes(axes, panel, curves, shape):
    """Labels both axes of a panel, by its recipe or by what the file says of the variables, with units.

    shape  width and height in inches of what the figure has for the panel
    """
    width, height = (inches - _BESIDE_AXES for inches in shape)
    has_units = all(np.all(curve.scale == 1.0) for curve in curves)
    units = {curve.y.units for curve in curves if curve.y.units} if has_units else set()
    if panel.get("ylabel"):
        axes.set_ylabel(style.with_units(panel["ylabel"], units.pop()) if len(units) == 1 else panel["ylabel"])
    else:
        axes.set_ylabel(_fitting(axes, _of_values(panel, curves, units), height))
    x = next((curve.x for curve in curves if curve.x is not None), None)
    if x is not None and panel.get("xlabel"):
        axes.set_xlabel(style.with_units(panel["xlabel"], x.units))
    elif x is not None:
        text = x.long_name or x.path
        axes.set_xlabel(_fitting(axes, [style.with_units(text, x.units), style.with_units(_head(text), x.units)], width))


def _of_values(panel, curves, units):
    """What the values of a panel in these units are, in full and in short; none where factors have left their units."""
    quantities = {curve.y.long_name or curve.y.path: curve.y.units for curve in curves}
    common = next(iter(units)) if len(units) == 1 else ""
    if len(quantities) > _MOST_QUANTITIES:
        return [style.with_units("values", common)]
    if len(quantities) == 1:
        (name,) = quantities
        return [style.with_units(_magnitude(panel, words), common) for words in (name, _head(name))]
    each = [
        style.with_units(_magnitude(panel, _head(name)), own if len(units) > 1 else "") for name, own in quantities.items()
    ]
    return [style.with_units(between.join(each), common) for between in (", ", ",\n")]


def _magnitude(panel, name):
    """The name of what is seen: of a difference a logarithmic axis shows the magnitude."""
    return f"|{name}|" if panel.get("yscale") == "log" and name.startswith("difference") else name


def _head(text):
    """A description without what follows its first comma outside parentheses."""
    for comma in re.finditer(", ", text):
        head = text[: comma.start()]
        if head.count("(") == head.count(")"):
            return head
    return text


def _fitting(axes, texts, room):
    """The first of these texts that is no longer than the room in inches, or else the last in several lines."""
    return next((text for text in texts if _length(axes, text) <= room), None) or wrapped(axes, texts[-1], room)


def wrapped(axes, text, room):
    """A text in as many lines as it needs to be no longer than the room in inches; formulas stay whole."""
    length = _length(axes, text)
    if length <= room:
        return text
    whole = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(whole, max(int(len(text) * room / length), 1), break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _length(axes, text):
    """The length in inches of a text of the size of labels and titles."""
    measured = axes.figure.text(0, 0, text, fontsize=axes.xaxis.label.get_fontsize())
    length = measured.get_window_extent().width / axes.figure.dpi
    measured.remove()
    return length
