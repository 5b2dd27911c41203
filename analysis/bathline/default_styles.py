"""How the series of a picture look whose recipe draws none."""

from bathline import style
from bathline.result_file import integrator_of

# Places in the palette; yellow is faint on white.
COLOURS = [place for place, name in enumerate(style.PALETTE) if name != "yellow"]
FORMULA = {"style": "points", "name": "marks: formula"}
THEORY = {"color": list(style.PALETTE).index("black"), "style": "dotted"}


def of_labels(result, labels):
    """For every label what its series have besides: nothing, or a colour and dashes of its own where another has its
    method's look."""
    found, taken = {}, set()
    for label in labels:
        look = style.style_of_method(integrator_of(result.recipe, label) or {})
        alone = look is not None and (look.color, look.dashes) not in taken
        found.setdefault(label, {} if alone else None)
        taken |= {(look.color, look.dashes)} if alone else set()
    used = {color for color, _ in taken}
    colours = sorted(COLOURS, key=lambda place: list(style.PALETTE)[place] in used)
    others = [label for label, look in found.items() if look is None]
    dashes = list(style.LINE_STYLES)
    return found | {
        label: {"color": colours[place % len(colours)], "style": dashes[(place + 1) % len(dashes)]}
        for place, label in enumerate(others)
    }


def colour(place):
    """The place in the palette of what is at a place among others."""
    return COLOURS[place % len(COLOURS)]
