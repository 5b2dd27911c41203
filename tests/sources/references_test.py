"""Every citation key in sources and recipes stands in the bibliography, and libraries stay in their rooms."""

import os
import re
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
KEY = re.compile(r"\b([a-z]{3,}(?:19|20)\d\d)\b")


def files(folder, *endings):
    return [path for path in sorted((SOURCE / folder).rglob("*")) if path.suffix in endings]


class References(unittest.TestCase):
    def setUp(self):
        text = (SOURCE / "src" / "references.bib").read_text()
        self.keys = re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE)

    def test_keys_are_unique(self):
        self.assertEqual(len(self.keys), len(set(self.keys)))
        self.assertIn("limebeer2020", self.keys)

    def test_every_cited_key_is_known(self):
        cited = {}
        for path in files("src", ".cpp", ".hpp") + files("experiments", ".toml"):
            for key in KEY.findall(path.read_text()):
                cited.setdefault(key, path)
        self.assertGreater(len(cited), 3)
        for key, path in cited.items():
            self.assertIn(key, self.keys, f"{path} cites {key}")


class Rooms(unittest.TestCase):
    """Which library may appear where; a folder, or `.cpp` for its implementation files only."""

    ALLOWED = {
        r"<mpi\.h>": ["parallel/", "solve/*.cpp", "record/*.cpp"],
        r"<petsc[\w/]*\.h>": ["solve/*.cpp", "solve/petsc_handle.hpp"],
        r"<hdf5[\w]*\.h>": ["record/*.cpp", "record/hdf5_handle.hpp"],
        r"<toml\+\+[\w/.]*>": ["recipe/"],
        r"<CLI/[\w.]*>": ["main.cpp"],
    }

    def test_headers_stay_in_their_rooms(self):
        seen = set()
        for path in files("src", ".cpp", ".hpp"):
            place = path.relative_to(SOURCE / "src")
            for line in path.read_text().splitlines():
                for header, rooms in self.ALLOWED.items():
                    if not re.match(rf"\s*#include {header}", line):
                        continue
                    seen.add(header)
                    allowed = any(
                        str(place).startswith(room) if room.endswith("/") else place.match(room) for room in rooms
                    )
                    self.assertTrue(allowed, f"{place}: {line}")
        self.assertEqual(seen, set(self.ALLOWED))


if __name__ == "__main__":
    unittest.main()
