#!/usr/bin/python3
"""One page with every figure, claim and provenance under a folder of results.

    report.py RESULTS -o report.html

The page stands alone: pictures and style are inside it, nothing is loaded from elsewhere."""

import argparse
import base64
import html
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bathline.isolated_process import ChildProcessDied, run_isolated
from bathline.text_to_html import to_html
from bathline.result_file import AnalysisError, Claim, ResultFile, format_number, natural_key

# In this order where the file has them; any other attribute follows.
_FACTS = {
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
_TOLD_ELSEWHERE = {"title", "recipe", "recipe_resolved", "warnings"}


@dataclass
class Entry:
    """What the report says of one result."""

    file: Path
    root: Path  # the folder that the report is of
    title: str = ""
    status: str = "no result"
    trouble: str = ""
    recipe: dict = field(default_factory=dict)
    recipe_text: str = ""
    claims: list[Claim] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.title = self.title or self.short_name

    @property
    def is_of_recipe(self):
        """Whether it lies as experiments/reproduce lays it: <paper>/<recipe>/result.h5."""
        return self.file.name == "result.h5" and len(self.file.relative_to(self.root).parts) == 3

    @property
    def section(self):
        """The paper, or the folder by its path; the folder of the report itself by its name."""
        folder = self.file.parent.parent if self.file.name == "result.h5" else self.file.parent
        return str(folder.relative_to(self.root)) if self.root in folder.parents else folder.name

    @property
    def short_name(self):
        """What it is called within its section."""
        return self.file.parent.name if self.file.name == "result.h5" else self.file.name

    @property
    def name(self):
        return f"{self.section}/{self.short_name}"

    @property
    def anchor(self):
        return self.name.replace("/", "-") if self.is_of_recipe else str(self.file.relative_to(self.root))

    @property
    def picture(self):
        """The figure as PNG, by the name that experiments/reproduce gives it, or that analysis/figure.py chooses."""
        named = self.file.with_name(f"{self.file.parent.name}.png")
        return named if self.file.name == "result.h5" and named.is_file() else self.file.with_suffix(".png")

    def end_of_log(self):
        """The last lines of what the run said, where experiments/reproduce has kept it."""
        log = self.file.with_name("run.log")
        kept = self.file.name == "result.h5" and log.is_file()
        try:
            return "\n".join(log.read_text(errors="replace").splitlines()[-12:]) if kept else ""
        except OSError as error:
            return f"run.log cannot be read: {error.strerror}"

    @property
    def finished(self):
        return self.status == "complete"

    def count(self, condition):
        """Number of claims for which the condition holds."""
        return sum(1 for claim in self.claims if condition(claim))


def is_unsupported(claim):
    """Whether the claim is a paper's statement that the numbers contradict, as its recipe says."""
    return claim.passed and not claim.supported


def read_entry(file, root):
    """Everything that a result under `root` tells, however little that is; None where it is a file of something else."""
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
            entry.facts = _facts(result.attributes)
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
    except Exception as error:  # whatever a damaged file leads to concerns its own entry alone
        entry = _unreadable(file, root, error)
    return entry


def _unreadable(file, root, error):
    return Entry(file, root, status="unreadable", trouble=f"{file.name}: {error}")


def _facts(attributes):
    facts = [(label, attributes[name], name) for name, label in _FACTS.items() if name in attributes]
    facts += [
        (name.replace("_", " "), value, name)
        for name, value in attributes.items()
        if name not in _FACTS and name not in _TOLD_ELSEWHERE
    ]
    return [(label, _fact_text(name, value)) for label, value, name in facts if value != ""]


def _fact_text(name, value):
    if name == "git_dirty":
        return "yes" if value in (1, True, "true", "1", "yes") else "no"
    if name == "wall_time_s" and isinstance(value, (int, float)):
        return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"
    return str(value)


def page(entries, home):
    """The whole report as HTML; `home` is the folder that it will lie in."""
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
    again = "<code>experiments/reproduce paper/recipe</code>" if of_recipes else "<code>bathline run</code> its recipe"
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
        '<p class="lead">Every figure below was drawn from a result file beside this page, and every claim '
        f"was computed from what ran. To make one again: {again}.</p>",
        '<ul class="sums">',
    ]
    lines += [
        f'<li><b class="{style}">{number}</b><span>{label}</span></li>' for number, label, style in sums
    ]
    return "\n".join(lines) + "\n</ul>\n</header>"


