"""Contract checks for page models, link orders and sources; authors of parts run them, too."""
