"""Five folds of the other words: each network of a cross-validation is trained without the words of one.

What the networks answer to their fold's words is what they answer to words that no training will ever hold. The folds are
balanced by the number of clips of held-out speakers; words that share a beginning or a rhyme ("three", "tree") are in one fold.
"""

FOLDS = (
    ("bed", "six", "wow", "backward", "learn"),
    ("cat", "eight", "bird", "house", "follow"),
    ("happy", "zero", "seven", "sheila", "visual"),
    ("two", "four", "forward", "nine", "marvin"),
    ("one", "three", "tree", "five", "dog"),
)
