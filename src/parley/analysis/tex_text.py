"""Text that LaTeX prints as it is written, in plain ASCII wherever LaTeX itself has the sign.

Whatever it has no command for (most scripts, emoji) stands as it is where the engine reads Unicode
(XeLaTeX, LuaLaTeX, with a font that has it), and as its code points in pdfLaTeX, which would stop.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby

SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*-`'"},  # else options of \\, and ligatures
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT SINGLE QUOTATION MARK}": "{'}",
    "\N{LEFT SINGLE QUOTATION MARK}": "{`}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{MIDDLE DOT}": r"\textperiodcentered{}",
    "\N{BULLET}": r"\textbullet{}",
    "\N{SECTION SIGN}": r"\S{}",
    "\N{COPYRIGHT SIGN}": r"\copyright{}",
}
LETTERS = {
    "ß": r"\ss{}",
    **{"æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}"},
    **{"ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}"},
}
ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`",
    "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING DIAERESIS}": '"',
    "\N{COMBINING MACRON}": "=",
    "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING RING ABOVE}": "r",
    "\N{COMBINING CARON}": "v",
    "\N{COMBINING BREVE}": "u",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H",
    "\N{COMBINING CEDILLA}": "c",
}
MATHS = {
    **dict(zip("×±−÷≤≥≠≈∞°", "times pm - div le ge ne approx infty circ".split(), strict=True)),
    **dict(zip("→←↔⇒", "rightarrow leftarrow leftrightarrow Rightarrow".split(), strict=True)),
    **dict(zip("∈∩∪∅√", "in cap cup emptyset surd".split(), strict=True)),
}
GREEK = "GREEK {} LETTER "
SAME = frozenset({"omicron"})
"""Greek letters for which LaTeX has no command."""


def escaped(text: str) -> str:
    """The text for a paragraph or a cell; control characters and line ends are spaces."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text)
    made = []
    for known, signs in groupby(unicodedata.normalize("NFC", plain), lambda one: _sign(one) != ""):
        run = "".join(signs)
        made.append("".join(map(_sign, run)) if known else _other(run))
    return "".join(made)


def comment(text: str) -> str:
    """The text behind a `%`, on one line."""
    return "% " + " ".join("".join(s if s.isprintable() else " " for s in text).split())


def _sign(sign: str) -> str:
    """A sign in LaTeX; empty where it has none."""
    if sign in SIGNS:
        return SIGNS[sign]
    if sign.isascii():
        return sign
    if sign in LETTERS:
        return LETTERS[sign]
    if sign in MATHS:
        name = MATHS[sign]
        raised = r"^\circ" if name == "circ" else name if name == "-" else rf"\{name}"
        return f"${raised}$"
    base, *accents = list(unicodedata.normalize("NFD", sign))
    if len(accents) == 1 and accents[0] in ACCENTS and base.isascii() and base.isalpha():
        bare = rf"\{base}" if base in "ij" and accents[0] != "\N{COMBINING CEDILLA}" else base
        return rf"\{ACCENTS[accents[0]]}{{{bare}}}"
    return _greek(sign)


def _greek(sign: str) -> str:
    name = unicodedata.name(sign, "")
    for size, form in (("SMALL", str.lower), ("CAPITAL", str.capitalize)):
        start = GREEK.format(size)
        letter = name.removeprefix(start).replace("LAMDA", "LAMBDA").lower()
        if name.startswith(start) and letter.isalpha() and letter not in SAME:
            return _capital(letter) if size == "CAPITAL" else rf"$\{form(letter)}$"
    return ""


def _capital(letter: str) -> str:
    """Capitals that look like Latin ones have no command of their own."""
    own = "gamma delta theta lambda xi pi sigma upsilon phi psi omega".split()
    latin = {"alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I"}
    latin |= {"kappa": "K", "mu": "M", "nu": "N", "rho": "P", "tau": "T", "chi": "X"}
    return rf"$\{letter.capitalize()}$" if letter in own else latin.get(letter, "")


def _other(run: str) -> str:
    points = " ".join(f"U+{ord(sign):04X}" for sign in run)
    return rf"{{\ifdefined\Umathchar {run}\else {points}\fi}}"
