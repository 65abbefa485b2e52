"""`python -m imlp_audit`."""

from imlp_audit.cli.main import main

if __name__ == "__main__":
    main()
