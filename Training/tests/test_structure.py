"""The structure of the package, without any dependency: imports go down only, and every command that is mentioned exists."""

import ast
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRAINING = ROOT / "Training"
# Each room may import itself and those before it.
ROOMS = ["data", "augment", "model", "evaluate", "export", "embedding", "confirm"]


def modules():
    """The package's modules with their syntax trees."""
    for room in ROOMS:
        for path in sorted((TRAINING / room).glob("*.py")):
            yield room, path, ast.parse(path.read_text())


def imported_rooms(tree):
    """Rooms of this package that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "Training":
            parts = node.module.split(".")
            yield from parts[1:2] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("Training."))


class StructureTests(unittest.TestCase):
    def test_imports_go_down_only(self):
        for room, path, tree in modules():
            allowed = ROOMS[: ROOMS.index(room) + 1]
            for imported in imported_rooms(tree):
                self.assertIn(imported, allowed, f"{path.relative_to(ROOT)} imports {imported}")

    def test_every_module_and_room_has_a_docstring(self):
        for _, path, tree in modules():
            self.assertTrue(ast.get_docstring(tree), f"{path.relative_to(ROOT)} has no docstring")

    def test_no_module_changes_the_import_path_or_seeds_a_generator_of_its_own(self):
        for _, path, _ in modules():
            text = path.read_text()
            self.assertNotIn("sys.path", text, path)
            if path.name != "seeding.py":
                self.assertNotIn("default_rng", text, path)

    def test_every_purpose_of_a_generator_is_in_the_table(self):
        table = ast.parse((TRAINING / "data/seeding.py").read_text())
        keys = {k.value for node in ast.walk(table) if isinstance(node, ast.Dict) for k in node.keys}
        used = set()
        for _, path, _ in modules():
            used |= set(re.findall(r'\bseeded\("([^"]+)"', path.read_text()))
        self.assertEqual(used, keys)

    def test_every_command_that_the_makefile_runs_exists(self):
        for name in re.findall(r"\$\(RUN\)\.([a-z_.]+)", (TRAINING / "Makefile").read_text()):
            path = TRAINING / (name.replace(".", "/") + ".py")
            self.assertTrue(path.is_file(), name)
            self.assertIn("def main(", path.read_text(), name)

    def test_every_target_that_a_page_mentions_exists(self):
        targets = set(re.findall(r"^([a-z-]+):", (TRAINING / "Makefile").read_text(), re.MULTILINE))
        pages = [ROOT / "README.md", ROOT / "Models/FORMAT.md", *ROOT.glob("docs/*.md"), *ROOT.glob("Models/*/*.md")]
        pages += [*TRAINING.glob("*.md"), *ROOT.glob("Benchmarks/**/*.md"), TRAINING / "export/card.py"]
        for page in pages:
            for target in re.findall(r"make -C Training ([a-z-]+)", page.read_text()):
                self.assertIn(target, targets, page)


if __name__ == "__main__":
    unittest.main()
