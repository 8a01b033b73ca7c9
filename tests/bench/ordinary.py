"""Ordinary modules as people have them, none of which knows anything of populations."""

import numpy as np
import torch
from torch import nn

import arithmix


class Ordinary(nn.Module):
    @staticmethod
    def recipe(operation):
        return arithmix.Recipe(rate=1e-2, steps=60)


class Normed(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.norm, self.out = nn.BatchNorm1d(in_features), nn.Linear(in_features, out_features)

    def forward(self, x):
        return self.out(self.norm(x))


class Dropped(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.inner, self.out = nn.Linear(in_features, 8), nn.Linear(8, out_features)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        return self.out(self.drop(self.inner(x)))


class Recurrent(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.lstm, self.out = nn.LSTM(1, 4, batch_first=True), nn.Linear(4, out_features)

    def forward(self, x):
        return self.out(self.lstm(x.unsqueeze(-1))[0][:, -1])


class Embedded(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.table, self.out = nn.Embedding(16, 4), nn.Linear(4, out_features)

    def forward(self, x):
        return self.out(self.table(x.abs().long().clamp(0, 15)).sum(-2))


class Closed(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        scale = float(torch.rand(()))
        self.squash = lambda x: x * scale
        self.w = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x):
        return self.squash(x @ self.w)


class Attributed(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.shift, self.array = torch.tensor([0.5]), np.ones(3)
        self.w = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x):
        return x @ self.w + self.shift


class Frozen(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.frozen = nn.Parameter(torch.tensor(1.0), requires_grad=False)
        self.scale = nn.Parameter(torch.tensor(0.5))
        self.w = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x):
        return self.frozen * self.scale * (x @ self.w)


class Tied(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.a = nn.Linear(in_features, in_features, bias=False)
        self.b = nn.Linear(in_features, in_features, bias=False)
        self.b.weight = self.a.weight
        self.out = nn.Linear(in_features, out_features)

    def forward(self, x):
        return self.out(self.b(self.a(x)))


class Complex(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.randn(in_features, out_features, dtype=torch.cfloat))

    def forward(self, x):
        return (x.to(self.w.dtype) @ self.w).real


class Config:
    def __init__(self, hidden=4):
        self.hidden, self.extra = hidden, {"activation": "tanh"}


class Configured(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.config = Config()
        hidden = self.config.hidden
        layers = nn.Linear(in_features, hidden), nn.Tanh(), nn.Linear(hidden, out_features)
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class Counting(Ordinary):
    """Keeps a number of its own that its forward pass changes."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.calls, self.w = 0, nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x):
        self.calls += 1
        return x @ self.w


class Lazy(Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.out = nn.LazyLinear(out_features)

    def forward(self, x):
        return self.out(x)


class Stacked(Ordinary):
    """Nothing stands in the way of this one."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.inner, self.out = nn.Linear(in_features, 4), nn.Linear(4, out_features)

    def forward(self, x):
        return self.out(torch.tanh(self.inner(x)))
