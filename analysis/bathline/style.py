"""Sizes, fonts, colours, line styles and marks of all figures, and the styles of the methods."""

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, is_color_like
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter

from bathline.exceptions import AnalysisError
from bathline.integrators import integrator_of

COLUMN_WIDTH = 3.4  # inches: one column of a journal page
PAGE_WIDTH = 7.0  # inches: the whole page

# Okabe and Ito (2008): eight colours that remain distinct under the common forms of colour blindness; yellow comes last
# of these because it is faint on white. The remaining colours are for more than eight methods, which marks and dashes
# distinguish as well. The order is that of `color = 0, 1, ...` in a recipe.
PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "wine": "#882255",
    "indigo": "#332288",
    "brown": "#7A3B10",
    "olive": "#8A8A00",
    "red": "#E8112D",
    "lime": "#86C232",
    "violet": "#8E44C9",
    "grey": "#777777",
}

# Series differ in line style as well, so that they are distinct without colour; dashes in multiples of the line width.
LINE_STYLES = {
    "solid": "solid",
    "dashed": (0, (4.5, 2.0)),
    "dashdot": (0, (6.0, 1.7, 1.2, 1.7)),
    "dotted": (0, (1.2, 1.6)),
    "dashdotdot": (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
    "longdash": (0, (9.0, 2.5)),
}

# Dashed lines are drawn above solid ones, so that both are visible where they coincide.
_LAYERS = {
    name: 2.0 + 0.1 * index
    for index, name in enumerate(["solid", "longdash", "dashed", "dashdot", "dashdotdot", "dotted"])
}

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


@dataclass(frozen=True)
class CurveStyle:
    """Style of the curves of one method.

    Attributes
    ----------
    color : str
        A name of the palette or a colour of matplotlib.
    dashes : str
        A key of `LINE_STYLES`.
    marker : str
        A marker of matplotlib.
    width : float
        Line width in points.
    """

    color: str
    dashes: str
    marker: str
    width: float = 1.1


# A method has the same style in all figures. A row contains a method of `[[integrators]]`, further keys that its table
# must have, and the style; the first matching row applies, so that a row without keys follows those of the same method.
# Methods that are compared with each other have different colours, and all styles differ, except those of the midpoint
# rule, which has several names. The exact solution is a wide line below the others. Closed and open runs of a method
# have the same style, except for the scheme with gamma = 0: most figures compare its closed run with a line to its open
# run with the equivalent damper.
_MIDPOINT = CurveStyle("green", "longdash", "^")
METHODS = [
    ("exact", {}, CurveStyle("black", "solid", "o", 2.0)),
    ("gamma", {"gamma": 0.0, "on": "closed"}, CurveStyle("blue", "dashed", "o")),
    ("gamma", {"gamma": 0.0}, CurveStyle("vermillion", "solid", "s")),
    ("gamma", {"gamma": 0.25}, CurveStyle("olive", "dashdotdot", "<")),
    ("gamma", {"gamma": 0.5}, _MIDPOINT),
    ("gamma", {"gamma": 0.75}, CurveStyle("purple", "dashdot", ">")),
    ("gamma", {"gamma": 1.0}, CurveStyle("violet", "dashed", "d")),
    ("gamma", {}, CurveStyle("grey", "dashdotdot", "o")),
    ("time-centred", {}, _MIDPOINT),
    ("explicit-euler", {}, CurveStyle("orange", "dotted", "v")),
    ("implicit-euler", {}, CurveStyle("sky", "dashdot", "P")),
    ("rk4", {}, CurveStyle("wine", "dashed", "X")),
    ("stoermer-verlet", {}, CurveStyle("indigo", "dashdot", "D")),
    ("gjf", {}, CurveStyle("sky", "longdash", "X")),
    ("baoab", {}, CurveStyle("red", "dotted", "P")),
    ("herglotz", {"lagrangian": "exact"}, CurveStyle("lime", "dashed", "*")),
    ("herglotz", {}, CurveStyle("olive", "dashdot", "*")),
    ("yoshida4", {}, CurveStyle("red", "dashed", "<")),
    ("suzuki4", {}, CurveStyle("lime", "dashdotdot", ">")),
    ("blanes-moan4", {}, CurveStyle("grey", "longdash", "h")),
    ("yoshida6", {}, CurveStyle("red", "dashdot", "D")),
    ("kahan-li6", {}, CurveStyle("blue", "dashdot", "D")),
    ("blanes-moan6", {}, CurveStyle("grey", "dashed", "s")),
    ("blanes-moan-rkn6", {}, CurveStyle("green", "dotted", "p")),
    ("kahan-li8", {}, CurveStyle("blue", "longdash", "v")),
    ("sofroniou-spaletta10", {}, CurveStyle("vermillion", "dashdot", "d")),
    ("gauss", {"stages": 1}, _MIDPOINT),
    ("gauss", {"stages": 2}, CurveStyle("brown", "dashdotdot", "H")),
    ("gauss", {"stages": 3}, CurveStyle("violet", "longdash", "8")),
    ("gauss", {}, CurveStyle("orange", "longdash", "H")),
    ("lobatto", {"stages": 2}, CurveStyle("sky", "dotted", "s")),
    ("lobatto", {"stages": 3}, CurveStyle("purple", "longdash", "p")),
    ("lobatto", {"stages": 4}, CurveStyle("indigo", "dashed", ">")),
    ("lobatto", {}, CurveStyle("wine", "dashdotdot", "^")),
]


def style_of_method(table):
    """Style of a method.

    Parameters
    ----------
    table : dict
        A table of `[[integrators]]`.

    Returns
    -------
    CurveStyle or None
        None if no row of `METHODS` matches.
    """
    for name, keys, curve_style in METHODS:
        if table.get("method") == name and all(table.get(key) == value for key, value in keys.items()):
            return curve_style
    return None


def style_of_series(recipe, series, index):
    """Style of a series: that of the method whose label occurs in the path of its quantity.

    A series with `color` or dashes of its own has these and the mark of its index instead. They are needed where a
    panel shows one method several times, or a quantity that belongs to no method.

    Parameters
    ----------
    recipe : dict
        The recipe of the result.
    series : dict
        A table of `series`.
    index : int
        Index of the series in its panel, from 0.

    Returns
    -------
    CurveStyle

    Raises
    ------
    AnalysisError
        If there is no such colour or line style.
    """
    of = series.get("of", "")
    method = style_of_method(integrator_of(recipe, of) or {})
    own_dashes = series["style"] if series.get("style") not in (None, "", "points", "marked", "dots") else None
    own_color = series["color"] if series.get("color") not in (None, -1, "") else None
    if own_dashes is not None and own_dashes not in LINE_STYLES:
        raise AnalysisError(f"unknown line style '{own_dashes}'; the styles are: {', '.join(LINE_STYLES)}")
    if method is not None and own_color is None and own_dashes is None:
        return CurveStyle(color(method.color), method.dashes, method.marker, method.width)
    return CurveStyle(
        color(index if own_color is None else own_color),
        own_dashes or list(LINE_STYLES)[index % len(LINE_STYLES)],
        MARKERS[index % len(MARKERS)],
    )


_STYLE = matplotlib.rc_params_from_file(Path(__file__).with_name("bathline.mplstyle"), use_default_template=False)


@contextmanager
def context():
    """Context, or decorator of functions, in which matplotlib has the settings of figures of this package.

    The settings of the session, also those of a user's matplotlibrc, do not apply inside and are restored at the end.
    """
    with matplotlib.style.context(_STYLE, after_reset=True):
        yield


class _Figure(Figure):
    """A figure that is drawn with the settings with which it was made, because matplotlib creates tick labels late."""

    @context()
    def draw(self, renderer):
        super().draw(renderer)

    @context()
    def savefig(self, *arguments, **options):
        super().savefig(*arguments, **options)


def new_figure(width, height):
    """Create an empty figure.

    Parameters
    ----------
    width, height : float
        Size in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = _Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


class _PlainNumbers(ScalarFormatter):
    """Tick labels as plain text, and only their common power of ten as a formula.

    Formulas for all labels would look the same but take a large part of the drawing time.
    """

    def __call__(self, x, pos=None):
        return super().__call__(x, pos).removeprefix(r"$\mathdefault{").removesuffix("}$")


def arrange_ticks(axes, counted=False):
    """Place ticks at multiples of 1, 2 or 5 times a power of ten on linear axes.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The axes.
    counted : bool
        Whether the horizontal axis is an integer index, which has ticks at integers only.
    """
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "linear":
            whole = counted and axis is axes.xaxis
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=whole))
            axis.set_major_formatter(_PlainNumbers())
        elif axis.get_scale() == "log" and np.divide(*axis.get_view_interval()) < 0.1:
            # Minor labels are empty over more than a decade, but would be measured in every layout.
            axes.tick_params(axis.axis_name, which="minor", labelbottom=False, labelleft=False)


def lay_out(figure):
    """Compute the layout of a figure without drawing it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    """
    figure.get_layout_engine().execute(figure)
    for axes in figure.axes:
        axes.apply_aspect()


def freeze_layout(figure):
    """Keep the computed layout for drawing; computing it again would take as long as drawing.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    """
    figure.set_layout_engine("none")


def unfreeze_layout(figure):
    """Have the layout computed again when the figure is drawn, so that it includes texts added later.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.

    Returns
    -------
    matplotlib.figure.Figure
        The same figure.
    """
    if isinstance(figure.get_layout_engine(), PlaceHolderLayoutEngine):
        figure.set_layout_engine("constrained")
    return figure


def label_short_decades(axis):
    """Label 1, 2 and 5 times the powers of ten, or more, on a logarithmic axis that spans few decades.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        A logarithmic axis; axes over a factor of 60 or more are unchanged.
    """
    low, high = axis.get_view_interval()
    if high / low < 60:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low > 5 else (1, 1.5, 2, 3, 4, 5, 6, 8)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: _tick_text(x)))
        axis.set_minor_formatter(NullFormatter())


def _tick_text(number):
    """Text of a tick label, with a power of ten where it would be long otherwise."""
    text = f"{number:g}"
    return f"${ScalarFormatter(useMathText=True).format_data(number)}$" if "e" in text else text


def color(choice):
    """Colour of an index of the palette or of a name.

    Parameters
    ----------
    choice : int or str
        Index into the palette, taken modulo its length, a name of the palette, or a colour of matplotlib.

    Returns
    -------
    str
        A colour of matplotlib.

    Raises
    ------
    AnalysisError
        If there is no such colour.
    """
    if isinstance(choice, str):
        if choice not in PALETTE and not is_color_like(choice):
            raise AnalysisError(f"unknown colour '{choice}'; the colours are: {', '.join(PALETTE)}")
        return PALETTE.get(choice, choice)
    return list(PALETTE.values())[int(choice) % len(PALETTE)]


def line_properties(curve_style):
    """Line properties of a style for matplotlib; dashed lines lie above solid ones, and these above wide ones.

    Parameters
    ----------
    curve_style : CurveStyle
        The style, with a colour of matplotlib.

    Returns
    -------
    dict
        Keyword arguments of `matplotlib.lines.Line2D`.
    """
    layer = _LAYERS[curve_style.dashes] - 0.1 * (curve_style.width > CurveStyle.width)
    return {
        "color": curve_style.color,
        "linestyle": LINE_STYLES[curve_style.dashes],
        "linewidth": curve_style.width,
        "zorder": layer,
    }


def units_text(units):
    """Typeset units: 'kg m2/s' gives 'kg m$^2$/s'.

    Parameters
    ----------
    units : str
        Units as in a file.

    Returns
    -------
    str
        Empty for dimensionless quantities.
    """
    if units in ("", "1"):
        return ""
    return re.sub(r"(?<=[A-Za-z])(?:\^|\*\*)?(-?\d+)", r"$^{\1}$", units)


def with_units(label, units):
    """Append units in parentheses to a label.

    Parameters
    ----------
    label : str
        The label; one that ends with a parenthesis or bracket is unchanged.
    units : str
        Units as in a file.

    Returns
    -------
    str
    """
    text = units_text(units)
    return label if not text or label.rstrip().endswith((")", "]")) else f"{label} ({text})"


def diverging_map(is_positive=False, size=257):
    """Diverging colour map from blue through near-white to vermillion, with linear lightness on both sides in CIELAB.

    Parameters
    ----------
    is_positive : bool
        Whether the map is only the half from near-white to vermillion.
    size : int
        Number of colours.

    Returns
    -------
    matplotlib.colors.ListedColormap
    """
    from colorspacious import cspace_convert

    middle = np.array([97.0, 0.0, 0.0])
    ends = [cspace_convert(matplotlib.colors.to_rgb(PALETTE[name]), "sRGB1", "CIELab") for name in ("blue", "vermillion")]
    position = np.linspace(0.0 if is_positive else -1.0, 1.0, size)[:, None]
    end = np.where(position > 0, ends[1], ends[0])
    end[:, 0] = 38.0
    colours = cspace_convert(middle + (end - middle) * abs(position), "CIELab", "sRGB1")
    return ListedColormap(np.clip(colours, 0.0, 1.0), "blue-white-vermillion")
