"""Writes `Models/phonemes` from the wheel of the package `hama`, with answers of the package to compare with.

    python -m Training.phonemes.export --wheel hama-1.7.0-py3-none-any.whl --out Models/phonemes

The reference needs espeak-ng, and the package itself installed.
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from Training.phonemes import archive, tensors

FILES = ("asr_waveform.hama", "encoder.hama", "decoder_step.hama", "g2p_vocab.json")
# The letters of words that can be spelled: those of the languages of Europe.
LETTERS = "'0123456789abcdefghijklmnopqrstuvwxyzßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýāăąčēęğīıłńňŋőœřśšũūųžșț"
# What the synthetic voice of the reference says.
SENTENCE = "okay computer"
RATE = 16000


def reference(folder, sentence):
    """What a synthetic voice says, in 16-bit samples at 16 kHz, and the package's answer: log-probabilities `[frames, symbols]`."""
    import hama._engine as engine
    import soundfile
    from scipy.signal import resample_poly

    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["espeak-ng", "-v", "en-us", "-w", file.name, sentence], check=True)
        samples, rate = soundfile.read(file.name)
    samples = resample_poly(samples, RATE, rate)
    samples = np.clip(np.rint(samples / np.abs(samples).max() * 16000), -32768, 32767).astype(np.int16)
    session = engine.AsrSession((folder / "asr_waveform.hama").read_bytes())
    answer = session.run(["log_probs"], {"waveform": samples.astype(np.float32) / 32768})[0][0]
    return {"samples": samples, "answer": answer.astype(np.float32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with zipfile.ZipFile(arguments.wheel) as wheel:
            for name in FILES:
                (folder / name).write_bytes(wheel.read(f"hama/assets/{name}"))
                print(name, hashlib.sha256((folder / name).read_bytes()).hexdigest())
        names = json.loads((folder / "g2p_vocab.json").read_text())
        letters = [letter for letter in LETTERS if letter in names["encoder"]]
        numbers = [names["encoder"].index(letter) for letter in letters]
        network = tensors.phonemes(archive.read(folder / "asr_waveform.hama"))
        save_file(tensors.stored(network), arguments.out / "network.safetensors")
        spelling = tensors.spelling(archive.read(folder / "encoder.hama"), archive.read(folder / "decoder_step.hama"), numbers)
        # With 8 bits it pronounces some words otherwise.
        save_file(tensors.halves(spelling), arguments.out / "spelling.safetensors")
        description = {"symbols": names["decoder"] + ["<wb>", "<blank>"], "letters": letters}
        (arguments.out / "phonemes.json").write_text(json.dumps(description, ensure_ascii=False, indent=1) + "\n")
        save_file(reference(folder, SENTENCE), arguments.out / "reference.safetensors")
    for file in arguments.out.glob("*.safetensors"):
        file.chmod(0o644)


if __name__ == "__main__":
    main()
