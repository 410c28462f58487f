"""The embedding for taught words: examples, layers, training, export and an open-set test."""
