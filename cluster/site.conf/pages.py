#!/usr/bin/env python3
"""Copies the documents into a folder for Sphinx and adds the pages that only the site has: start, recipes, Python.

    pages.py ROOT FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT, PAGES = (Path(argument).resolve() for argument in sys.argv[1:3])
DOCUMENTS = ["README.md", "analysis/README.md", "cluster/README.md", "cluster/performance.md", "src/README.md", "tests/README.md",
             "experiments/README.md", "experiments/errata.md"]  # fmt: skip
FOLDERS = ["experiments/guide", "experiments/reference", "experiments/gallery"]
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?\)")


def recipes():
    """The recipes as pairs of their name and their path."""
    paths = sorted((ROOT / "experiments").glob("*/*.toml"))
    return [(path.relative_to(ROOT / "experiments").with_suffix("").as_posix(), path) for path in paths]


def contents_of(path):
    """A recipe with its parents and cases if the program is built, or else as it stands."""
    program = os.environ.get("BATHLINE", str(ROOT / "build" / "bathline"))
    if os.access(program, os.X_OK):
        return tomllib.loads(subprocess.run([program, "resolve", path], capture_output=True, text=True, check=True).stdout)
    return tomllib.loads(path.read_text())


def relinked(text, folder):
    """Links of a document in `folder`: recipes lead to their pages, other files of the repository become plain code."""

    def replaced(match):
        target, anchor = match[2], match[3] or ""
        if "://" in target or target.endswith("index.md"):
            return match[0]
        path = (ROOT / folder / target).resolve()
        if path.suffix == ".toml" and path.parent.parent == ROOT / "experiments":
            return f"{match[1]}{'../' * (folder.count('/') + bool(folder))}experiments/{path.parent.name}/{path.stem}.md)"
        if path.is_dir() and (path / "README.md").is_file():
            target = f"{target.rstrip('/')}/README.md"
            path = path / "README.md"
        if path.suffix == ".png" or path.relative_to(ROOT).as_posix() in DOCUMENTS or path.parent.name in ("guide", "reference"):
            return f"{match[1]}{target}{anchor})"
        return f"{match[1]}{'../' * (folder.count('/') + bool(folder))}files.md)"

    # The start page of the site is the README. Anchors within tables are HTML, and so are links to them.
    text = re.sub(r"\]\((?:\.\./)+README\.md(#[\w-]+)?\)", lambda m: f"]({'../' * (folder.count('/') + 1)}index.md{m[1] or ''})", text)
    text = re.sub(r"\[`([^`]+)`\]\((#key-[\w-]+)\)", r'<a href="\2"><code>\1</code></a>', text)
    # HTML of GitHub's tables: pictures with a width.
    text = re.sub(r'<img src="([^"]+)" alt="([^"]*)"[^>]*>', r"![\2](\1)", text)
    return LINK.sub(replaced, text)


def copy_documents():
    paths = [ROOT / name for name in DOCUMENTS] + [path for name in FOLDERS for path in (ROOT / name).rglob("*")]
    for path in paths:
        target = PAGES / path.relative_to(ROOT)
        if path.is_dir():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            folder = path.parent.relative_to(ROOT).as_posix()
            text = re.sub(r"^```(toml|sh|python|console|text)\b.*$", r"```\1", path.read_text(), flags=re.MULTILINE)
            text = re.sub(r"^(\s*)```math$", r"\1```{math}", text, flags=re.MULTILINE)
            target.write_text(relinked(text, "" if folder == "." else folder))
        else:
            shutil.copy(path, target)


def write_recipe(name, path):
    """The page of one recipe: picture, note, claims and the recipe itself."""
    recipe = contents_of(path)
    paper = recipe.get("paper", {})
    lines = [f"# {recipe['title']}\n", f"`{name}`" + (f", {paper['key']}" if "key" in paper else "")]
    lines[-1] += f", {paper['figure']}" if paper.get("figure") else ""
    drawn = ROOT / "results" / name / f"{path.stem}.png"
    thumbnail = ROOT / "experiments" / "gallery" / "thumbnails" / f"{name.replace('/', '-')}.png"
    folder = PAGES / "experiments" / Path(name).parent
    folder.mkdir(parents=True, exist_ok=True)
    picture = next((file for file in (drawn, thumbnail) if file.is_file()), None)
    if picture:
        shutil.copy(picture, folder / f"{path.stem}.png")
        lines.append(f"\n![{recipe['title']}]({path.stem}.png)")
    lines += ["\n" + text.strip() for text in (paper.get("note"), recipe.get("figure", {}).get("caption")) if text]
    if recipe.get("claims"):
        lines.append("\n## Claims\n\n| claim | quantity | source |\n|---|---|---|")
        for claim in recipe["claims"]:
            cells = (f"`{claim['name']}`", f"`{claim['quantity']}`", claim.get("source", "").replace("|", "\\|"))
            lines.append("| " + " | ".join(" ".join(cell.split()) for cell in cells) + " |")
    lines.append(f"\n## Recipe\n\n```toml\n{path.read_text().rstrip()}\n```\n")
    (folder / f"{path.stem}.md").write_text("\n".join(lines))


def write_start(names):
    guide = re.findall(r"\]\((\w+\.md)\)", (ROOT / "experiments/guide/README.md").read_text())
    reference = sorted(path.stem for path in (ROOT / "experiments/reference").glob("*.md") if path.stem != "README")
    trees = [
        ("Guide", ["experiments/guide/README", *(f"experiments/guide/{name[:-3]}" for name in dict.fromkeys(guide))]),
        ("Reference", ["experiments/reference/README", *(f"experiments/reference/{name}" for name in reference)]),
        ("Python", ["analysis/README", "python"]),
        ("Recipes", ["experiments/README", *(f"experiments/{name}" for name in names), "experiments/errata"]),
        ("Running and developing", ["cluster/README", "cluster/performance", "src/README", "tests/README", "files"]),
    ]
    text = "```{include} README.md\n```\n"
    for caption, pages in trees:
        text += "\n```{toctree}\n:hidden:\n:caption: " + caption + "\n\n" + "\n".join(pages) + "\n```\n"
    (PAGES / "index.md").write_text(text)
    (PAGES / "python.md").write_text(
        "# Python package\n\n```{eval-rst}\n.. automodule:: bathline\n   :members:\n   :imported-members:\n"
        "   :inherited-members: Mapping, Exception, tuple\n   :exclude-members: environments, notes\n```\n"
    )
    (PAGES / "files.md").write_text(
        "# Files of the repository\n\nLinks to source files, scripts and data lead here: these files are in the repository, "
        "under the path that the link shows.\n"
    )


def copy_mathjax():
    """The parts of Debian's MathJax that the pages load, so that formulas work without a network."""
    source = Path("/usr/share/javascript/mathjax")
    parts = ["MathJax.js", "config/TeX-AMS_CHTML.js", "extensions", "jax/element", "jax/input/TeX", "jax/output/CommonHTML",
             "fonts/HTML-CSS/TeX/woff"]  # fmt: skip
    for part in parts:
        target = PAGES / "mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (source / part).is_dir() else shutil.copy)(source / part, target)


copy_mathjax()
copy_documents()
for recipe_name, recipe_path in recipes():
    write_recipe(recipe_name, recipe_path)
write_start([recipe_name for recipe_name, _ in recipes()])
