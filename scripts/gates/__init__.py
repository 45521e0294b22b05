"""The gates of scripts/check: one module each, with NAME, PURPOSE and run(tree) -> list of findings."""
