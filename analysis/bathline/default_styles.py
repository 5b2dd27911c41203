"""Colours and dashes of series in figures that no recipe describes."""

from bathline import style
from bathline.integrators import integrator_of

# Indices into the palette; yellow is left out because it is faint on white.
COLOURS = [index for index, name in enumerate(style.PALETTE) if name != "yellow"]
FORMULA = {"style": "points", "name": "marks: formula"}
THEORY = {"color": list(style.PALETTE).index("black"), "style": "dotted"}


def styles_by_label(result, labels):
    """Style keys of the series of each label, distinct within a figure.

    A label has its method's style unless an earlier label has the same one; then it gets its own colour and dashes.

    Parameters
    ----------
    result : RunResult
        An open result.
    labels : iterable of str
        Labels of integrators; repetitions are ignored.

    Returns
    -------
    dict
        For each label a dict with the keys `color` and `style`, empty where the method's style applies.
    """
    styles, used = {}, set()
    for label in labels:
        curve_style = style.style_of_method(integrator_of(result.recipe, label) or {})
        is_unique = curve_style is not None and (curve_style.color, curve_style.dashes) not in used
        styles.setdefault(label, {} if is_unique else None)
        used |= {(curve_style.color, curve_style.dashes)} if is_unique else set()
    used_colours = {color for color, _ in used}
    colours = sorted(COLOURS, key=lambda index: list(style.PALETTE)[index] in used_colours)
    others = [label for label, keys in styles.items() if keys is None]
    dashes = list(style.LINE_STYLES)
    return styles | {
        label: {"color": colours[index % len(colours)], "style": dashes[(index + 1) % len(dashes)]}
        for index, label in enumerate(others)
    }


def nth_colour(index):
    """Palette index of the colour for the series with this index.

    Parameters
    ----------
    index : int
        Number of the series in its panel, from 0.

    Returns
    -------
    int
        An index into `style.PALETTE`; the colours repeat when there are more series than colours.
    """
    return COLOURS[index % len(COLOURS)]
