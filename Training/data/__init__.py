"""Recordings, synthetic voices, features and vocabulary: what everything else is made of."""
