"""Measures the second look in streams: what the program proposes, confirmed by the published network, a rejecter, or both.

    python -m Training.confirm.streams --beckon BINARY --model DIR --tune DIR --report DIR --published qbc6.safetensors [--rejecter FILE…]

DIR are folders of evaluate/streams.py. Words are those in noise at 10 dB, talk all of `talk-…` but the synthetic reader. The weights of the
mean, of which the program's own confidence may have a part, are chosen on the tuning half, figures are of the reporting half: recall at no more than so many false accepts an hour, as the
threshold of the fused confidence is moved. The program as it is is measured beside it, with its thresholds moved together.
"""

import argparse
import os

import numpy as np
import torch

from Training.confirm import fusion
from Training.confirm.proposals import in_reach, outcomes, proposed, recordings_of, talk_in, windows, words_said
from Training.confirm.weights import read
from Training.data.audio import WINDOW
from Training.data.vocabulary import COMMANDS
from Training.evaluate import stream_counts
from Training.evaluate.thresholds import SINGLE, SLOW, WORDS

# False accepts an hour at which recall is given, and those whose mean recall chooses weights.
RATES, CHOOSING = (0.5, 1, 2, 4, 6), (1, 2, 4)
# Shifts of the window in seconds: of the network that names, and of the one that rejects.
NAMING_SHIFTS, REJECTING_SHIFTS = (-0.1, 0.0, 0.1), (0.0,)
# The program's weights that are tried, and of what is left the naming network's; the rejecter has the rest.
PROPOSING, NAMING = (0.0, 0.2, 0.35, 0.5, 0.65), (0.0, 0.15, 0.35, 0.5, 0.75, 1.0)


class Half:
    """Proposals of a mode in one half's words and talk, and the answers of networks to them."""

    def __init__(self, beckon, model, folder, mode, trigger="early"):
        self.words = recordings_of(folder, WORDS)
        self.talk = talk_in(folder, SINGLE, SLOW)
        self.proposals = proposed(beckon, model, mode, self.words + self.talk.paths, trigger)
        confidences = np.array([proposal.confidence for proposal in self.proposals])
        self.proposer = fusion.proposers([proposal.word for proposal in self.proposals], confidences)
        self.said = {path: words_said(path) for path in self.words}
        self.rows = {path: [i for i, proposal in enumerate(self.proposals) if proposal.path == path] for path in self.words}
        self.near = [()] * len(self.proposals)
        for path, rows in self.rows.items():
            for row, reached in zip(rows, in_reach([self.proposals[row].time for row in rows], self.said[path])):
                self.near[row] = reached
        self.in_words = np.array([proposal.path in self.said for proposal in self.proposals])
        self.in_sentences = np.array([proposal.path in self.talk.sentences for proposal in self.proposals])

    def answers(self, network, samples, shifts):
        """Mean log-posteriors [n, 11] over shifts of the window."""
        return np.mean([fusion.answers(network, windows(self.proposals, samples, shift)) for shift in shifts], axis=0)

    def curve(self, posteriors, sentences=False):
        """[(false accepts an hour, recall in %, wrong words in %)] at falling thresholds, for posteriors [n, 11]."""
        best, confidence = fusion.decided(posteriors)
        hours = self.talk.sentence_hours if sentences else self.talk.hours
        in_talk = self.in_sentences if sentences else ~self.in_words
        rows, count = [], sum(len(said) for said in self.said.values())
        for threshold in sorted({0.0, *confidence[in_talk]}, reverse=True):
            chosen = confidence > threshold
            hits = wrong = 0
            for path, said in self.said.items():
                found = [row for row in self.rows[path] if chosen[row]]
                times, words = [self.proposals[i].time for i in found], [COMMANDS[best[i]] for i in found]
                told = outcomes(times, words, said, [self.near[i] for i in found])
                hits, wrong = hits + told.count("hit"), wrong + told.count("wrong")
            rows.append(((chosen & in_talk).sum() / hours, 100 * hits / count, 100 * wrong / count))
            if rows[-1][0] > max(RATES):
                break
        return rows


