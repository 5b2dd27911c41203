"""The documents are true: keys, commands and options in them exist, and their blocks run."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from functools import lru_cache
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("command_line", "sources")]

from links_test import DOCUMENTS, FOLDERS, PAGES, blocks_and_prose, code_spans  # noqa: E402
from program import MPI_SETTINGS, PROGRAM  # noqa: E402

# Written by the program, which knows its keys, and old keys or papers' formulas on purpose.
WITHOUT_KEYS = {"changelog.md", "errata.md"}
PATIENCE = 120.0


@lru_cache(None)
def known_keys():
    """Names of sections, and of all keys of recipes at any depth."""
    catalogue = json.loads(subprocess.run([PROGRAM, "generate", "catalogue"], capture_output=True, text=True, check=True).stdout)
    keys = set()

    def collect(parameters):
        for parameter in parameters:
            keys.add(parameter["name"])
            collect(parameter["members"])

    collect(catalogue["top"])
    for section in catalogue["sections"]:
        collect(section["parameters"])
    for category in ("systems", "potentials", "environments", "integrators", "studies"):
        for entry in catalogue[category]:
            collect(entry["parameters"])
    return {section["name"] for section in catalogue["sections"]} | {"sweep", "constants"}, keys | {"kind", "for_each", "case"}


def unknown_keys(path, text):
    """Of code such as `sites = "infinite"`, `[output]` and `[[study.quantities]]`."""
    if path.name in WITHOUT_KEYS:
        return
    sections, keys = known_keys()
    for span in code_spans(blocks_and_prose(text)[1]):
        if header := re.match(r"\[\[?([a-z]\w*)((?:\.\w+)*)\]\]?(?: (\w+) =.*|$)", span):
            section, inner, key = header.groups()
            names = [*inner.split(".")[1:], *([key] if key else [])]
            if section not in sections:
                yield f"`{span}`: there is no section {section}"
        elif assignment := re.match(r"([a-z]\w*) = ", span):
            names = [assignment.group(1)]
        else:
            continue
        for name in names:
            if name not in keys:
                yield f"`{span}`: there is no key {name}"


@lru_cache(None)
def help_of(*command):
    return subprocess.run([PROGRAM, *command, "--help"], capture_output=True, text=True, check=True).stdout


def wrong_words(command):
    """What of a command line does not exist: the program's commands and options, scripts and their options."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return
    for place, word in enumerate(words):
        rest = words[place + 1 :]
        rest = rest[: rest.index("--")] if "--" in rest else rest
        options = [option.split("=")[0] for option in rest if re.match(r"--?[a-z]", option)]
        if word in ("bathline", "build/bathline"):
            if not rest or not re.match(r"[a-z]", rest[0]):
                continue
            if f"\n  {rest[0]} " not in help_of():
                yield f"`{command}`: there is no command {rest[0]}"
                continue
            for option in options:
                if not re.search(rf"(?<![\w-]){option}(?![\w-])", help_of(rest[0])):
                    yield f"`{command}`: {rest[0]} has no option {option}"
        elif script := re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./-]+", word):
            file = SOURCE / script.group(0)
            if not file.exists():
                yield f"`{command}`: there is no {word}"
            elif place == 0 and file.is_file() and os.access(file, os.X_OK) and file.name not in ("run", "submit"):
                for option in options:
                    if not re.search(rf"(?<![\w-]){option}(?![\w-])", file.read_text()):
                        yield f"`{command}`: {word} has no option {option}"


def unknown_commands(_, text):
    blocks, prose = blocks_and_prose(text)
    lines = [line for words, block in blocks if words[:1] == ["sh"] for line in block.splitlines()]
    commands = re.compile(rf"(?:build/)?bathline [a-z]|(?:{'|'.join(FOLDERS)})/[\w./-]+ ")
    for command in lines + [span for span in code_spans(prose) if commands.match(span)]:
        yield from wrong_words(command)


CHECKS = (unknown_keys, unknown_commands)


class Documents(unittest.TestCase):
    def test_what_they_name_exists(self):
        self.assertGreater(len(DOCUMENTS), 25)
        problems = [
            f"{path.relative_to(SOURCE)}: {problem}"
            for path in DOCUMENTS
            for check in CHECKS
            for problem in check(path, path.read_text())
        ]
        self.assertEqual(problems, [])

    def test_each_check_finds_what_is_wrong(self):
        wrong = {
            "`colour_of_the_line = 3`": "`colour_of_the_line = 3`: there is no key colour_of_the_line",
            "`[[environment]]`": "`[[environment]]`: there is no section environment",
            "`[[study.nothings]]`": "`[[study.nothings]]`: there is no key nothings",
            "`[output] section = 1`": "`[output] section = 1`: there is no key section",
            "`bathline rub x.toml`": "`bathline rub x.toml`: there is no command rub",
            "```sh\nbuild/bathline run x.toml --ste 3\n```": "`build/bathline run x.toml --ste 3`: run has no option --ste",
            "`analysis/watches.py FILE.h5`": "`analysis/watches.py FILE.h5`: there is no analysis/watches.py",
            "`analysis/watch.py FILE.h5 --pag`": "`analysis/watch.py FILE.h5 --pag`: analysis/watch.py has no option --pag",
        }
        for text, problem in wrong.items():
            with self.subTest(text):
                found = {one for check in CHECKS for one in check(SOURCE / "README.md", text + "\n")}
                self.assertEqual(found, {problem})


class Blocks(unittest.TestCase):
    """The blocks of each page run; a test for each page is added below."""


def add_page(page):
    name = re.sub(r"\W", "_", page.relative_to(SOURCE).with_suffix("").as_posix())
    setattr(Blocks, f"test_{name}", lambda self: self.assertIsNone(run_page(page)))


for one_page in PAGES:
    add_page(one_page)


def run_page(page):
    """Runs the blocks of a page one after the other; returns what went wrong first."""
    environment = {
        **MPI_SETTINGS,
        **os.environ,
        "BATHLINE": PROGRAM,
        "PYTHONPATH": str(SOURCE / "analysis"),
        "MPLBACKEND": "agg",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for inside in FOLDERS:
            (folder / inside).symlink_to(SOURCE / inside)
        (folder / "build").mkdir()
        (folder / "build" / "bathline").symlink_to(PROGRAM)
        (folder / "runs").mkdir()
        for words, block in blocks_and_prose(page.read_text())[0]:
            if words[0] == "toml":
                *fragment, file = words[1:]
                text = (folder / file).read_text() + "\n" + block if fragment else block
                target = folder / ("runs/" + file if fragment else file)
                target.write_text(text)
                command = [PROGRAM, "run", target, "-o", folder / "runs" / f"{file}.h5", "--overwrite", "--progress", "none"]
            elif words[0] == "sh" and "not-run" not in words:
                command = ["bash", "-euo", "pipefail", "-c", block]
            elif words[0] == "python":
                command = [sys.executable, "-c", block]
            else:
                continue
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
            )
            if done.returncode != 0:
                return f"exit code {done.returncode} of\n{block}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return None


if __name__ == "__main__":
    unittest.main()
