"""Turns the pictures of log-mel features that show words missing as audio into this front end's log-mel.

    python pictures.py --data DIR --runs RUNS

`melspec.tar` holds 98 × 40 JPEG pictures of clips, made by an unknown recipe. Some of them show clips that are also there
as audio; on those of the training speakers a small network learns to give back what this front end would have seen. All
pictures of training speakers, of commands and of other words alike so that the source says nothing of the class, are
converted and written to RUNS/pictures.npz: `logs` [n, 79, 40] float16 (natural log of the mel energies), `label`.
"""

import argparse
import io
import os
import tarfile

import numpy as np
import torch
from PIL import Image
from torch import nn

import frontend
import recordings

ARCHIVE = "melspec.tar"
FRAMES = 98


def read(folder):
    """(name `<word>/<file>` without extension, picture [98, 40] in 0…1) of every picture but the testing partition's."""
    with tarfile.open(os.path.join(folder, ARCHIVE)) as tar:
        for member in sorted(tar.getmembers(), key=lambda m: m.name):
            if member.isfile() and recordings.partition(member.name) != "testing":
                image = Image.open(io.BytesIO(tar.extractfile(member).read())).convert("L")
                name = "/".join(os.path.splitext(member.name)[0].split("/")[-2:])
                yield name, np.asarray(image, np.float32) / 255


class Converter(nn.Module):
    """[n, 40, 98] picture → [n, 40, 79] log-mel, at the times of this front end's frames."""

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
        return self.after(nn.functional.interpolate(both, size=frontend.COLUMNS, mode="linear", align_corners=True))


def pairs(names, pictures, table):
    """Indices of pictures whose clip is there as audio, and that clip's log-mel."""
    clips = {}
    for row in np.flatnonzero(table["kind"] == "clip"):
        clips[str(table["name"][row])] = row
    rows = [(i, clips[name]) for i, name in enumerate(names) if name in clips]
    waves = [table["audio"][table["start"][r] : table["start"][r] + 16000] / np.float32(32768) for _, r in rows]
    logs = np.concatenate(
        [
            np.log(frontend.mel_energies(np.stack(waves[i : i + 256]).astype(np.float32)) + frontend.FLOOR)
            for i in range(0, len(waves), 256)
        ]
    )
    return np.array([i for i, _ in rows]), logs.astype(np.float32)


def fit(inputs, targets, held, passes, seed):
    """Trains the converter; pairs that it cannot explain after a third of the passes are other takes and are dropped."""
    torch.manual_seed(seed)
    model = Converter()
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-4)
    x, y = torch.from_numpy(inputs).transpose(1, 2).contiguous(), torch.from_numpy(targets).transpose(1, 2).contiguous()
    use = torch.from_numpy(np.flatnonzero(~held))
    steps = passes * (len(use) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, total_steps=steps + passes)

    def error(rows):
        with torch.no_grad():
            return torch.cat([((model(x[r]) - y[r]) ** 2).mean((1, 2)) for r in rows.split(256)])

    for number in range(passes):
        if number in (passes // 3, 2 * passes // 3):
            every = torch.from_numpy(np.flatnonzero(~held))
            errors = error(every)
            use = every[errors < 2.5 * errors.median()]
            print(f"{len(use)} of {len(every)} pairs fit", flush=True)
        model.train()
        for rows in use[torch.randperm(len(use))].split(64):
            loss = nn.functional.smooth_l1_loss(model(x[rows]), y[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    rows = torch.from_numpy(np.flatnonzero(held))
    errors = error(rows)
    good = errors < 2.5 * errors.median()
    spread = y[rows][good].var()
    print(
        f"validation speakers: {len(rows)} pairs, {int(good.sum())} of them the same take, R² of these {1 - float(errors[good].mean() / spread):.3f}"
    )
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--runs", required=True)
    parser.add_argument("--passes", type=int, default=24)
    options = parser.parse_args()
    torch.set_num_threads(2)
    table = recordings.load_all([options.data], options.runs)
    names, pictures = zip(*read(options.data))
    pictures = np.stack(pictures)
    part = np.array([recordings.partition(name) for name in names])
    rows, logs = pairs(names, pictures, table)
    model = fit(pictures[rows], logs, part[rows] == "validation", options.passes, 1)
    keep = np.flatnonzero(part == "training")
    with torch.no_grad():
        out = [
            model(torch.from_numpy(pictures[r]).transpose(1, 2)).transpose(1, 2).numpy().astype(np.float16)
            for r in np.array_split(keep, 60)
        ]
    labels = np.array([names[i].split("/")[0] for i in keep])
    path = os.path.join(options.runs, "pictures.npz")
    np.savez(path + ".part.npz", logs=np.concatenate(out), label=labels)
    os.replace(path + ".part.npz", path)
    print(f"{path}: {len(labels)} pictures, {len(set(labels))} words")


if __name__ == "__main__":
    main()
