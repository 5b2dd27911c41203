"""How figures look: sizes, fonts, colours and line styles of all of them."""

import re

import matplotlib

matplotlib.use("Agg")

import numpy as np  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.colors import ListedColormap, is_color_like  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: E402

from result import AnalysisError  # noqa: E402

COLUMN_WIDTH = 3.4  # inches: one column of a journal page
PAGE_WIDTH = 7.0  # inches: the whole page

# Okabe and Ito (2008): eight colours that remain distinct under the common forms of colour blindness.
# The order is that of `color = 0, 1, ...` in a recipe; yellow comes last, being faint on white.
PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
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


def round_ticks(axes):
    """Numbers of linear axes at multiples of 1, 2 or 5 times a power of ten."""
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "linear":
            axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))


def label_short_decades(axis):
    """Numbers at 1, 2 and 5 times the powers of ten of a logarithmic axis too short to have several of these."""
    low, high = axis.get_view_interval()
    if high / low < 60:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axis.set_minor_formatter(NullFormatter())


def color(choice):
    """The colour of a number (counted round the palette) or of a name of the palette."""
    if isinstance(choice, str):
        if choice not in PALETTE and not is_color_like(choice):
            raise AnalysisError(f"no colour '{choice}'; there is: {', '.join(PALETTE)}")
        return PALETTE.get(choice, choice)
    return list(PALETTE.values())[int(choice) % len(PALETTE)]


def series_color(series, place):
    """The colour of the series at a place of its panel: its own choice, or the next of the palette."""
    choice = series.get("color", place)
    return color(place if choice in (-1, "") else choice)


def line_style(choice):
    """matplotlib's line style and the layer of a style's name, or of a number counted round the styles."""
    name = choice if isinstance(choice, str) else list(LINE_STYLES)[int(choice) % len(LINE_STYLES)]
    if name not in LINE_STYLES:
        raise AnalysisError(f"no line style '{name}'; there is: {', '.join(LINE_STYLES)}")
    return LINE_STYLES[name], _LAYERS[name]


def units_text(units):
    """'kg m2/s' -> 'kg m$^2$/s'; empty for a number without units."""
    if units in ("", "1"):
        return ""
    return re.sub(r"(?<=[A-Za-z])(?:\^|\*\*)?(-?\d+)", r"$^{\1}$", units)


def with_units(label, units):
    """A label with its units in parentheses, unless it ends with parentheses or there are no units."""
    text = units_text(units)
    return label if not text or label.rstrip().endswith((")", "]")) else f"{label} ({text})"


def capital(text):
    """The first letter of a label in upper case."""
    return text[:1].upper() + text[1:]


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
