"""How figures look: sizes, fonts, colours, line styles and marks of all of them, and of every method."""

import re
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap, is_color_like
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, ScalarFormatter

from bathline.result_file import AnalysisError, integrator_of

COLUMN_WIDTH = 3.4  # inches: one column of a journal page
PAGE_WIDTH = 7.0  # inches: the whole page

# Okabe and Ito (2008): eight colours that remain distinct under the common forms of colour blindness; yellow comes last
# of them, being faint on white. The others behind are for pictures of more methods than that, which marks and dashes
# tell apart as well. The order is that of `color = 0, 1, ...` in a recipe.
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

# Each series has a line style of its own as well, so that colour is never needed to tell them apart.
# Dashes in multiples of the line width.
LINE_STYLES = {
    "solid": "solid",
    "dashed": (0, (4.5, 2.0)),
    "dashdot": (0, (6.0, 1.7, 1.2, 1.7)),
    "dotted": (0, (1.2, 1.6)),
    "dashdotdot": (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
    "longdash": (0, (9.0, 2.5)),
}

# A broken line above a solid one shows both where they coincide.
_LAYERS = {
    name: 2.0 + 0.1 * place
    for place, name in enumerate(["solid", "longdash", "dashed", "dashdot", "dashdotdot", "dotted"])
}

MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]


@dataclass(frozen=True)
class CurveStyle:
    """How one method looks: colour, dashes of its lines, its mark, and the width of its lines in points."""

    color: str
    dashes: str
    marker: str
    width: float = 1.1


# One method has one look in all pictures, whatever the place of its series. A row is a name of `[[integrators]]`, the keys
# that the table there must have besides, and the look; the first row that fits counts, so a row without keys stands behind
# those of its name. Methods that are compared with each other have different colours, and no two looks are equal, but for
# the midpoint rule's, which has several names. The exact motion is a wide line below the others. Closed and open runs of a
# method look alike, but for the scheme with gamma = 0: its closed run is the line itself, and its open run the damper that
# the line stands for, the two sides of most pictures.
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
    """The look of the method that a table of `[[integrators]]` names; None where it names none of them."""
    for name, keys, look in METHODS:
        if table.get("method") == name and all(table.get(key) == value for key, value in keys.items()):
            return look
    return None


def series_look(recipe, series, place):
    """The look of the series at a place of its panel: that of the method by whose label its quantity goes.

    A series with a `color` or dashes of its own has these instead, and the mark of its place: where one method is
    shown several times, or where what is drawn is no method's.
    """
    of = series.get("of", "")
    method = style_of_method(integrator_of(recipe, of) or {})
    own_dashes = series["style"] if series.get("style") not in (None, "", "points", "marked", "dots") else None
    own_color = series["color"] if series.get("color") not in (None, -1, "") else None
    if own_dashes is not None and own_dashes not in LINE_STYLES:
        raise AnalysisError(f"no line style '{own_dashes}'; there is: {', '.join(LINE_STYLES)}")
    if method is not None and own_color is None and own_dashes is None:
        return CurveStyle(color(method.color), method.dashes, method.marker, method.width)
    return CurveStyle(
        color(place if own_color is None else own_color),
        own_dashes or list(LINE_STYLES)[place % len(LINE_STYLES)],
        MARKERS[place % len(MARKERS)],
    )


def use():
    """Sets matplotlib's defaults; called once by figure.py."""
    matplotlib.rcParams.update(
        {
            "font.family": "STIXGeneral",
            "mathtext.fontset": "stix",
            "font.size": 9,
            "axes.labelsize": 9,
            "axes.titlesize": 9,
            "axes.titlelocation": "left",
            "axes.titlepad": 4,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
            "legend.fontsize": 8,
            "legend.frameon": False,
            "legend.handlelength": 2.9,
            "legend.handletextpad": 0.5,
            "legend.columnspacing": 1.4,
            "legend.labelspacing": 0.25,
            "legend.borderaxespad": 0.6,
            "axes.linewidth": 0.6,
            "axes.labelpad": 3,
            "axes.formatter.use_mathtext": True,
            "axes.formatter.limits": (-3, 4),
            "axes.unicode_minus": True,
            "lines.linewidth": 1.1,
            "lines.markersize": 4,
            "lines.dash_capstyle": "butt",
            "grid.color": "0.85",
            "grid.linewidth": 0.4,
            "xtick.direction": "in",
            "ytick.direction": "in",
            "xtick.top": True,
            "ytick.right": True,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "xtick.minor.width": 0.4,
            "ytick.minor.width": 0.4,
            "xtick.major.size": 3,
            "ytick.major.size": 3,
            "xtick.minor.size": 1.6,
            "ytick.minor.size": 1.6,
            "figure.constrained_layout.use": True,
            "figure.constrained_layout.h_pad": 0.03,
            "figure.constrained_layout.w_pad": 0.04,
            "figure.constrained_layout.wspace": 0.03,
            # Of figures as of pictures: what was measured and typeset to lay them out is used again when they are drawn.
            "figure.dpi": 200,
            "savefig.dpi": 200,
            "pdf.fonttype": 42,
            "image.interpolation": "nearest",
        }
    )


