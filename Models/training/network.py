"""The network: a temporal CNN of valid convolutions whose columns halve evenly, so that it streams exactly."""

import torch
from torch import nn

from frontend import BANDS


class Conv(nn.Module):
    """Valid convolution + batch normalisation (folded at export)."""

    def __init__(self, inputs, outputs, kernel, stride=1):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, stride, bias=False)
        self.norm = nn.BatchNorm1d(outputs, momentum=0.05)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x):
        return self.norm(self.conv(x))

    def folded(self):
        """(weight [out, in, kernel], bias [out]) with the normalisation in."""
        scale = self.norm.weight / torch.sqrt(self.norm.running_var + self.norm.eps)
        return self.conv.weight * scale[:, None, None], self.norm.bias - self.norm.running_mean * scale


class Block(nn.Module):
    """Two convolutions, the first of stride 2, beside a 1×1 skip that reads the middle of their span."""

    def __init__(self, inputs, outputs, kernel):
        super().__init__()
        self.first = Conv(inputs, outputs, kernel, 2)
        self.second = Conv(outputs, outputs, kernel)
        self.skip = Conv(inputs, outputs, 1, 2)
        # An output column spans kernel + 2 (kernel − 1) input columns; the skip reads the centre one.
        self.crop = (kernel + 2 * (kernel - 1)) // 2

    def forward(self, x):
        skip = self.skip(x[:, :, self.crop : x.shape[2] - self.crop])
        return torch.relu(self.second(torch.relu(self.first(x))) + skip)


class Spotter(nn.Module):
    """[n, 40, 79] log-mel → [n, outputs] logits."""

    def __init__(self, outputs, channels=(64, 80, 112, 160), head=192, dropout=0.1):
        super().__init__()
        self.stem = Conv(BANDS, channels[0], 5)
        self.blocks = nn.ModuleList(Block(a, b, kernel) for a, b, kernel in zip(channels, channels[1:], (7, 5, 3)))
        self.head = Conv(channels[-1], head, 1)
        self.dropout = nn.Dropout(dropout)
        self.logits = nn.Linear(head, outputs)

    def embedding(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return torch.relu(self.head(x)).mean(dim=2)

    def forward(self, x):
        return self.logits(self.dropout(self.embedding(x)))
