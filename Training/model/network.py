"""The network: a temporal CNN of valid convolutions that halve the columns exactly, so that it can stream."""

from pathlib import Path

import torch
from torch import nn

from Training.augment.speech_teacher import PLACES, SIZE
from Training.data.log_mel import BANDS, COLUMNS
from Training.model import checkpoint
from Training.model.layers import Collector


# Channels of the stem and of the three blocks, and of the head.
CHANNELS, HEAD = (96, 160, 224, 384), 384
# Columns of log-mel in a hop of 100 ms, and the hops in one step of `stream_logits`, which bound its memory.
HOP_COLUMNS, HOPS_AT_ONCE = 8, 512


def training_type():
    """bfloat16 where the processor multiplies it, else float32: without such instructions bfloat16 takes five times as long."""
    flags = Path("/proc/cpuinfo")
    has_bfloat16 = flags.exists() and {"amx_bf16", "avx512_bf16"} & set(flags.read_text().split())
    return torch.bfloat16 if has_bfloat16 else torch.float32


class ValidConvolution(torch.autograd.Function):
    """A valid convolution over [n, columns, channels] as matrix products, both ways, in the type of the input.

    In bfloat16, on a processor with instructions for it, this takes a third of the time of PyTorch's own one-dimensional convolution
    in float32; sums are in float32.
    """

    @staticmethod
    def forward(context, x, weight, stride):
        (n, columns, channels), (outputs, _, kernel) = x.shape, weight.shape
        new = (columns - kernel) // stride + 1
        spans = x.as_strided((n, new, kernel * channels), (columns * channels, stride * channels, 1))
        spans = spans.reshape(n * new, kernel * channels)
        matrix = weight.permute(2, 1, 0).reshape(kernel * channels, outputs).to(x.dtype)
        context.save_for_backward(spans, matrix)
        context.stride, context.shapes = stride, (x.shape, weight.shape)
        return (spans @ matrix).view(n, new, outputs)

    @staticmethod
    def backward(context, gradient):
        spans, matrix = context.saved_tensors
        stride, ((n, columns, channels), (outputs, _, kernel)) = context.stride, context.shapes
        new = gradient.shape[1]
        gradient = gradient.reshape(n * new, outputs)
        of_weight = (spans.t() @ gradient).float()
        of_x = None
        if context.needs_input_grad[0]:
            of_spans = (gradient @ matrix.t()).view(n, new, kernel, channels)
            of_x = torch.zeros(n, columns, channels, dtype=gradient.dtype)
            for k in range(kernel):
                of_x[:, k : k + stride * (new - 1) + 1 : stride] += of_spans[:, :, k]
        return of_x, of_weight.view(kernel, channels, outputs).permute(2, 1, 0), None


class Conv(nn.Module):
    """A valid convolution over [n, columns, channels] with batch normalization, which is folded in at export."""

    def __init__(self, inputs, outputs, kernel, stride=1):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, stride, bias=False)
        self.norm = nn.BatchNorm1d(outputs, momentum=0.05)
        self.is_frozen = False
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def freeze(self):
        """Keeps weights and normalization as they are, in training too."""
        self.is_frozen = True
        self.requires_grad_(False).train(False)

    def train(self, mode=True):
        return super().train(mode and not self.is_frozen)

    def forward(self, x):
        if self.training or self.is_frozen:
            y = ValidConvolution.apply(x.contiguous(), self.conv.weight, self.conv.stride[0])
        else:
            y = self.conv(x.transpose(1, 2)).transpose(1, 2).contiguous()
        return self.norm(y.view(-1, y.shape[2])).view(y.shape)

    def folded(self):
        """Weight [out, in, kernel] and bias [out] with the normalization folded in."""
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
        skip = self.skip(x[:, self.crop : x.shape[1] - self.crop])
        return torch.relu(self.second(torch.relu(self.first(x))) + skip)

    def folded(self):
        """Weight and bias of each part, by name."""
        return {name: getattr(self, name).folded() for name in ("first", "second", "skip")}


