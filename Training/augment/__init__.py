"""Training examples: words placed in a window with speech, noise, rooms and levels, rendered epoch by epoch."""
