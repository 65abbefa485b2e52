"""The names of the models that libraries have, as lists that ship: nothing imports the libraries."""
