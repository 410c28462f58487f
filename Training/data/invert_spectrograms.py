"""Converts spectrogram images of words that are missing as audio into this front end's log-mel.

    python -m Training.data.invert_spectrograms --data DIR --cache DIR

`melspec.tar` holds 98 × 40 JPEG images of clips, made by an unknown recipe. Some show clips that also exist as audio; on
those of the training speakers a small network learns to predict this front end's features. All images of training speakers
are converted, of commands and of other words alike, so that the source says nothing about the class. They are written to
`spectrograms.npz` in the cache: `logs` [n, 79, 40] float16 (natural log of the mel energies) and `label` [n].
"""

import io
import os

import numpy as np
import torch
from PIL import Image
from torch import nn

from Training.data import command_line, log_mel, recordings
from Training.data.audio import WINDOW
from Training.data.files import replacing
from Training.data.split import partition

ARCHIVE = "melspec.tar"
# Where the result lies in the cache.
RESULT = "spectrograms.npz"
BATCH = 64


def read_images(folder):
    """Yields (name `<word>/<file>` without extension, image [98, 40] in 0…1) of all but the testing partition."""
    for name, data in recordings.read_tar(os.path.join(folder, ARCHIVE), endings=""):
        if partition(name) != "testing":
            image = Image.open(io.BytesIO(data)).convert("L")
            yield "/".join(os.path.splitext(name)[0].split("/")[-2:]), np.asarray(image, np.float32) / 255


class Converter(nn.Module):
    """Images [n, 40, 98] → log-mel [n, 40, 79], at the times of this front end's frames."""

    def __init__(self, width=128):
        super().__init__()
        self.before = nn.Sequential(
            nn.Conv1d(40, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 3, padding=1), nn.GELU()
        )
        self.after = nn.Sequential(
            nn.Conv1d(width + 40, width, 3, padding=1), nn.GELU(), nn.Conv1d(width, 40, 3, padding=1)
        )

    def forward(self, x):
        both = torch.cat([x, self.before(x)], dim=1)
        return self.after(nn.functional.interpolate(both, size=log_mel.COLUMNS, mode="linear", align_corners=True))


def pair_with_audio(names, table):
    """Indices [n] of images whose clip exists as audio, and that clip's log-mel [n, 79, 40]."""
    clips = {str(table["name"][row]): row for row in np.flatnonzero(table["kind"] == "clip")}
    pairs = [(i, clips[name]) for i, name in enumerate(names) if name in clips]
    waves = [recordings.samples(table, row, 0, WINDOW) for _, row in pairs]
    logs = [
        np.log(log_mel.mel_energies(np.stack(waves[i : i + log_mel.CHUNK])) + log_mel.FLOOR)
        for i in range(0, len(waves), log_mel.CHUNK)
    ]
    return np.array([i for i, _ in pairs]), np.concatenate(logs).astype(np.float32)


def fit(inputs, targets, is_held_out, epochs, seed):
    """Trains the converter on images [n, 98, 40] and log-mel [n, 79, 40] of the training speakers.

    Some pairs are two takes under one name. After a third of the epochs, those with an error above 2.5 times the median are
    dropped.
    """
    torch.manual_seed(seed)
    model = Converter()
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-4)
    x, y = torch.from_numpy(inputs).transpose(1, 2).contiguous(), torch.from_numpy(targets).transpose(1, 2).contiguous()
    every = torch.from_numpy(np.flatnonzero(~is_held_out))
    used = every
    steps = epochs * -(-len(used) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)

    def errors_of(rows):
        with torch.no_grad():
            return torch.cat([((model(x[r]) - y[r]) ** 2).mean((1, 2)) for r in rows.split(log_mel.CHUNK)])

    for epoch in range(epochs):
        if epoch in (epochs // 3, 2 * epochs // 3):
            errors = errors_of(every)
            used = every[errors < 2.5 * errors.median()]
            print(f"{len(used)} of {len(every)} pairs kept", flush=True)
        model.train()
        for rows in used[torch.randperm(len(used))].split(BATCH):
            loss = nn.functional.smooth_l1_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    rows = torch.from_numpy(np.flatnonzero(is_held_out))
    errors = errors_of(rows)
    same = errors < 2.5 * errors.median()
    explained = 1 - float(errors[same].mean() / y[rows][same].var())
    print(
        f"held-out speakers: {len(rows)} pairs, {int(same.sum())} of them the same take, R² of these {explained:.3f}"
    )
    return model


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--epochs", type=int, default=24)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    names, images = zip(*(image for folder in options.data for image in read_images(folder)))
    images = np.stack(images)
    part = np.array([partition(name) for name in names])
    rows, logs = pair_with_audio(names, table)
    model = fit(images[rows], logs, part[rows] != "training", options.epochs, seed=1)
    kept = np.flatnonzero(part == "training")
    with torch.no_grad():
        chunks = [torch.from_numpy(images[r]).transpose(1, 2) for r in np.array_split(kept, 60) if len(r)]
        converted = [model(chunk).transpose(1, 2).numpy().astype(np.float16) for chunk in chunks]
    labels = np.array([names[i].split("/")[0] for i in kept])
    path = os.path.join(options.cache, RESULT)
    with replacing(path) as part_file:
        np.savez(part_file, logs=np.concatenate(converted), label=labels)
    print(f"{path}: {len(labels)} images of {len(set(labels))} words")


if __name__ == "__main__":
    main()
