#!/usr/bin/python3
"""Writes one page with the figures, claims and provenance of all results under a folder.

    report.py RESULTS -o report.html

The page is self-contained: figures and style are embedded, nothing is loaded from elsewhere.
"""

import argparse
import base64
import html
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bathline.isolated_process import ChildProcessDied, run_isolated
from bathline.result_file import AnalysisError, Claim, ResultFile, format_number, natural_key
from bathline.text_to_html import to_html

# Attributes that come first, in this order, with their names in the report; all other attributes follow.
_LEADING_ATTRIBUTES = {
    "status": "status",
    "bathline_version": "bathline",
    "git_commit": "commit",
    "git_dirty": "uncommitted changes",
    "mpi_ranks": "ranks",
    "compiler": "compiler",
    "compiler_flags": "compiler flags",
    "petsc_version": "PETSc",
    "hdf5_version": "HDF5",
    "mpi_version": "MPI",
    "mpi_library": "MPI",
    "seed": "seed",
    "started": "started",
    "wall_time_s": "wall time",
}
_SHOWN_ELSEWHERE = {"title", "recipe", "recipe_resolved", "warnings"}


@dataclass
class Entry:
    """The contents of one result in the report.

    Attributes
    ----------
    file : pathlib.Path
        The result file, which may be missing.
    root : pathlib.Path
        The folder of the report.
    title, status : str
        Title and status of the result.
    trouble : str
        Reason why the result is missing or incomplete.
    recipe : dict
        The recipe.
    recipe_text : str
        Text of the recipe.
    claims : list of Claim
        The claims.
    provenance : list of (str, str)
        Names and texts of attributes.
    warnings : list of str
        Warnings of the program.
    """

    file: Path
    root: Path
    title: str = ""
    status: str = "no result"
    trouble: str = ""
    recipe: dict = field(default_factory=dict)
    recipe_text: str = ""
    claims: list[Claim] = field(default_factory=list)
    provenance: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.title = self.title or self.short_name

    @property
    def is_of_recipe(self):
        """bool : Whether the path is that of experiments/reproduce: <paper>/<recipe>/result.h5."""
        return self.file.name == "result.h5" and len(self.file.relative_to(self.root).parts) == 3

    @property
    def section(self):
        """str : The paper, or the path of the folder; for the folder of the report its name."""
        folder = self.file.parent.parent if self.file.name == "result.h5" else self.file.parent
        return str(folder.relative_to(self.root)) if self.root in folder.parents else folder.name

    @property
    def short_name(self):
        """str : Name of the result within its section."""
        return self.file.parent.name if self.file.name == "result.h5" else self.file.name

    @property
    def name(self):
        """str : Section and name of the result."""
        return f"{self.section}/{self.short_name}"

    @property
    def anchor(self):
        """str : Anchor of the result in the page."""
        return self.name.replace("/", "-") if self.is_of_recipe else str(self.file.relative_to(self.root))

    @property
    def picture(self):
        """pathlib.Path : The figure as PNG, as named by experiments/reproduce or by analysis/figure.py."""
        reproduced = self.file.with_name(f"{self.file.parent.name}.png")
        is_reproduced = self.file.name == "result.h5" and reproduced.is_file()
        return reproduced if is_reproduced else self.file.with_suffix(".png")

    def end_of_log(self):
        """Read the last lines of the run's output, which experiments/reproduce writes to run.log.

        Returns
        -------
        str
            Empty if there is no such file.
        """
        log = self.file.with_name("run.log")
        exists = self.file.name == "result.h5" and log.is_file()
        try:
            return "\n".join(log.read_text(errors="replace").splitlines()[-12:]) if exists else ""
        except OSError as error:
            return f"run.log cannot be read: {error.strerror}"

    @property
    def finished(self):
        """bool : Whether the run is complete."""
        return self.status == "complete"

    def count(self, condition):
        """Count claims.

        Parameters
        ----------
        condition : callable
            Returns whether a claim is counted.

        Returns
        -------
        int
        """
        return sum(1 for claim in self.claims if condition(claim))


def is_unsupported(claim):
    """Whether a claim passes because the numbers contradict a paper's statement, as its recipe states.

    Parameters
    ----------
    claim : Claim
        The claim.

    Returns
    -------
    bool
    """
    return claim.passed and not claim.supported