def at_rates(curve):
    """The last (recall, wrong words) of a curve with at most so many false accepts an hour, for each of RATES."""
    return [([row[1:] for row in curve if row[0] <= rate] or [(0.0, 0.0)])[-1] for rate in RATES]


def quality(found):
    """What weights are chosen by: the mean recall at the rates of CHOOSING."""
    return np.mean([recall for rate, (recall, _) in zip(RATES, found) if rate in CHOOSING])


def as_it_is(beckon, model, folder):
    """What `at_rates` returns for the program with its thresholds moved together, by mode, of all talk."""
    names = [name for name in stream_counts.sets_in(folder) if name == WORDS or name.startswith("talk-") and not name.startswith("talk-read")]
    sets = {name: stream_counts.measure(beckon, model, folder, name) for name in names}
    result = {}
    for mode in stream_counts.MODES:
        words, talk = sets[WORDS][mode], stream_counts.joined(sets[name][mode] for name in names if name != WORDS)
        rows = []
        for index in range(len(words.thresholds))[::-1]:
            chosen = np.full(len(words.words), index)
            rate, _ = stream_counts.false_accepts(talk, chosen)
            rows.append((rate, stream_counts.recall(words, chosen)[0], stream_counts.wrong(words, chosen)[0]))
        result[mode] = at_rates(rows)
    return result


def line(name, found):
    """A line of the table: recall, and wrong words, at each rate."""
    return f"| {name} | " + " | ".join(f"{recall:.1f} ({wrong:.1f})" for recall, wrong in found) + " |"


def weights_to_try(parts):
    """The weights of so many parts: of the program and the naming network, and a rejecter if there is one."""
    for proposing in PROPOSING:
        for naming in NAMING if parts == 3 else (1.0,):
            shares = (naming, 1 - naming) if parts == 3 else (naming,)
            yield (proposing, *((1 - proposing) * share for share in shares))


def choose(half, parts):
    """The weights with the best quality of the log-posteriors of the program, the naming network and, if there is one, a rejecter."""
    return max(weights_to_try(len(parts)), key=lambda weights: quality(at_rates(half.curve(fusion.fused(parts, weights)))))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("beckon", "model", "tune", "report", "published"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--trigger", choices=("early", "end"), default="early", help="when the program proposes")
    parser.add_argument("--rejecter", nargs="*", default=[], help="files of weights.py; FILE@SHARE mixes with the published weights")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    published = read(options.published)
    naming = published.network()
    base = as_it_is(options.beckon, options.model, options.report)
    for mode in stream_counts.MODES:
        tune, report = (Half(options.beckon, options.model, folder, mode, options.trigger) for folder in (options.tune, options.report))
        print(f"\n`{mode}`: {report.talk.hours:.1f} h of talk; {report.in_words.sum()} proposals in words, {(~report.in_words).sum()} in talk\n")
        print("| recall, % (wrong words, %), at false accepts an hour of all talk | " + " | ".join(map(str, RATES)) + " |")
        print("|---|" + "---|" * len(RATES))
        print(line("the program as it is", base[mode]), flush=True)
        named = [half.answers(naming, WINDOW, NAMING_SHIFTS) for half in (tune, report)]
        print_lines("the published network", tune, report, [named])
        for entry in options.rejecter:
            path, _, share = entry.partition("@")
            network, samples = fusion.load_rejecter(path, published.weights, float(share or 1))
            rejected = [half.answers(network, samples, REJECTING_SHIFTS) for half in (tune, report)]
            print_lines(f"the published network, {os.path.basename(entry)}", tune, report, [named, rejected])


def print_lines(name, tune, report, networks):
    """The lines of networks' answers, [networks][tune, report], with the weights that are best on the tuning half."""
    weights = choose(tune, [tune.proposer, *(answers[0] for answers in networks)])
    both = fusion.fused([report.proposer, *(answers[1] for answers in networks)], weights)
    print(line(f"the program, {name}: {', '.join(f'{weight:.2f}' for weight in weights)}", at_rates(report.curve(both))))
    print(line("… of sentences alone", at_rates(report.curve(both, sentences=True))), flush=True)


if __name__ == "__main__":
    main()
