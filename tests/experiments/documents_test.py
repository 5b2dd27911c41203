"""The documents are true: links, anchors, keys, commands, paths and recipes in them exist, and their blocks run."""

import concurrent.futures
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
sys.path.insert(0, str(SOURCE / "tests" / "command_line"))

from program import MPI_SETTINGS, PROGRAM  # noqa: E402

FOLDERS = ("analysis", "cluster", "experiments", "src", "tests")
DOCUMENTS = [SOURCE / "README.md", *(path for folder in FOLDERS for path in sorted((SOURCE / folder).rglob("*.md")))]
# Pages with runnable blocks; each page runs in a folder of its own.
PAGES = [SOURCE / "README.md", SOURCE / "analysis" / "README.md", *sorted((SOURCE / "experiments" / "guide").glob("*.md"))]
# Written by the program, which knows its keys, and old keys or papers' formulas on purpose.
WITHOUT_KEYS = {"changelog.md", "errata.md"}
MAX_LINES = {"README.md": 130, "src/README.md": 200}
PATIENCE = 120.0


def blocks_and_prose(text):
    """Fenced blocks as (words behind the fence, text), and what is left of the document."""
    blocks, prose, fence = [], [], None
    for line in text.splitlines():
        if fence is None and (mark := re.match(r" *(`{3,})([^`]*)$", line)):
            fence, words, content = mark.group(1), mark.group(2).split() or ["unmarked"], []
        elif fence is not None and line.strip() == fence:
            blocks.append((words, "\n".join(content) + "\n"))
            fence = None
        elif fence is not None:
            content.append(line)
        else:
            prose.append(line)
    return blocks, "\n".join(prose)


def code_spans(prose):
    """What stands in single backticks, on one line or two."""
    without_double = re.sub(r"``+[^\n]*?``+", "", prose)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", without_double)]


@lru_cache(None)
def anchors(path):
    """Those that GitHub gives headings, and explicit ones."""
    _, prose = blocks_and_prose(path.read_text())
    found = set(re.findall(r'<a id="([^"]+)"', prose))
    for heading in re.findall(r"^#+ (.*)$", prose, re.MULTILINE):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def broken_links(path, text):
    _, prose = blocks_and_prose(text)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'<img src="([^"]+)"', prose)
    for target in targets:
        if re.match(r"https?://", target):
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        if not goal.exists():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(goal):
            yield f"{target}: there is no such anchor"


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


def unknown_paths(path, text):
    """Of code such as `src/main.cpp`; in src/README.md, of paths within src/, with or without an ending."""
    papers = "|".join(folder.name for folder in (SOURCE / "experiments").iterdir() if list(folder.glob("*.toml")))
    for span in code_spans(blocks_and_prose(text)[1]):
        if re.fullmatch(rf"(?:{papers})/\w+", span):
            if not (SOURCE / "experiments" / f"{span}.toml").exists():
                yield f"`{span}`: there is no such recipe"
        elif re.fullmatch(rf"(?:{'|'.join(FOLDERS)})/[\w./*-]+", span):
            if not list(SOURCE.glob(span.rstrip("/"))):
                yield f"`{span}`: there is no such file"
        elif re.fullmatch(r"[\w/]+\.(?:cpp|hpp|py)", span):
            if not any(list((SOURCE / folder).rglob(span)) for folder in FOLDERS):
                yield f"`{span}`: there is no such file"
        elif path == SOURCE / "src" / "README.md" and re.fullmatch(r"\w+/[\w./]+", span):
            if not list((SOURCE / "src").glob(span.rstrip("/"))) + list((SOURCE / "src").glob(f"{span}.?pp")):
                yield f"`{span}`: there is no such file in src/"


CHECKS = (broken_links, unknown_keys, unknown_commands, unknown_paths)


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
            "[a](nowhere.md)": "nowhere.md: there is no such file",
            "![a](nowhere.png)": "nowhere.png: there is no such file",
            '<img src="nowhere.png">': "nowhere.png: there is no such file",
            "[a](src/README.md#nowhere)": "src/README.md#nowhere: there is no such anchor",
            "`colour_of_the_line = 3`": "`colour_of_the_line = 3`: there is no key colour_of_the_line",
            "`[[environment]]`": "`[[environment]]`: there is no section environment",
            "`[[study.nothings]]`": "`[[study.nothings]]`: there is no key nothings",
            "`[output] section = 1`": "`[output] section = 1`: there is no key section",
            "`bathline rub x.toml`": "`bathline rub x.toml`: there is no command rub",
            "```sh\nbuild/bathline run x.toml --ste 3\n```": "`build/bathline run x.toml --ste 3`: run has no option --ste",
            "`analysis/watches.py FILE.h5`": "`analysis/watches.py FILE.h5`: there is no analysis/watches.py",
            "`analysis/watch.py FILE.h5 --pag`": "`analysis/watch.py FILE.h5 --pag`: analysis/watch.py has no option --pag",
            "`src/mane.cpp`": "`src/mane.cpp`: there is no such file",
            "`mane.cpp`": "`mane.cpp`: there is no such file",
            "`ours/mane`": "`ours/mane`: there is no such recipe",
        }
        for text, problem in wrong.items():
            with self.subTest(text):
                found = {one for check in CHECKS for one in check(SOURCE / "README.md", text + "\n")}
                self.assertEqual(found, {problem})
        self.assertEqual(
            list(unknown_paths(SOURCE / "src" / "README.md", "`model/mane`")), ["`model/mane`: there is no such file in src/"]
        )

    def test_the_first_pages_are_short(self):
        for name, lines in MAX_LINES.items():
            self.assertLessEqual(len((SOURCE / name).read_text().splitlines()), lines, name)

    def test_every_block_is_run_or_says_that_it_is_not(self):
        for path in DOCUMENTS:
            for words, block in blocks_and_prose(path.read_text())[0]:
                with self.subTest(path=path.relative_to(SOURCE), block=block[:60]):
                    kind = " ".join(words[:2]) if words[1:2] in (["fragment"], ["not-run"]) else words[0]
                    allowed = ("text", "math", "sh not-run")
                    if path in PAGES:
                        allowed += ("toml", "toml fragment", "sh", "python")
                    self.assertIn(kind, allowed)

    def test_blocks_run(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for page, problem in zip(PAGES, pool.map(run_page, PAGES)):
                with self.subTest(page.relative_to(SOURCE)):
                    self.assertIsNone(problem)


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
