"""The second look: larger networks that confirm or reject what the streaming network proposes."""
