#!/usr/bin/env python3
"""Writes experiments/reference/ from the program's catalogues and the index experiments/README.md from the recipes.

    experiments/reference.py              writes both
    experiments/reference.py --check      exit code 1 if they are not up to date
    experiments/reference.py --pictures   makes thumbnails and the gallery of the figures in results/ first, which
                                          experiments/reproduce draws
"""

import functools
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("BATHLINE", str(ROOT / "build" / "bathline"))
EXPERIMENTS = ROOT / "experiments"
THUMBNAILS = EXPERIMENTS / "gallery" / "thumbnails"
CATEGORIES = {
    "systems": "The particles and the forces between them: `kind` of [`[system]`](recipe.md#system).",
    "potentials": "Of separations of particles, or of a particle's position: `kind` of the tables `potential`, `external` and "
    "`externals` of [`pair-potential`](systems.md#pair-potential) and [`contact`](systems.md#contact).",
    "environments": "What takes up the energy of the particles: `kind` of [`[[environments]]`](recipe.md#environments). The "
    "[guide](../guide/environments.md) introduces them.",
    "integrators": "`method` of [`[[integrators]]`](recipe.md#integrators). Properties are those with default options. The "
    "[guide](../guide/studies.md#integrators) compares them in one table.",
    "studies": "What is measured: `kind` of [`[study]`](recipe.md#study). The results are in a group with the study's name.",
}
COMMANDS = "run check resolve plot claims resume verify sweep serve convert import list describe cite".split()
PAPERS = {
    "limebeer2020": "Limebeer, Ober-Blöbaum and Haddad Farshi (2020): variational integrators for dissipative systems",
    "farshi2018": "Haddad Farshi, Jiménez and Ober-Blöbaum (2018): damping reduction",
    "luo2010": "Luo and Guo (2010): the time-centred scheme",
    "martin2018": "Martín de Diego and Sato Martín de Almagro (2018): forced Lagrangian systems, doubled variables",
    "simoes2020": "Anahory Simoes, Martín de Diego, Lainz Valcázar and de León: discrete contact mechanics",
    "ours": "What the papers do not ask",
}
# Figures that documents show in full: gallery/<name>.png of a recipe.
GALLERY = {
    "fig05": "limebeer2020/fig05",
    "energy_ledger": "luo2010/fig03",
    "henon_heiles": "ours/henon_heiles",
    "least_work": "ours/least_work",
    "reduction_every_gamma": "ours/reduction_every_gamma",
    "referee": "ours/referee",
    "shootout": "ours/shootout",
}