def read_entry(file, root):
    """Read the entry of a result; a file that is damaged or missing gives an entry with the reason.

    Parameters
    ----------
    file : pathlib.Path
        The result file.
    root : pathlib.Path
        The folder of the report.

    Returns
    -------
    Entry or None
        None if the file is not a result of the program.
    """
    try:
        return run_isolated(_read_entry, file, root)
    except ChildProcessDied as error:
        return _unreadable(file, root, error)


def _read_entry(file, root):
    entry = Entry(file, root)
    try:
        with ResultFile(file) as result:
            if not entry.is_of_recipe and "bathline_version" not in result.attributes:
                return None
            entry.title, entry.status, entry.recipe = result.title, result.status, result.recipe
            entry.recipe_text = (
                result.attributes.get("recipe") or result.attributes.get("recipe_resolved") or ""
            )
            entry.claims, entry.warnings = result.claims(), result.warnings()
            entry.provenance = _provenance_rows(result.attributes)
            if not entry.finished:
                reasons = [
                    result.attributes[name]
                    for name in ("failure", "reason", "message", "error")
                    if name in result.attributes
                ]
                entry.trouble = "\n".join(map(str, reasons)) or entry.end_of_log()
    except AnalysisError as error:
        if file.is_file():
            entry.status = "unreadable"
        entry.trouble = f"{str(error).removeprefix(str(file.parent) + os.sep)}\n{entry.end_of_log()}".strip()
    except Exception as error:  # an error caused by a damaged file must not end the report
        entry = _unreadable(file, root, error)
    return entry


def _unreadable(file, root, error):
    return Entry(file, root, status="unreadable", trouble=f"{file.name}: {error}")


def _provenance_rows(attributes):
    rows = [(label, attributes[name], name) for name, label in _LEADING_ATTRIBUTES.items() if name in attributes]
    rows += [
        (name.replace("_", " "), value, name)
        for name, value in attributes.items()
        if name not in _LEADING_ATTRIBUTES and name not in _SHOWN_ELSEWHERE
    ]
    return [(label, _attribute_text(name, value)) for label, value, name in rows if value != ""]


def _attribute_text(name, value):
    if name == "git_dirty":
        return "yes" if value in (1, True, "true", "1", "yes") else "no"
    if name == "wall_time_s" and isinstance(value, (int, float)):
        return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"
    return str(value)


def page(entries, home):
    """Compose the report.

    Parameters
    ----------
    entries : list of Entry
        Entries in the order of the report.
    home : pathlib.Path
        Folder of the page, for relative links.

    Returns
    -------
    str
        HTML.
    """
    css = (Path(__file__).parent / "report.css").read_text()
    sections = {}
    for entry in entries:
        sections.setdefault(entry.section, []).append(entry)
    body = [_summary(entries), _contents(sections), _trouble(entries)]
    for section, members in sections.items():
        body.append(f'<section>\n<h2 id="{html.escape(_anchor(section))}">{html.escape(section)}</h2>')
        body += [_article_or_trouble(entry, home) for entry in members]
        body.append("</section>")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>bathline: figures and claims</title>\n<style>\n{css}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _summary(entries):
    claims = [claim for entry in entries for claim in entry.claims]
    failed = sum(not claim.passed for claim in claims)
    unsupported = [(entry, claim) for entry in entries for claim in entry.claims if is_unsupported(claim)]
    unfinished = [entry for entry in entries if not entry.finished]
    of_recipes = all(entry.is_of_recipe for entry in entries)
    command = "<code>experiments/reproduce paper/recipe</code>" if of_recipes else "<code>bathline run</code> its recipe"
    sums = [
        (len(entries), "recipes" if of_recipes else "results", ""),
        (len(claims), "claims", ""),
        (len(claims) - failed - len(unsupported), "passed", "good"),
        (failed, "failed", "bad" if failed else ""),
        (len(unsupported), "statements of papers not supported", "odd" if unsupported else ""),
    ]
    if unfinished:
        sums.append((len(unfinished), "runs not complete", "bad"))
    lines = [
        "<header>\n<h1>Figures and claims</h1>",
        '<p class="lead">All figures were drawn from result files beside this page, and all claims '
        f"were computed in the runs. To reproduce one: {command}.</p>",
        '<ul class="sums">',
    ]
    lines += [
        f'<li><b class="{style}">{number}</b><span>{label}</span></li>' for number, label, style in sums
    ]
    return "\n".join(lines) + "\n</ul>\n</header>"


