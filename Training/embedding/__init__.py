"""The embedding for words of a user's own: examples, layers, training, export and an open-set test."""