def new_figure(width, height):
    """An empty figure of this size in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


class _PlainNumbers(ScalarFormatter):
    """Numbers as text and the power of ten of all of them as a formula: a formula for every number looks the same, but
    takes a good part of the time of a whole picture."""

    def __call__(self, x, pos=None):
        return super().__call__(x, pos).removeprefix(r"$\mathdefault{").removesuffix("}$")


def arrange_ticks(axes, counted=False):
    """Numbers of linear axes at multiples of 1, 2 or 5 times a power of ten; those of minor ticks only where they show.

    Where things are `counted` along the horizontal axis it has none between whole numbers."""
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "linear":
            whole = counted and axis is axes.xaxis
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=whole))
            axis.set_major_formatter(_PlainNumbers())
        elif axis.get_scale() == "log" and np.divide(*axis.get_view_interval()) < 0.1:
            # Over more than a decade they are empty, and yet each would be measured in every layout.
            axes.tick_params(axis.axis_name, which="minor", labelbottom=False, labelleft=False)


def lay_out(figure):
    """Places the axes as drawing the figure would, but does not draw it."""
    figure.get_layout_engine().execute(figure)
    for axes in figure.axes:
        axes.apply_aspect()


def keep_layout(figure):
    """Lets drawing use the layout that was found; finding it once more takes as long as drawing."""
    figure.set_layout_engine("none")


def free_layout(figure):
    """Has a layout that was kept found anew by drawing, so that whatever is still written into the figure makes room."""
    if isinstance(figure.get_layout_engine(), PlaceHolderLayoutEngine):
        figure.set_layout_engine("constrained")
    return figure


def label_short_decades(axis):
    """Numbers at 1, 2 and 5 times the powers of ten of a logarithmic axis too short to have several of these, or at more."""
    low, high = axis.get_view_interval()
    if high / low < 60:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low > 5 else (1, 1.5, 2, 3, 4, 5, 6, 8)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: _written(x)))
        axis.set_minor_formatter(NullFormatter())


def _written(number):
    """A number beside a tick: a power of ten where it would be long otherwise."""
    text = f"{number:g}"
    return f"${ScalarFormatter(useMathText=True).format_data(number)}$" if "e" in text else text


def color(choice):
    """The colour of a number (counted round the palette) or of a name of the palette."""
    if isinstance(choice, str):
        if choice not in PALETTE and not is_color_like(choice):
            raise AnalysisError(f"no colour '{choice}'; there is: {', '.join(PALETTE)}")
        return PALETTE.get(choice, choice)
    return list(PALETTE.values())[int(choice) % len(PALETTE)]


def line_of(look):
    """matplotlib's properties of a line with this look; a broken one lies above a solid one, which above a wide one."""
    layer = _LAYERS[look.dashes] - 0.1 * (look.width > CurveStyle.width)
    return {
        "color": look.color,
        "linestyle": LINE_STYLES[look.dashes],
        "linewidth": look.width,
        "zorder": layer,
    }


def units_text(units):
    """'kg m2/s' -> 'kg m$^2$/s'; empty for a number without units."""
    if units in ("", "1"):
        return ""
    return re.sub(r"(?<=[A-Za-z])(?:\^|\*\*)?(-?\d+)", r"$^{\1}$", units)


def with_units(label, units):
    """A label with its units in parentheses, unless it ends with parentheses or there are no units."""
    text = units_text(units)
    return label if not text or label.rstrip().endswith((")", "]")) else f"{label} ({text})"


def diverging_map(size=257):
    """Blue to vermillion through near-white, with lightness falling evenly to both sides in CIELAB."""
    middle = np.array([97.0, 0.0, 0.0])
    ends = [_lab_of_hex(PALETTE["blue"]), _lab_of_hex(PALETTE["vermillion"])]
    rows = []
    for position in np.linspace(-1.0, 1.0, size):
        end = ends[int(position > 0)].copy()
        end[0] = 38.0
        rows.append(_rgb_of_lab(middle + (end - middle) * abs(position)))
    return ListedColormap(np.array(rows), "blue-white-vermillion")


_RGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = _RGB_TO_XYZ.sum(axis=1)


def lab_of_rgb(rgb):
    """CIELAB (D65) of an sRGB colour with components in [0, 1]."""
    rgb = np.asarray(rgb, dtype=float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    ratio = _RGB_TO_XYZ @ linear / _WHITE
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def _lab_of_hex(text):
    return lab_of_rgb(matplotlib.colors.to_rgb(text))


def _rgb_of_lab(lab):
    root = (lab[0] + 16) / 116 + np.array([lab[1] / 500, 0.0, -lab[2] / 200])
    ratio = np.where(root > 6 / 29, root**3, 3 * (6 / 29) ** 2 * (root - 4 / 29))
    linear = np.clip(np.linalg.solve(_RGB_TO_XYZ, ratio * _WHITE), 0.0, 1.0)
    return np.clip(
        np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055), 0.0, 1.0
    )