def _trouble(entries):
    """Banners at the top: incomplete runs, failed claims, and statements of papers that are not supported."""
    lines = [
        f'<p class="banner">{_link(entry)}: status <b>{html.escape(entry.status)}</b></p>'
        for entry in entries
        if not entry.finished
    ]
    lines += [
        f'<p class="banner">{_link(entry)}: claim <code>{html.escape(claim.name)}</code> <b>failed</b>: '
        f"measured {format_number(claim.measured)}, expected {html.escape(claim.target)}</p>"
        for entry in entries
        for claim in entry.claims
        if not claim.passed
    ]
    lines += [
        f'<p class="banner warning">{_link(entry)}: the numbers do not support {html.escape(claim.source)} '
        f"(<code>{html.escape(claim.name)}</code>). {to_html(claim.note)}</p>"
        for entry in entries
        for claim in entry.claims
        if is_unsupported(claim)
    ]
    return "\n".join(lines)


def _link(entry):
    return f'<a href="#{html.escape(entry.anchor)}">{html.escape(entry.name)}</a>'


def _anchor(section):
    """Anchor of a section."""
    return f"{section}-recipes"


def _contents(sections):
    """The table of contents: sections, titles of results, and numbers of claims passed or failed."""
    lines = ['<nav id="contents">\n<h2>Contents</h2>']
    for section, members in sections.items():
        heading = f'<a href="#{html.escape(_anchor(section))}">{html.escape(section)}</a>'
        lines.append(f"<h4>{heading}</h4>\n<ul>")
        for entry in members:
            name = entry.short_name
            title = to_html(entry.title) if entry.title != name else ""
            lines.append(
                f'<li><span><a href="#{html.escape(entry.anchor)}">{html.escape(name)}</a> {title}</span>'
                f'<span class="count">{_short_verdict(entry)}</span></li>'
            )
        lines.append("</ul>")
    return "\n".join(lines) + "\n</nav>"


def _short_verdict(entry):
    failed = entry.count(lambda claim: not claim.passed)
    if not entry.finished:
        return f'<span class="bad">{html.escape(entry.status)}</span>'
    if failed:
        return f'<span class="bad">{failed} of {len(entry.claims)} failed</span>'
    unsupported = entry.count(is_unsupported)
    odd = f', <span class="odd">{unsupported} not supported</span>' if unsupported else ""
    passed = len(entry.claims) - unsupported
    return f'<span class="good">{passed} passed</span>{odd}' if entry.claims else "no claims"


def _article_or_trouble(entry, home):
    """The article of an entry; if it cannot be composed, one with the reason."""
    try:
        return _article(entry, home)
    except Exception as error:  # for instance a caption in a stranger's recipe that is a number
        trouble = f"{entry.file.name}: {error}"
        return _article(Entry(entry.file, entry.root, status=entry.status, trouble=trouble), home)


def _article(entry, home):
    paper = entry.recipe.get("paper") or {}
    # The key is shown only if it differs from the name of the folder.
    key = paper.get("key", "") if paper.get("key") != entry.section else ""
    source = ", ".join(text for text in (key, paper.get("figure", "")) if text)
    line = f"{entry.name} · {source}" if source else entry.name
    lines = [
        f'<article id="{html.escape(entry.anchor)}">',
        f'<h3><span class="name">{html.escape(line)} · <a href="#contents">contents</a></span>'
        f"{to_html(entry.title)}</h3>",
    ]
    if not entry.finished:
        detail = f"<pre>{html.escape(entry.trouble)}</pre>" if entry.trouble else ""
        lines.append(
            f'<div class="banner">Status of this run: <b>{html.escape(entry.status)}</b>. '
            f"Only its partial contents are shown.{detail}</div>"
        )
    lines.append(_figure(entry, home))
    if paper.get("note"):
        lines.append(
            '<p class="note"><b>Parameters of the paper and our own.</b> ' f'{to_html(paper["note"])}</p>'
        )
    if entry.warnings:
        warnings = "<br>".join(to_html(text) for text in entry.warnings)
        lines.append(f'<p class="banner warning"><b>Warnings of the program.</b> {warnings}</p>')
    lines += [_claims(entry), _provenance(entry)]
    if entry.recipe_text:
        lines.append(
            f"<details><summary>Recipe</summary>\n<pre>{html.escape(entry.recipe_text)}</pre></details>"
        )
    return "\n".join(line for line in lines if line) + "\n</article>"


