"""From a planned check and the facts measured to a verdict on record; one kind of check a file."""
