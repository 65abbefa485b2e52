"""The demo: a paper of one page with three planted errors, and what to do about them."""
