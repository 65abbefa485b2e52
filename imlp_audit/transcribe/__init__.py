"""From a table that somebody printed (LaTeX, CSV, markdown, HTML, a PDF) to a spec of it."""
