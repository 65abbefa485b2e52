"""The figures of a report: records of what is drawn, each with its words and its drawing as SVG."""
