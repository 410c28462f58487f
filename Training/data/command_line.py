"""The options that most commands of this package share."""

import argparse

from Training.data.vocabulary import COMMANDS
from Training.data.word_folds import FOLDS


def parser(description, data=True):
    """An argument parser with `description` as its help text; with `data`, it has --data and --cache."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        made.add_argument(
            "--data",
            required=True,
            action="append",
            help="folder of recordings (layout: Training/README.md); repeatable",
        )
        made.add_argument("--cache", required=True, help="folder where the decoded recordings are kept")
    return made


def add_words(parser):
    """Adds --words: the words that fire, with spaces between."""
    parser.add_argument("--words", type=str.split, default=COMMANDS, help="the words that fire")


def add_left_out(parser):
    """Adds --leave-out and --leave-out-fold: words that are not trained on; `left_out` reads them."""
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="WORD", help="words that no example holds")
    folds = range(len(FOLDS))
    parser.add_argument("--leave-out-fold", type=int, choices=folds, help="leave out a fold of data/word_folds.py")


def left_out(options):
    """The words to leave out, by the options of `add_left_out`."""
    return [*options.leave_out, *(() if options.leave_out_fold is None else FOLDS[options.leave_out_fold])]


def add_part(parser):
    """Adds --part: whose recordings are measured. Choices are made on `tune`, figures are reported of `report`."""
    parser.add_argument("--part", choices=("tune", "report"), default="report", help="half of the held-out speakers")


def add_program(parser):
    """Adds --beckon and --model: the built program and the model folder to measure."""
    parser.add_argument("--beckon", required=True, help="the built program")
    parser.add_argument("--model", required=True, help="the model folder")
