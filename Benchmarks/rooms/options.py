"""Options that all benchmarks of rooms have."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parser(description):
    """A parser of the folders, the program and the model."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="folder of recordings")
    parser.add_argument("--cache", required=True, type=Path, help="folder where the decoded recordings are kept")
    parser.add_argument("--work", required=True, type=Path, help="folder for the scenes")
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    parser.add_argument("--model", default=ROOT / "Models/commands", type=Path)
    return parser