@functools.cache
def program():
    """One process for all commands, which ends with this one."""
    return subprocess.Popen([PROGRAM, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def printed(*arguments):
    """The standard output of a command of the program."""
    program().stdin.write(f"{{arguments = {json.dumps([str(word) for word in arguments])}}}\n")
    program().stdin.flush()
    reply = json.loads(program().stdout.readline())
    if reply["code"] != 0:
        sys.exit(f"bathline {' '.join(arguments)}: {reply['messages']}")
    return reply["output"]


# --- the reference ----------------------------------------------------------------------------------------------------


class Reference:
    """The pages of experiments/reference/, by name."""

    def __init__(self):
        self.catalogue = json.loads(printed("generate", "catalogue"))
        self.pages_of = {}
        for category in CATEGORIES:
            for entry in self.catalogue[category]:
                self.pages_of.setdefault(entry["name"], []).append(category)

    def pages(self):
        result = {"README.md": self.index(), "recipe.md": self.recipe(), "command_line.md": command_line()}
        for category in CATEGORIES:
            result[f"{category}.md"] = self.category(category)
        return result

    def index(self):
        text = "# Reference\n\nWhat the program says of itself (`bathline describe`, `bathline list`), on one page each.\n\n"
        sections = ", ".join(
            f"[`{section['header']}`](recipe.md#{section['name']})" for section in self.catalogue["sections"]
        )
        commands = ", ".join(f"[`{command}`](command_line.md#bathline-{command})" for command in COMMANDS)
        rows = [("[Recipes](recipe.md)", f"{sections}; [formulas](recipe.md#formulas)")]
        for category in CATEGORIES:
            names = ", ".join(
                f"[`{entry['name']}`]({category}.md#{entry['name']})" for entry in self.catalogue[category]
            )
            rows.append((f"[{category.capitalize()}]({category}.md)", names))
        rows.append(("[Command line](command_line.md)", commands))
        text += table(("page", "what is there"), rows)
        return text + (
            "\nUnits are SI, labels in the sense that no constant but `hbar` has a value. Citation keys are those of\n"
            "[`src/references.bib`](../../src/references.bib). The [guide](../guide/README.md) explains, and its\n"
            "[glossary](../guide/glossary.md) maps words of the literature to these names.\n"
        )

    def recipe(self):
        text = (
            "# Recipes\n\nOne experiment, written in TOML: sections and keys in their order. The "
            "[guide](../guide/README.md) introduces them.\n\n## Keys above all sections\n\n"
        )
        text += self.parameters(self.catalogue["top"], "top")
        for section in self.catalogue["sections"]:
            presence = {
                (True, True): "one or more",
                (True, False): "any number",
                (False, True): "required",
                (False, False): "optional",
            }[section["repeated"], section["required"]]
            text += f"\n## `{section['header']}`\n\n{paragraph(self.linked(section['doc']))}\n\nPresence: {presence}."
            if section["chooser"]:
                category = section["catalogue"]
                text += f" Further keys depend on `{section['chooser']}`: [{category}]({category}.md)."
            text += "\n\n" + self.parameters(section["parameters"], section["name"])
        written = printed("describe", "recipe")
        for name in ("constants", "for_each", "sweep"):
            doc = " ".join(written.split(f"\n[{name}] (optional)\n")[1].split("\n\n")[0].split())
            text += f"\n## `{name if name == 'for_each' else f'[{name}]'}`\n\n{paragraph(self.linked(doc))}\n"
        formulas = printed("describe", "formula").split("\nformula (system)")[0]
        return text + f"\n## Formulas\n\n```text\n{formulas.strip()}\n```\n"

    def category(self, category):
        entries = self.catalogue[category]
        counts = {}
        for entry in entries:
            for parameter in entry["parameters"]:
                key = json.dumps(parameter, sort_keys=True)
                counts[key] = counts.get(key, 0) + 1
        shared = {key for key, count in counts.items() if count > 1}
        text = f"# {category.capitalize()}\n\n{paragraph(CATEGORIES[category])}\n"
        text += "\n" + table(
            ("name", "what it is"),
            [(f"[`{entry['name']}`](#{entry['name']})", self.linked(entry["summary"])) for entry in entries],
        )
        if shared:
            keys = [json.loads(key) for key in counts if key in shared]
            text += "\n## Shared keys\n\nKeys with the same meaning in several entries; each entry names those that it has.\n\n"
            text += self.parameters(keys, "key")
        for entry in entries:
            text += "\n" + self.entry(entry, category, shared)
        return text

    def entry(self, entry, category, shared):
        text = f"## `{entry['name']}`\n\n"
        aliases = aliases_of(entry["name"]) if category == "integrators" else {}
        if aliases:
            text += "".join(f'<a id="{alias}"></a>' for alias in aliases) + "\n"
        text += paragraph(capitalised(self.linked(entry["summary"]))) + ".\n"
        if entry["equation"]:
            text += f"\n```text\n{entry['equation']}\n```\n"
        own = [one for one in entry["parameters"] if json.dumps(one, sort_keys=True) not in shared]
        common = [one for one in entry["parameters"] if json.dumps(one, sort_keys=True) in shared]
        if own:
            text += "\n" + self.parameters(own, entry["name"])
        if common:
            links = ", ".join(f"[`{one['name']}`](#key-{one['name']})" for one in common)
            text += "\n" + paragraph(f"Shared keys: {links}.") + "\n"
        if not entry["parameters"]:
            text += "\nNo keys of its own.\n"
        if aliases:
            text += "\n" + paragraph(f"Aliases: {', '.join(aliases.values())}.") + "\n"
        for line in filter(None, entry["notes"].split("\n")):
            text += "\n" + paragraph(self.linked(line)) + "\n"
        if entry["source"]:
            text += "\n" + paragraph(f"Source: {escaped(entry['source'])}") + "\n"
        return text

    def parameters(self, parameters, anchor):
        rows = []

        def add(parameters, prefix, anchor):
            for parameter in parameters:
                name = parameter["name"] if parameter["name"] != "*" else "<name>"
                here = f"{anchor}-{name}".replace("<", "").replace(">", "")
                presence = "required" if parameter["required"] else "optional"
                if parameter["default"]:
                    presence = f"default `{parameter['default']}`"
                meaning = capitalised(self.linked(parameter["doc"]))
                if parameter["catalogue"]:
                    meaning += f" Kinds: [{parameter['catalogue']}]({parameter['catalogue']}.md)."
                cells = (
                    f'<a id="{here}"></a>`{prefix}{name}`',
                    escaped(parameter["type"]),
                    escaped(parameter["units"]),
                    presence,
                    meaning,
                )
                rows.append(cells)
                add(parameter["members"], f"{prefix}{name}.", here)

        add(parameters, "", anchor)
        return table(("key", "type", "units", "presence", "meaning"), rows)

    def linked(self, text):
        """Escaped text with links to the entries and pages that it names in backticks."""

        def link(match):
            name = match.group(1)
            if found := re.fullmatch(r"bathline list (\w+)", name):
                return f"[`{name}`]({found.group(1)}.md)" if found.group(1) in CATEGORIES else match.group(0)
            if found := re.fullmatch(r"bathline (\w+)( .*)?", name):
                command = found.group(1)
                return f"[`{name}`](command_line.md#bathline-{command})" if command in COMMANDS else match.group(0)
            pages = self.pages_of.get(name, [])
            return f"[`{name}`]({pages[0]}.md#{name})" if len(pages) == 1 else match.group(0)

        return re.sub(r"`([^`]+)`", link, escaped(text))


def aliases_of(name):
    """Other names of a method, by name as text with the options that they set: lines such as `midpoint, with stages = 1`."""
    found = re.search(r"\nAliases\n(.*?)\n(?:\n|$)", printed("describe", name), re.DOTALL)
    aliases = {}
    for line in found.group(1).splitlines() if found else ():
        alias, *options = line.strip().split(", with ")
        aliases[alias] = f"`{alias}`" + "".join(f" (`{option}`)" for option in options)
    return aliases


def command_line():
    text = "# Command line\n\n```text\n" + printed("--help").strip() + "\n```\n"
    for command in COMMANDS:
        text += f"\n## `bathline {command}`\n\n```text\n{printed(command, '--help').strip()}\n```\n"
    return text


# --- the index of recipes ---------------------------------------------------------------------------------------------


def first_sentence(text):
    """The first sentence of a note; an abbreviation such as "Fig. 4" does not end one."""
    text = " ".join(text.split())
    found = re.match(r"(.*?(?<!Fig)(?<!Figs)(?<!eq)(?<!eqs)(?<!al)(?<!resp)\.)(?= [A-ZÀ-Ž`\"]|$)", text)
    return found.group(1) if found else text


def recipes():
    """Recipes by folder, in natural order, with their contents."""
    natural = lambda path: [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", path.stem)]
    return {
        paper: [
            (path.stem, tomllib.loads(printed("resolve", path)))
            for path in sorted((EXPERIMENTS / paper).glob("*.toml"), key=natural)
        ]
        for paper in PAPERS
    }


def thumbnail_of(paper, name):
    return THUMBNAILS / f"{paper}-{name}.png"


def index():
    text = textwrap.dedent("""\
        # Recipes

        One folder for each paper, one recipe for each figure; `ours/` asks what the papers do not. `experiments/reproduce` runs and draws
        all of them, `experiments/reproduce limebeer2020/fig06` one, with its figure in `results/limebeer2020/fig06/`. A recipe says which
        of its values are the paper's and which are ours. The [guide](guide/README.md) explains how recipes are written, the
        [reference](reference/README.md) lists every key; [errata](errata.md) are what we found wrong in the papers.

        This page is written by `experiments/reference.py`.
        """)
    for paper, contents in recipes().items():
        rows = []
        for name, recipe in contents:
            picture = thumbnail_of(paper, name)
            shown = f'<img src="gallery/thumbnails/{picture.name}" alt="{paper}/{name}" width="240">' if picture.exists() else ""
            figure = recipe["paper"]["figure"]
            if paper != "ours":
                figure = f"{recipe['paper']['key']}, {'Fig. ' if figure[0].isdigit() else ''}{figure}"
            elif recipe["paper"]["key"] != "ours":
                figure = f"{recipe['paper']['key']}, {figure}"
            else:
                figure = "ours"
            note = first_sentence(recipe["paper"]["note"])
            what = f"**{escaped(recipe['title'])}.**" + ("" if note == "All values are ours." else f" {escaped(note)}")
            rows.append((shown, f"[`{name}`]({paper}/{name}.toml)", what, escaped(figure)))
        text += f"\n## {paper}\n\n{PAPERS[paper]}.\n\n" + table(("figure", "recipe", "what it shows", "paper"), rows)
    return text


# --- Markdown ---------------------------------------------------------------------------------------------------------


def escaped(text):
    """Text that Markdown shows as it is, but for code in backticks."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*\[\]])", r"\\\1", parts[i]).replace("<", "&lt;").replace("$", "&#36;")
    return "`".join(parts)


def capitalised(text):
    """The first word of a sentence in lower case with a capital, where it is a word."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}[ ,;:]|a ", text) else text


def paragraph(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(re.sub(r" +\|", " |", line) for line in lines) + "\n"


# --- pictures ---------------------------------------------------------------------------------------------------------


def make_pictures():
    """Thumbnails 240 pixels wide, and the gallery, of the figures that experiments/reproduce has drawn in results/."""
    from PIL import Image

    THUMBNAILS.mkdir(parents=True, exist_ok=True)

    def shrink(source, target, width, colours):
        with Image.open(source) as picture:
            height = round(picture.height * width / picture.width)
            small = picture.convert("RGB").resize((width, height), Image.Resampling.LANCZOS)
            small.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)

    for paper, contents in recipes().items():
        for name, _ in contents:
            source = ROOT / "results" / paper / name / f"{name}.png"
            if source.exists():
                shrink(source, thumbnail_of(paper, name), 240, 24)
    for name, recipe in GALLERY.items():
        source = ROOT / "results" / recipe / f"{recipe.split('/')[1]}.png"
        if source.exists():
            shrink(source, EXPERIMENTS / "gallery" / f"{name}.png", 1100, 256)


def main():
    if "--pictures" in sys.argv[1:]:
        make_pictures()
    files = {EXPERIMENTS / "reference" / name: text for name, text in Reference().pages().items()}
    files[EXPERIMENTS / "README.md"] = index()
    if "--check" in sys.argv[1:]:
        stale = [str(path.relative_to(ROOT)) for path, text in files.items() if not path.exists() or path.read_text() != text]
        if stale:
            sys.exit(f"{', '.join(stale)}: not what the program says; run experiments/reference.py")
        return
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
