"""The papers' statements about functions as claims that are tested by running them; one claim a file."""
