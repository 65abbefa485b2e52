"""The command line: parses, calls, prints, exits. Heavy modules are imported by the commands that need them."""
