"""What is fitted on the tuning half of the validation speakers at export: clip shifts, temperature and thresholds."""

import numpy as np

# A threshold's range, and the share of windows without the word that may reach it.
THRESHOLDS, ALLOWED = np.arange(0.6, 0.951, 0.01), 0.001

# Per cent of words and of all clips that one per cent of the seconds of babble and music taken for a word costs.
WORDLESS_PRICE = 0.03
# Per cent of the other words of all collections that clip shifts must leave right. Of an official set's other words all are trained on;
# people say others too.
LEAST_OTHERS = 90


def fit_shifts(accuracy):
    """What to subtract from the logits of single other words, and from that of all other speech.

    Training holds far more of what is not a command than a set of clips does, so the network favours unknown. The shifts are
    the smallest of those with the best `accuracy(words, other)`.
    """
    grid = [(words / 2, other / 2) for words in range(7) for other in range(9)]
    return max(grid, key=lambda pair: (accuracy(*pair), -sum(pair)))


def fit_temperature(posteriors, truth):
    """The temperature with the least negative log-likelihood; `posteriors(t)` [n, labels] are those at temperature t."""

    def cost(t):
        return -np.log(posteriors(t)[np.arange(len(truth)), truth] + 1e-9).mean()

    grid = np.exp(np.linspace(np.log(0.3), np.log(3), 60))
    return float(round(min(grid, key=cost), 3))


def fit_thresholds(clips, truth, negatives, commands):
    """For each word the least threshold that at most the allowed share of windows without it reaches.

    These are other clips, running speech, parts of words and sounds; all posteriors [n, labels] as in a stream.
    """
    chosen = {}
    for index, word in enumerate(commands):
        scores = np.concatenate([clips[truth != index, index]] + [n[:, index] for n in negatives])
        threshold = next((t for t in THRESHOLDS if (scores >= t).mean() <= ALLOWED), THRESHOLDS[-1])
        chosen[word] = float(round(threshold, 2))
    return chosen


def calibrate(sets, logits, wordless, others, output_labels, prior_of):
    """Clip shifts (words, other), the temperature of clips and that of streams, for the Scores of ValidationSets.

    `prior_of(words, other)` is a ClipPrior. A clip's posterior is the mean over time shifts, a stream's that of one of them.

    `wordless` are the Scores of seconds of babble and music. Clips hold none, so the shifts would otherwise be
    chosen as if nothing but words were ever scored. `others` are those of other words of all collections.
    """
    pair, temperature = (1, 1), 1.0
    for _ in range(3):  # each depends on the other
        prior = prior_of(*pair)
        temperature = fit_temperature(lambda t: sets.posteriors(logits[0], output_labels, t, prior), sets.truth)

        def taken(scores, pair):
            """The per cent of these that are taken for a command."""
            posteriors = sets.posteriors(scores, output_labels, temperature, prior_of(*pair))
            return 100 * (posteriors.argmax(axis=1) < len(sets.commands)).mean()

        def accuracy(*pair):
            figures = sets.figures((logits[0], {}), output_labels, temperature, prior_of(*pair))
            if len(others.logits[0]) and 100 - taken(others, pair) < LEAST_OTHERS:
                return -np.inf
            return figures["all"] + figures["words"] - WORDLESS_PRICE * taken(wordless, pair)

        pair = fit_shifts(accuracy)
    truth = np.tile(sets.truth, len(logits[0].logits))
    of_stream = fit_temperature(lambda t: sets.posteriors(logits[0].alone(), output_labels, t, prior_of(*pair)), truth)
    return pair, temperature, of_stream
