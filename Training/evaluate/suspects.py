"""Lists clips whose label is doubtful: published networks agree on another one, or the clip is practically silent.

    python -m Training.evaluate.suspects --data DIR --cache DIR --teachers DIR [--out FILE]

Writes data/suspects.tsv: name, label, what the networks answer, why. Several networks must agree, so that the errors of one do not count;
`confirm/answers.py` asks one, the best, for answers to learn from. `make suspects` has the folder of the networks in PYTHONPATH too, because
one of them may be in a file of its own.
"""

import importlib.util
import os

import numpy as np

from Training.data import command_line, recordings, suspects
from Training.data.audio import RATE, WINDOW
from Training.data.files import replacing
from Training.data.vocabulary import COMMANDS, UNKNOWN

# Two networks that tell all 35 words apart, and one that knows the commands well.
NETWORKS = ("matchboxnet", "bcresnet2", "kwt1")
# The least posterior that every network gives to the other label, and their geometric mean.
EACH, MEAN = 0.5, 0.9
# A clip is void if its loudest 100 ms are below so many dB of full scale: there the networks are wrong four times in five.
LEVEL = -58
CHUNK = 256


def published(folder, names=NETWORKS):
    """The networks of these names and their labels, by the `teachers.py` of a folder."""
    specification = importlib.util.spec_from_file_location("published_teachers", os.path.join(folder, "teachers.py"))
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.Teachers(names), list(module.LABELS12)


def loudness(waves):
    """The level of the loudest 100 ms of each clip [n, 16000], in dB of full scale, without the DC offset."""
    frames = waves.reshape(len(waves), -1, RATE // 10).astype(np.float64)
    return 10 * np.log10(frames.var(axis=2) + 1e-10).max(axis=1)


def disagreement(each, labels, label):
    """The label that every network prefers to `label`, and the geometric mean there; None if they do not all agree.

    `each` holds one clip's posteriors [networks, labels].
    """
    answers = each.argmax(axis=1)
    if len(set(answers)) > 1 or labels[answers[0]] == label:
        return None
    mean = np.exp(np.log(each + 1e-12).mean(axis=0))
    mean /= mean.sum()
    if each[:, answers[0]].min() < EACH or mean[answers[0]] < MEAN:
        return None
    return labels[answers[0]], float(mean[answers[0]])


def doubtful(names, words, posteriors, labels, levels):
    """The lines of the list: name, label, the networks' answer and why, of clips' posteriors [n, networks, labels]."""
    found = []
    for name, word, each, level in zip(names, words, posteriors, levels):
        other = disagreement(each, labels, word if word in COMMANDS else UNKNOWN)
        if level < LEVEL:
            found.append((name, word, "", f"void: {level:.0f} dB at the loudest"))
        elif other:
            found.append((name, word, other[0], f"all agree: {other[1]:.2f}"))
    return found


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--teachers", required=True, help="folder of published networks with a teachers.py")
    parser.add_argument("--out", default=suspects.PATH, help="the list to write")
    options = parser.parse_args(arguments)
    table = recordings.load_all(options.data, options.cache)
    networks, labels = published(options.teachers)
    rows = np.flatnonzero(table["kind"] == "clip")
    answers, levels = {}, []
    for begin in range(0, len(rows), CHUNK):
        waves = np.stack([recordings.samples(table, row, 0, WINDOW) for row in rows[begin : begin + CHUNK]])
        for name, logs in networks.each(waves).items():
            answers.setdefault(name, []).append(np.exp(logs).astype(np.float32))
        levels.append(loudness(waves))
    answers = {name: np.concatenate(parts) for name, parts in answers.items()}
    levels, names = np.concatenate(levels), table["name"][rows]
    found = doubtful(names, table["label"][rows], np.stack(list(answers.values()), axis=1), labels, levels)
    with replacing(options.out) as part, open(part, "w") as file:
        file.write("# name, label, what the networks answer, why; by evaluate/suspects.py\n")
        file.writelines("\t".join(map(str, line)) + "\n" for line in found)
    void = sum(not line[2] for line in found)
    print(f"{options.out}: {len(found)} of {len(rows)} clips, {void} of them void")


if __name__ == "__main__":
    main()