class Spotter(nn.Module):
    """Log-mel [n, 79, 40] → logits [n, outputs]; in training its activations have the type of `training_type`.

    With `speech` it also learns what the speech teacher would answer (augment/speech_teacher.py), so that it hears how a word that was never
    trained on sounds. With `hidden` units the logits read nothing but that, through one layer of that many units.
    """

    def __init__(self, outputs, channels=CHANNELS, head=HEAD, dropout=0.1, hidden=0, speech=False):
        super().__init__()
        self.stem = Conv(BANDS, channels[0], 5)
        self.blocks = nn.ModuleList(Block(a, b, kernel) for a, b, kernel in zip(channels, channels[1:], (7, 5, 3)))
        self.head = Conv(channels[-1], head, 1)
        self.dropout = nn.Dropout(dropout)
        self.speech = nn.Linear(head, len(PLACES) * SIZE) if speech or hidden else None
        self.hidden = nn.Linear(len(PLACES) * SIZE, hidden) if hidden else None
        self.logits = nn.Linear(hidden or head, outputs)
        self.training_type = training_type()

    def freeze_first_block(self):
        """Trains only what comes after the first block; the voice-activity output, which reads it, stays as it is."""
        for part in (self.stem, self.blocks[0].first, self.blocks[0].second, self.blocks[0].skip):
            part.freeze()

    def first_block(self, x):
        """Log-mel [n, 79, 40] → the first block's columns [n, columns, channels]."""
        return self.blocks[0](torch.relu(self.stem(x)))

    def body(self, x):
        """Log-mel [n, 79, 40] → the last block's columns [n, columns, channels]."""
        x = self.first_block(x)
        for block in self.blocks[1:]:
            x = block(x)
        return x

    def forward(self, x):
        return self.with_speech(x)[0]

    def with_speech(self, x):
        """Log-mel [n, 79, 40] → logits [n, outputs], and what the speech teacher would answer, [n, places · 96], or None without `speech`."""
        x = self.body(x.to(self.training_type) if self.training else x)
        return self.decide(torch.relu(self.head(x)).float().mean(dim=1))

    def decide(self, embedding):
        """Embeddings [n, head] → what `with_speech` returns."""
        speech = None if self.speech is None else self.speech(embedding)
        if self.hidden is None:
            return self.logits(self.dropout(embedding)), speech
        return self.logits(self.dropout(torch.relu(self.hidden(speech)))), speech

    def joined(self):
        """The two linear layers up to the hidden units as one, which the program computes."""
        both = nn.Linear(self.speech.in_features, self.hidden.out_features)
        both.weight.data = self.hidden.weight.data @ self.speech.weight.data
        both.bias.data = self.hidden.weight.data @ self.speech.bias.data + self.hidden.bias.data
        return both

    def start_from(self, weights):
        """Takes over the weights of another network, where the shapes are equal or this network is wider; other parts stay as they are.

        A wider network answers as the other one did: its new channels read the old ones, and nothing reads them yet.
        """
        own = self.state_dict()
        left = set(weights) - set(own)
        # A row of the logits is an output, and a column a number of what they read: neither is more of the same.
        if weights["logits.bias"].shape != own["logits.bias"].shape:
            left |= {"logits.weight", "logits.bias"}
        if ("hidden.weight" in weights) != ("hidden.weight" in own):
            left.add("logits.weight")
        self.load_state_dict(own | {name: widened(own[name], value) for name, value in weights.items() if name not in left})

    def described(self):
        """The network as model.json's layers, and its weights by tensor name."""
        made = Collector()
        last = made.conv1d("stem", "input", *self.stem.folded(), 1, True)
        for number, block in enumerate(self.blocks, 1):
            last = made.block(f"block{number}", last, block.folded(), block.crop)
        last = made.conv1d("head", last, *self.head.folded(), 1, True)
        last = made.mean("embedding", last, 2)
        if self.hidden is not None:
            last = made.dense("hidden", last, self.joined(), relu=True)
        made.dense("logits", last, self.logits)
        return made.layers, made.weights


def widened(own, value):
    """`own` with `value` [outputs, inputs, …] in the place of its first outputs, which do not read the inputs that only `own` has; `own` as it is
    where it is narrower than `value`."""
    kernel = slice(2, None)
    if own.ndim != value.ndim or own.shape[kernel] != value.shape[kernel] or any(a < b for a, b in zip(own.shape, value.shape)):
        return own
    if own.ndim == 0:
        return value
    out = own.clone()
    out[: len(value)] = 0
    out[tuple(slice(size) for size in value.shape)] = value
    return out


@torch.no_grad()
def logits_of(network, features):
    """Logits [n, outputs] of features [n, 79, 40], a NumPy array, in evaluation mode."""
    network.eval()
    return torch.cat([network(torch.from_numpy(features[i : i + 256])) for i in range(0, len(features), 256)])


@torch.no_grad()
def stream_logits(network, features):
    """Logits [hops, outputs] of windows one hop of 8 columns apart, of features [columns, 40] of a stream, in evaluation mode.

    The convolutions run once over the stream, as in the program.
    """
    network.eval()
    hops, parts = (len(features) - COLUMNS) // HOP_COLUMNS + 1, []
    for first in range(0, hops, HOPS_AT_ONCE):
        count = min(HOPS_AT_ONCE, hops - first)
        begin = first * HOP_COLUMNS
        piece = torch.from_numpy(features[begin : begin + (count - 1) * HOP_COLUMNS + COLUMNS])[None]
        columns = torch.relu(network.head(network.body(piece)))[0]
        parts.append(network.decide((columns[:-1] + columns[1:]) / 2)[0])
    return torch.cat(parts)


def load_checkpoint(path, outputs):
    """The averaged network of a checkpoint of train.py, in evaluation mode."""
    state = checkpoint.load(path)
    hidden = state.get("hidden", 0)
    network = Spotter(outputs, state["channels"], state["head"], hidden=hidden)
    # Without hidden units the logits do not read what was learned from the speech teacher.
    network.load_state_dict({name: value for name, value in state["average"].items() if hidden or not name.startswith("speech.")})
    return network.eval()
