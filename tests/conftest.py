"""One thread a process: pytest-xdist gives every core a process, and more threads than cores wait on each other."""

import torch

torch.set_num_threads(1)
