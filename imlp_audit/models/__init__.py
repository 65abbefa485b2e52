"""The models a paper describes: blocks, their readings, and how they are put into hosts."""
