"""From a table that somebody printed (LaTeX, CSV, markdown, HTML, a model index) to a spec of it."""