def _trouble(entries):
    """What a reader has to know before the rest: runs that did not end, claims that failed, statements not supported."""
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
    """Where the recipes of a paper, or the results in a folder, begin."""
    return f"{section}-recipes"


def _contents(sections):
    """The table of contents: every section, its results by their titles, and how their claims came out."""
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
    """The article of an entry, or of one that holds no more than why there is none."""
    try:
        return _article(entry, home)
    except Exception as error:  # as a recipe of a stranger, whose caption is a number
        trouble = f"{entry.file.name}: {error}"
        return _article(Entry(entry.file, entry.root, status=entry.status, trouble=trouble), home)


def _article(entry, home):
    paper = entry.recipe.get("paper") or {}
    # The key is shown only where it is not the folder's name already.
    key = paper.get("key", "") if paper.get("key") != entry.section else ""
    place = ", ".join(text for text in (key, paper.get("figure", "")) if text)
    line = f"{entry.name} · {place}" if place else entry.name
    lines = [
        f'<article id="{html.escape(entry.anchor)}">',
        f'<h3><span class="name">{html.escape(line)} · <a href="#contents">contents</a></span>'
        f"{to_html(entry.title)}</h3>",
    ]
    if not entry.finished:
        detail = f"<pre>{html.escape(entry.trouble)}</pre>" if entry.trouble else ""
        lines.append(
            f'<div class="banner">Status of this run: <b>{html.escape(entry.status)}</b>. '
            f"What follows shows only what it has left.{detail}</div>"
        )
    lines.append(_figure(entry, home))
    if paper.get("note"):
        lines.append(
            '<p class="note"><b>What is the paper’s and what is ours.</b> ' f'{to_html(paper["note"])}</p>'
        )
    if entry.warnings:
        warnings = "<br>".join(to_html(text) for text in entry.warnings)
        lines.append(f'<p class="banner warning"><b>The program warned.</b> {warnings}</p>')
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
        # Drawn at 200 dots per inch, shown at 120. A PNG's width stands in its bytes 16 to 19.
        width = int.from_bytes(content[16:20], "big") * 3 // 5
        lines.append(
            f'<img width="{width}" alt="{html.escape(caption or entry.title)}" '
            f'src="data:image/png;base64,{data}">'
        )
    elif not entry.recipe.get("figure") and not caption:
        return ""
    else:
        how = "" if entry.is_of_recipe else f"; <code>analysis/figure.py {html.escape(entry.file.name)}</code> draws one"
        lines.append(f'<p class="banner">There is no picture of this result{how}.</p>')
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
    if not entry.facts:
        return ""
    rows = "\n".join(
        f"<tr><th>{html.escape(label)}</th><td>{html.escape(text)}</td></tr>" for label, text in entry.facts
    )
    return (
        '<details><summary>Provenance</summary>\n<div class="scroll"><table class="facts">\n'
        f"{rows}\n</table></div></details>"
    )


def entries_of(folder):
    """All results under a folder, also <paper>/<recipe> whose run has left none, in natural order."""
    root = Path(os.path.abspath(folder))
    files = {path for pattern in ("**/*.h5", "*/*/result.h5") for path in root.glob(pattern) if not path.is_dir()}
    files = {path for path in files if ".checkpoint." not in path.name}
    files |= {path.with_name("result.h5") for path in root.glob("*/*/run.log")}
    entries = [entry for path in files if (entry := read_entry(path, root)) is not None]
    return sorted(entries, key=lambda entry: (natural_key(entry.section), natural_key(entry.short_name)))


def main(arguments=None):
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", metavar="RESULTS", help="folder with results of bathline, at any depth")
    parser.add_argument("-o", "--output", metavar="FILE.html", required=True)
    options = parser.parse_args(arguments)
    if not Path(options.results).is_dir():
        print(f"report: {options.results}: no such folder", file=sys.stderr)
        return 2
    entries = entries_of(options.results)
    if not entries:
        print(f"report: {options.results}: no result of bathline in it or below it", file=sys.stderr)
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
