"""Conversion of recipe texts to HTML: `code`, and simple formulas in dollars as in matplotlib's labels."""

import html
import re

_SYMBOLS = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    "omega": "ω",
    "Delta": "Δ",
    "Lambda": "Λ",
    "Omega": "Ω",
    "Gamma": "Γ",
    "Sigma": "Σ",
    "infty": "∞",
    "times": "×",
    "cdot": "·",
    "pm": "±",
    "approx": "≈",
    "leq": "≤",
    "geq": "≥",
    "le": "≤",
    "ge": "≥",
    "ll": "≪",
    "gg": "≫",
    "neq": "≠",
    "to": "→",
    "sqrt": "√",
    "Vert": "‖",
    "|": "‖",
    "prime": "′",
    "exp": "exp",
    "log": "log",
    "sin": "sin",
    "cos": "cos",
    "max": "max",
    "min": "min",
    "quad": " ",
    ",": " ",
    ";": " ",
}
_ACCENTS = {
    "dot": "\u0307",
    "ddot": "\u0308",
    "tilde": "\u0303",
    "hat": "\u0302",
    "bar": "\u0304",
    "vec": "\u20d7",
}


def to_html(text):
    """Convert a paragraph to HTML.

    Parameters
    ----------
    text : str
        Text with `code` in backquotes and simple formulas in dollars.

    Returns
    -------
    str
        HTML; everything else is escaped.
    """
    pieces = re.split(r"(\$[^$\n]+\$|`[^`\n]+`)", text)
    return "".join(_piece(piece) for piece in pieces)


def _piece(piece):
    if len(piece) > 2 and piece[0] == piece[-1] == "$":
        return f'<span class="formula">{_formula(piece[1:-1])}</span>'
    if len(piece) > 2 and piece[0] == piece[-1] == "`":
        return f"<code>{html.escape(piece[1:-1])}</code>"
    return html.escape(piece)


def _formula(text):
    """A formula as HTML: letters in italics, indices, exponents, Greek letters and some symbols."""
    for name, accent in _ACCENTS.items():
        text = re.sub(rf"\\{name}(?:\{{(\w)\}}|\s*(\w))", lambda match: (match[1] or match[2]) + accent, text)
    text = re.sub(r"\\(?:mathrm|mathbf|text|operatorname)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\([A-Za-z]+|[|,;])\s?", lambda match: _SYMBOLS.get(match[1], match[1]), text)
    text = html.escape(text.replace("-", "−"))
    text = re.sub(r"&#?\w+;|[A-Za-zα-ω\u0300-\u036f\u20d7]+", _italic, text)
    for mark, tag in (("_", "sub"), ("^", "sup")):
        text = re.sub(
            rf"{re.escape(mark)}(?:\{{([^{{}}]*)\}}|(<i>.*?</i>|\S))",
            lambda match, tag=tag: f"<{tag}>{match[1] or match[2]}</{tag}>",
            text,
        )
    return text.replace("{", "").replace("}", "")


def _italic(match):
    """Set letters in italics, except function names and character entities."""
    text = match[0]
    return text if text.startswith("&") or text in _SYMBOLS.values() else f"<i>{text}</i>"
