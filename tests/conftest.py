"""What every test process needs: one thread, and no test that fails because the machine is busy."""

import torch
from hypothesis import HealthCheck, settings

# pytest-xdist gives every core a process, and more threads than cores wait on each other
torch.set_num_threads(1)
# how long examples take to be drawn says more about the machine than about a test
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