def _figure(entry, home):
    caption = (entry.recipe.get("figure") or {}).get("caption") or ""
    picture = entry.picture
    pdf = picture.with_suffix(".pdf")
    lines = ["<figure>"]
    if picture.is_file():
        try:
            content = picture.read_bytes()
        except OSError as error:
            return f'<p class="banner">{html.escape(picture.name)} cannot be read: {error.strerror}.</p>'
        data = base64.b64encode(content).decode("ascii")
        # Figures are drawn at 200 dots per inch and shown at 120. Bytes 16 to 19 of a PNG are its width.
        width = int.from_bytes(content[16:20], "big") * 3 // 5
        lines.append(
            f'<img width="{width}" alt="{html.escape(caption or entry.title)}" '
            f'src="data:image/png;base64,{data}">'
        )
    elif not entry.recipe.get("figure") and not caption:
        return ""
    else:
        command = f"<code>analysis/figure.py {html.escape(entry.file.name)}</code>"
        hint = "" if entry.is_of_recipe else f"; {command} draws one"
        lines.append(f'<p class="banner">There is no figure of this result{hint}.</p>')
    link = ""
    if pdf.is_file():
        link = f' <a href="{html.escape(Path(os.path.relpath(pdf, home)).as_posix())}">PDF</a>'
    lines.append(f"<figcaption>{to_html(caption)}{link}</figcaption>\n</figure>")
    return "\n".join(lines)


def _claims(entry):
    if not entry.claims:
        return ""
    lines = [
        '<table class="claims">',
        "<thead><tr><th>Claim</th><th>Measured</th><th>Expected</th><th>Uncertainty</th><th>Source</th>"
        "<th>Verdict</th></tr></thead>",
        "<tbody>",
    ]
    for claim in entry.claims:
        style, verdict = "", '<span class="good">passed</span>'
        if not claim.passed:
            style, verdict = "failed", '<span class="bad">failed</span>'
        elif is_unsupported(claim):
            style = "unsupported"
            verdict = '<span class="odd">the paper’s statement is not supported by the numbers</span>'
        note = "".join(f"<small>{to_html(text)}</small>" for text in (claim.note, claim.problem) if text)
        lines.append(
            f'<tr class="{style}"><td><b>{html.escape(claim.name)}</b><br>'
            f"<code>{html.escape(claim.quantity)}</code>{note}</td>"
            f'<td class="number" data-label="measured">{format_number(claim.measured)}</td>'
            f'<td data-label="expected">{html.escape(claim.target)}</td>'
            f'<td class="number" data-label="uncertainty">{claim.accuracy}</td>'
            f'<td data-label="source">{html.escape(claim.source)}</td><td>{verdict}</td></tr>'
        )
    return "\n".join(lines) + "\n</tbody></table>"


def _provenance(entry):
    if not entry.provenance:
        return ""
    rows = "\n".join(
        f"<tr><th>{html.escape(label)}</th><td>{html.escape(text)}</td></tr>" for label, text in entry.provenance
    )
    return (
        '<details><summary>Provenance</summary>\n<div class="scroll"><table class="facts">\n'
        f"{rows}\n</table></div></details>"
    )


def entries_of(folder):
    """Read the entries of all results under a folder, including runs of experiments/reproduce without a result.

    Parameters
    ----------
    folder : path-like
        The folder.

    Returns
    -------
    list of Entry
        In natural order of sections and names.
    """
    root = Path(os.path.abspath(folder))
    files = {path for pattern in ("**/*.h5", "*/*/result.h5") for path in root.glob(pattern) if not path.is_dir()}
    files = {path for path in files if ".checkpoint." not in path.name}
    files |= {path.with_name("result.h5") for path in root.glob("*/*/run.log")}
    entries = [entry for path in files if (entry := read_entry(path, root)) is not None]
    return sorted(entries, key=lambda entry: (natural_key(entry.section), natural_key(entry.short_name)))


def main(arguments=None):
    """Run the command.

    Parameters
    ----------
    arguments : list of str, optional
        Command line, by default `sys.argv[1:]`.

    Returns
    -------
    int
        Exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", metavar="RESULTS", help="folder with results, at any depth")
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True)
    options = parser.parse_args(arguments)
    if not Path(options.results).is_dir():
        print(f"report: {options.results}: no such folder", file=sys.stderr)
        return 2
    entries = entries_of(options.results)
    if not entries:
        print(f"report: {options.results}: contains no results of bathline", file=sys.stderr)
        return 2
    output = Path(options.output)
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page(entries, output.parent), encoding="utf-8")
    except OSError as error:
        print(f"report: {error.filename or output} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
