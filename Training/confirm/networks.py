"""The confirming networks, with weights that others published: whole windows in, logits of 35 words out.

`Qbc6` is the quaternion BC-ResNet of width 6 (WASPAA 2023; weights DataSenseiAryan/GoogleSpeechCommandLowFootprint, MIT), `MatchboxNet`
NVIDIA's 3×2×64 (NeMo, Apache-2.0). The forward passes are written anew. Normalization is never in training mode: its statistics
stay as published, scale and shift are trained.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from Training.confirm.front_end import mel_bank, powers
from Training.data.audio import WINDOW

# The words that the published networks tell apart, in the order of Qbc6's outputs.
WORDS35 = (
    "backward bed bird cat dog down eight five follow forward four go happy house learn left marvin nine no off on one "
    "right seven sheila six stop three tree two up visual wow yes zero"
).split()
# The outputs that fine-tuning adds.
OTHER_SPEECH, NO_SPEECH = "other speech", "no speech"
ADDED = (OTHER_SPEECH, NO_SPEECH)
# Parts of the frequency axis that have a norm of their own.
FIFTHS = 5


class Norm(nn.Module):
    """Batch normalization [n, channels, …] with fixed statistics."""

    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))
        self.eps = eps

    def affine(self):
        """Scale and shift [channels] that it amounts to."""
        scale = self.weight / torch.sqrt(self.running_var + self.eps)
        return scale, self.bias - self.running_mean * scale


class BandNorm(Norm):
    """A norm of its own for each fifth of the bands, of [n, channels, bands, frames]."""

    def __init__(self, channels):
        super().__init__(channels * FIFTHS)

    def forward(self, x):
        bands = x.shape[2]
        scale, shift = (part.view(1, -1, FIFTHS, 1).repeat_interleave(bands // FIFTHS, dim=2) for part in self.affine())
        return torch.addcmul(shift, x, scale)


class QuaternionConv(nn.Module):
    """A 2-D convolution whose kernel is built of quaternions; `weight` holds its first row of blocks (r, −i, −j, −k)."""

    def __init__(self, inputs, outputs, kernel, **options):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs // 4, inputs, *kernel))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.options = options

    def kernel(self):
        """The plain kernel [outputs, inputs, height, width]."""
        r, i, j, k = self.weight.chunk(4, dim=1)
        i, j, k = -i, -j, -k
        rows = ((r, -i, -j, -k), (i, r, -k, j), (j, k, r, -i), (k, -j, i, r))
        return torch.cat([torch.cat(row, dim=1) for row in rows], dim=0)

    def forward(self, x, norm=None):
        """The convolution, with the norm that follows folded in."""
        if norm is None:
            return F.conv2d(x, self.kernel(), self.bias, **self.options)
        scale, shift = norm.affine()
        return F.conv2d(x, self.kernel() * scale[:, None, None, None], self.bias * scale + shift, **self.options)


class TimePath(nn.Module):
    """What a block adds for every frame, whatever the band: a dilated convolution over the mean of the bands."""

    def __init__(self, channels, dilation):
        super().__init__()
        dilated = {"padding": (0, dilation), "dilation": (1, dilation)}
        parts = [QuaternionConv(channels, channels, (1, 3), **dilated), Norm(channels), nn.SiLU(), QuaternionConv(channels, channels, (1, 1))]
        self.f1 = nn.ModuleList(parts)

    def forward(self, x):
        first, norm, activation, last = self.f1
        return last(activation(first(x.mean(dim=2, keepdim=True), norm)))


class Transition(TimePath):
    """A block that changes the number of channels, and halves the bands with a stride of 2."""

    def __init__(self, inputs, outputs, stride, dilation):
        super().__init__(outputs, dilation)
        # The published network pads the frames too where it halves the bands: a frame more at both ends.
        bands = QuaternionConv(outputs, outputs, (3, 1), stride=(stride, 1), padding=(1, int(stride == 2)))
        norm = nn.ModuleDict({"bn": BandNorm(outputs)})
        self.f2 = nn.ModuleList([QuaternionConv(inputs, outputs, (1, 1)), Norm(outputs), nn.ReLU(), bands, norm])

    def forward(self, x):
        x = torch.relu(self.f2[0](x, self.f2[1]))
        x = self.f2[4]["bn"](self.f2[3](x))
        return torch.relu(x + super().forward(x))


class Residual(TimePath):
    """A block that keeps the shape."""

    def __init__(self, channels):
        super().__init__(channels, 1)
        bands = QuaternionConv(channels, channels, (3, 1), padding=(1, 0))
        self.f2 = nn.ModuleList([bands, nn.ModuleDict({"bn": BandNorm(channels)})])

    def forward(self, x):
        y = self.f2[1]["bn"](self.f2[0](x))
        return torch.relu(x + y + super().forward(y))


class Qbc6(nn.Module):
    """Waveforms [n, samples] → logits [n, outputs] of the second in their middle.

    Longer windows than a second show what comes before and after it: the last frames' mean is over the middle COLUMNS alone.
    """

    FFT, HOP, BANDS = 1024, 512, 40
    # Channels; repeats, stride and dilation of each stage.
    STEM, STAGES = 96, ((48, 1, 1, 1), (72, 1, 2, 2), (96, 3, 2, 4), (120, 3, 1, 8))
    EMBEDDING = 192
    # Frames of a second.
    COLUMNS = WINDOW // HOP + 1
    labels = list(WORDS35)

    def __init__(self, added=()):
        super().__init__()
        self.labels = [*WORDS35, *added]
        self.register_buffer("bank", mel_bank(self.BANDS, self.FFT), persistent=False)
        self.register_buffer("slope", torch.tensor([-2.0, -1, 0, 1, 2])[None, None] / 10, persistent=False)
        self.input_conv = QuaternionConv(4, self.STEM, (5, 5), stride=(2, 1), padding=2)
        channels = self.STEM
        for stage, (width, repeats, stride, dilation) in enumerate(self.STAGES, 1):
            setattr(self, f"t{stage}", Transition(channels, width, stride, dilation))
            for number in range(1, repeats + 1):
                setattr(self, f"n{stage}{number}", Residual(width))
            channels = width
        self.dw_conv = QuaternionConv(channels, channels, (5, 5))
        self.onexone_conv = QuaternionConv(channels, self.EMBEDDING, (1, 1))
        self.head_conv = nn.Conv2d(self.EMBEDDING, len(self.labels), 1)

    def delta(self, x):
        """The slope over five frames of [n, bands, frames], whose edges are repeated."""
        n, bands, frames = x.shape
        rows = F.pad(x, (2, 2), mode="replicate").reshape(n * bands, 1, frames + 4)
        return F.conv1d(rows, self.slope).view(x.shape)

    def features(self, waves):
        """Waveforms [n, samples] → log2-mel, its slope and that slope's, after a channel of zeros, [n, 4, 40, frames]."""
        mel = torch.log2(powers(waves, self.FFT, self.FFT, self.HOP) @ self.bank + 1e-9).transpose(1, 2)
        slope = self.delta(mel)
        return torch.stack([torch.zeros_like(mel), mel, slope, self.delta(slope)], dim=1)

    def blocks(self):
        """The blocks in their order, by name."""
        for stage, (_, repeats, _, _) in enumerate(self.STAGES, 1):
            for name in (f"t{stage}", *(f"n{stage}{number}" for number in range(1, repeats + 1))):
                yield name, getattr(self, name)

    def body(self, features):
        """What `features` returns → the last layer's frames [n, 192, 1, frames]."""
        x = self.input_conv(features)
        for _, block in self.blocks():
            x = block(x)
        return self.onexone_conv(self.dw_conv(x))

    def decide(self, features):
        """What `features` returns → logits [n, outputs]."""
        x = self.body(features)
        outside = (x.shape[3] - self.COLUMNS) // 2
        x = x[..., max(0, outside) : max(0, outside) + self.COLUMNS]
        return self.head_conv(x.mean(dim=3, keepdim=True)).flatten(1)

    def forward(self, waves):
        return self.decide(self.features(waves))


def add_outputs(weights, head, count):
    """The weights with `count` more outputs, somewhat less likely than the others, at the layer `head`."""
    kernel, bias = weights[head + ".weight"], weights[head + ".bias"]
    more = np.full(count, bias.mean() - 1, bias.dtype)
    kernels = np.zeros((count, *kernel.shape[1:]), kernel.dtype)
    return weights | {head + ".weight": np.concatenate([kernel, kernels]), head + ".bias": np.concatenate([bias, more])}


def qbc6(weights, added=()):
    """The network with published or fine-tuned weights, {name: array}, in evaluation mode; outputs in `added` that these lack are added."""
    network = Qbc6(added)
    lacking = len(network.labels) - len(weights["head_conv.bias"])
    weights = add_outputs(weights, "head_conv", lacking) if lacking else weights
    network.load_state_dict({name: torch.from_numpy(np.array(value, np.float32)) for name, value in weights.items()})
    return network.eval()


def read_published_qbc6(path):
    """The weights in the file of the published network, {name: array}; kernels as their first row of blocks."""
    with np.load(path) as stored:
        return {name.removeprefix("q:"): stored[name] for name in stored.files if "num_batches" not in name}
