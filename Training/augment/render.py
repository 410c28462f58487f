"""Renders epochs of examples to disk once, so that several networks train on them, and reads them back as batches.

python -m Training.augment.render --data DIR --cache DIR --examples DIR [--hard-noise] [--without-noise [--speech-teacher FILE]]
"""

import os
import sys
import time

import numpy as np

from Training.augment import spectral, speech_teacher
from Training.augment.examples import Examples
from Training.data import command_line, log_mel, recordings
from Training.data.files import replacing
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import COMMANDS

BATCH = 192
# Fewer recordings of a command than this bring a warning.
FEW = 500


def path(folder, number):
    """The file of rendered epoch `number`."""
    return os.path.join(folder, f"epoch-{number:02}.npz")


def rendered(folder):
    """The numbers of the epochs that are rendered in a folder."""
    return [number for number in range(100) if os.path.exists(path(folder, number))]


def mined_path(folder):
    """The file of what mine.py found."""
    return os.path.join(folder, "mined.npz")


def load_mined(folder, table):
    """Windows of a table's running speech that mine.py found, (rows [n], first samples [n], scores [n]), or None."""
    if not os.path.exists(mined_path(folder)):
        return None
    with np.load(mined_path(folder)) as stored:
        if int(stored["rows"]) != len(table["name"]):
            sys.exit(f"{mined_path(folder)}: was mined in other recordings; remove it, or run model/mine.py again")
        return stored["row"], stored["first"], stored["score"]


def load_examples(folders, cache, commands=COMMANDS, batch=BATCH, folder=None, **noise):
    """The table of recordings and the Examples made of it.

    Mined windows are used if the folder of the rendered epochs holds any.
    """
    table = recordings.load_all(folders, cache)
    for word in commands:
        count = int(((table["label"] == word) & (table["part"] == "training")).sum())
        if count == 0:
            sys.exit(f"no recording of '{word}': neither the data nor the synthetic words have it")
        if count < FEW:
            print(f"only {count} recordings of '{word}'; 1000 by many speakers make it reliable", file=sys.stderr)
    mined = None if folder is None else load_mined(folder, table)
    return table, Examples(table, batch, 0, commands, mined, **noise)


def render(examples, folder, number, teacher=None):
    """Writes one epoch: `logs` [n, 79, 40] float16 (natural logs of energies), `targets`, `alternatives`, `kinds`, `sources` [n].

    What a SpeechTeacher answers is written to a file of its own: `answers` [n, 96] float16 and `places` [n].
    """
    examples.epoch = number
    kinds = examples.kinds[examples.order()][: len(examples) * examples.batch]
    arrays = {"logs": [], "targets": [], "alternatives": [], "sources": []}
    taught, generator = {"answers": [], "places": []}, seeded("places of the speech teacher", number)
    for number_of_batch in range(len(examples)):
        batch = examples[number_of_batch]
        arrays["logs"].append(np.log(batch.energies + np.float32(1e-8)).astype(np.float16))
        arrays["targets"].append(batch.targets), arrays["alternatives"].append(batch.alternatives)
        arrays["sources"].append(batch.sources)
        if teacher is not None:
            answers, places = teacher(batch.waves, generator)
            taught["answers"].append(answers.astype(np.float16))
            taught["places"].append(places.astype(np.int8))
    if teacher is not None:
        with replacing(speech_teacher.path(folder, number)) as part:
            np.savez(part, **{name: np.concatenate(value) for name, value in taught.items()})
    with replacing(path(folder, number)) as part:
        np.savez(part, kinds=kinds, **{name: np.concatenate(value) for name, value in arrays.items()})


def coloured(logs, generator, widest=0.1, depth=1.0):
    """Stored logs [n, 79, 40] → features [n, 79, 40] with VTLP of up to ±`widest` and `depth` of the decibels of a microphone response."""
    energies = np.exp(logs.astype(np.float32)) @ spectral.vtlp(len(logs), generator, widest)
    energies *= spectral.microphone_response(len(logs), generator)[:, None, :] ** depth
    return log_mel.normalized(energies)


def augmented(logs, generator):
    """Stored logs [n, 79, 40] → features [n, 79, 40], coloured and with SpecAugment."""
    return spectral.spec_augment(coloured(logs, generator), generator)


def lightly_augmented(logs, generator):
    """The same for the last epochs: coloured less, and without SpecAugment."""
    return coloured(logs, generator, widest=0.05, depth=0.3)


def batches(folder, number, seed, batch, soft_targets=None, keep=None, speech=None, augment=augmented):
    """Epoch `number` of the training with this seed: one of the rendered epochs, in an order and augmented anew.

    Yields features [batch, 79, 40], targets [batch], alternatives [batch], the teachers' posteriors [batch, outputs]:
    rows of `soft_targets(rendered epoch)`, zeros where the teachers have no answer, or None without it; and the speech teacher's
    answers [batch, 96], NaN where it has none, and their places [batch], rows of `speech(rendered epoch)`, or None without it.
    `keep(sources, kinds)` says which examples [n] are used, and `augment(logs, generator)` makes their features.
    """
    available = rendered(folder)
    chosen = available[(number + 7 * seed) % len(available)]
    with np.load(path(folder, chosen)) as stored:
        logs, targets, alternatives = stored["logs"], stored["targets"], stored["alternatives"]
        kept = np.arange(len(targets)) if keep is None else np.flatnonzero(keep(stored["sources"], stored["kinds"]))
    soft = None if soft_targets is None else soft_targets(chosen)
    answers = None if speech is None else speech(chosen)
    generator = seeded("training batch", number, seed=seed)
    order = generator.permutation(kept)
    for begin in range(0, len(order) - batch + 1, batch):
        rows = np.sort(order[begin : begin + batch])
        of_teachers = None if soft is None else soft[rows].astype(np.float32)
        of_speech = None if answers is None else tuple(each[rows] for each in answers)
        yield augment(logs[rows], generator), targets[rows], alternatives[rows], of_teachers, of_speech


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--examples", required=True, help="folder for the rendered epochs")
    command_line.add_words(parser)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--hard-noise", action="store_true", help="more noise, and more of it babble")
    parser.add_argument("--without-noise", action="store_true", help="the same examples without noise, for teachers")
    parser.add_argument("--speech-teacher", metavar="FILE", help="a general speech embedding in ONNX, whose answers are written too")
    command_line.add_left_out(parser)
    parser.add_argument("--first", type=int, default=0, help="number of the first epoch, to render in several processes")
    parser.add_argument("--every", type=int, default=1, help="distance between two epochs' numbers, to render in several processes")
    options = parser.parse_args(arguments)
    if options.speech_teacher and not options.without_noise:
        parser.error("--speech-teacher hears examples without noise: give --without-noise too, and a folder of its own")
    teacher = speech_teacher.SpeechTeacher(options.speech_teacher) if options.speech_teacher else None
    os.makedirs(options.examples, exist_ok=True)
    noise = {"hard_noise": options.hard_noise, "without_noise": options.without_noise, "left_out": command_line.left_out(options)}
    examples = load_examples(options.data, options.cache, options.words, options.batch, options.examples, **noise)[1]
    for number in range(options.first, options.epochs, options.every):
        if not os.path.exists(path(options.examples, number)):
            begun = time.time()
            render(examples, options.examples, number, teacher)
            print(f"epoch {number + 1}/{options.epochs} rendered in {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
