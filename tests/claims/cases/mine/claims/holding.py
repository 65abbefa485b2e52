"""Claims that hold."""

import torch
from hypothesis import assume
from hypothesis import strategies as st
from torch import nn

from imlp_audit.claims import (
    NONZERO,
    POSITIVE,
    below,
    choice,
    claim,
    depends,
    gradients,
    jacobian,
    macs,
    mixes,
    modules,
    parameters,
    size,
    strictly_below,
    tensors,
)

C, h, mode = size("C"), size("h", 1, 2), choice("mode", "a", "b")


@claim(x=tensors(C, h), w=tensors(h, C), place="Eq. 1", printed="y = x")
def sums(x, w):
    """It holds."""
    return x @ w, torch.stack([(x * w[:, c]).sum(1) for c in range(w.shape[1])], 1)


@claim(place="Eq. 1", printed="y = x")
def without_arguments():
    """It holds."""
    return 2 + 2, 4


@claim(x=tensors(C), place="Eq. 1", printed="y = x")
def truths(x):
    """It holds."""
    return [bool((x == x).all()), (x == x).all(), below(x, x), strictly_below(x, x + 1)]


@claim(n=C, place="Eq. 1", printed="y = x")
def integers(n):
    """It holds."""
    return n * n, torch.tensor(n**2)


@claim(x=tensors(C), place="Eq. 1", printed="y = x")
def nearly(x):
    """It holds."""
    return x, x * (1 + 1e-12)


@claim(x=tensors(C), place="Eq. 1", printed="y = x")
def nearly_below(x):
    """It holds."""
    return below(x + 1e-12, x)


@claim(x=tensors(values=POSITIVE), tolerance=1e-3, because="a series", place="Eq. 1", printed="y = x")
def tolerant(x):
    """It holds."""
    return x, x * 1.0001


@claim(n=C, place="Eq. 1", printed="y = x")
def assuming(n):
    """It holds."""
    assume(n > 1)
    return strictly_below(1, n)


@claim(n=C, m=C.map(lambda n: n + 1), x=tensors(C, C), place="Eq. 1", printed="y = x")
def same_value_everywhere(n, m, x):
    """It holds."""
    return [(m, n + 1), (list(x.shape) == [n, n], True)]


@claim(x=C.flatmap(lambda n: st.tuples(st.just(n), tensors(n))), place="Eq. 1", printed="y = x")
def flat_mapped(x):
    """It holds."""
    return x[0], len(x[1])


@claim(
    x=tensors(3, C),
    f=modules(nn.BatchNorm1d, C, training=choice("training", False, True)),
    place="Eq. 1",
    printed="y = x",
)
def statistics(x, f):
    """It holds."""
    before = f.running_mean.clone()
    f(x)
    return below((f.running_mean - before).abs().max() * f.training, 100.0)


@claim(x=tensors(3, C), f=modules(nn.Linear, C, h), place="Eq. 1", printed="y = x")
def gradients_agree(x, f):
    """It holds."""
    return gradients(f(x), f), gradients(x @ f.weight.T + f.bias, f)


@claim(x=tensors(2, 2, values=NONZERO), place="Eq. 1", printed="y = x")
def mixing(x):
    """It holds."""
    return [mixes(lambda x: x * 2, x) == set(), mixes(lambda x: x.sum(0, keepdim=True).expand(2, 2), x) == {"tokens"}]


@claim(x=tensors(2), place="Eq. 1", printed="y = x")
def derivatives(x):
    """It holds."""
    return [
        (jacobian(lambda x: 2 * x, x), 2 * torch.eye(2)),
        (depends(lambda x: x.sum(), x), torch.tensor([True, True])),
    ]


@claim(f=modules(nn.BatchNorm2d, 2, values=POSITIVE), place="Eq. 1", printed="y = x")
def derivatives_of_a_grid_of_one_row(f):
    """It holds."""
    kernel = torch.ones(2, 1, 3, 3)

    def window(x):
        y = nn.functional.conv2d(x.expand(1, 2, 1, 3), kernel, padding=1, groups=2)
        return nn.functional.linear(nn.functional.gelu(f(y)).flatten(2).transpose(1, 2).contiguous(), torch.ones(1, 2))

    return depends(window, torch.ones(3)).reshape(3, 3), torch.tensor([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).bool()


@claim(place="Eq. 1", printed="y = x")
def counted():
    """It holds."""
    return [(macs(lambda: nn.Linear(3, 5), 2, 3), 30), (parameters(lambda: nn.Linear(3, 5)), 20)]


@claim(f=modules(nn.Linear, C, h), place="Eq. 1", printed="y = x")
def a_module_of_double_precision(f):
    """It holds."""
    return f.weight.dtype == torch.float64 and not f.training


@claim(x=tensors(20), place="Eq. 1", printed="y = x")
def reproducible_dropout(x):
    """It holds."""
    a = nn.functional.dropout(x)
    torch.manual_seed(0)
    return a, nn.functional.dropout(x)


@claim(x=tensors(C), place="Eq. 1", printed="y = x")
def calls_another(x):
    """It holds."""
    return nearly(x=x)
