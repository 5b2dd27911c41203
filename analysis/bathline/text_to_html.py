"""Conversion of recipe texts to HTML: `code`, and formulas in dollars, which matplotlib typesets as in figures."""

import base64
import html
import io
import re
from functools import lru_cache

import matplotlib
from matplotlib import mathtext
from matplotlib.font_manager import FontProperties

from bathline import style

_SIZE = 10.0  # points


def to_html(text):
    """Convert a paragraph to HTML.

    Parameters
    ----------
    text : str
        Text with `code` in backquotes and formulas in dollars.

    Returns
    -------
    str
        HTML; everything else is escaped.
    """
    pieces = re.split(r"(\$[^$\n]+\$|`[^`\n]+`)", text)
    return "".join(_piece(piece) for piece in pieces)


def _piece(piece):
    if len(piece) > 2 and piece[0] == piece[-1] == "$":
        return _formula(piece)
    if len(piece) > 2 and piece[0] == piece[-1] == "`":
        return f"<code>{html.escape(piece[1:-1])}</code>"
    return html.escape(piece)


@lru_cache(maxsize=None)
@style.context()
def _formula(text):
    """A formula as a picture on the base line, with its text as the alternative; code if it cannot be typeset."""
    picture = io.BytesIO()
    try:
        with matplotlib.rc_context({"savefig.transparent": True}):
            depth = mathtext.math_to_image(text, picture, FontProperties(size=_SIZE), dpi=72, format="svg")
    except ValueError:
        return f"<code>{html.escape(text)}</code>"
    svg = re.sub(r"<metadata>.*?</metadata>", "", picture.getvalue().decode(), flags=re.DOTALL)
    height = float(re.search(r'height="([\d.]+)pt"', svg)[1])
    return (
        f'<img class="formula" alt="{html.escape(text[1:-1])}" style="height: {height / _SIZE:g}em; '
        f'vertical-align: {-depth / _SIZE:g}em" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'
    )
