"""The model cards: Markdown that says what a model is, how it was made, what it measures and what it is not for."""

import datetime

from Training.data.vocabulary import HELD_OUT
from Training.model.scoring import LEAD


def commands_card(name, history, commands, report, temperature, shifts, parameters):
    """The card of a model that model_folder.py writes; `report` holds its figures, `temperature` that of clips and that of
    streams, `shifts` the two clip shifts."""
    names = {
        "all": "all clips, 12 classes, %",
        "words": "the command words, %",
        "unknown": "unknown (other words, 10 % of the clips), %",
        "silence": "silence (background recordings, 10 % of the clips), %",
        "ece": f"expected calibration error of clips, 15 bins, temperature {temperature[0]} (in streams {temperature[1]})",
        "running@0.8": "windows of running speech that reach 0.8 for a word, %",
        "endings@0.8": "last 25–55 % of a command word alone, that reach 0.8 for a word, %",
        "sounds@0.8": "environmental sounds that reach 0.8 for a word, %",
        "held-out@0.8": f"words never trained on ({', '.join(HELD_OUT)}) that reach 0.8 for a word, %",
        "activity": "voice-activity output: steps of 25 ms of words, speech and noise that are right, %",
        "auroc": "commands against these words, by the largest command posterior: AUROC",
    }
    digits = lambda key: 4 if key in ("ece", "auroc") else 2
    figures = "\n".join(f"| {text} | {report[key]:.{digits(key)}f} |" for key, text in names.items() if key in report)
    return f"""# Model card: {name}

Command words — {", ".join(commands)} — beside `_unknown_` (other speech) and `_silence_`. One second of
16 kHz audio in, one posterior per label out, every 100 ms. A temporal CNN of valid convolutions on log-mel columns;
{parameters:,} parameters. `model.json` lists the layers; `Models/FORMAT.md` explains it.

Made on {datetime.date.today().isoformat()} as `Training/README.md` describes. {history} `make -C Training export` prints the figures
below. Clips are scored four times, as in `beckon classify --clips`, with {shifts[0]:g} subtracted from the logits of single other
words and {shifts[1]:g} from the logit of all other speech, but nothing from the logit of babble. Most clips are commands; in a stream commands are
rare, and the network's answer is used as it was trained. Where nothing stands out of a clip's background, the largest
logit of a command word must be {LEAD:g} above the logit of babble; the difference that is missing is subtracted from the logits of all commands.

## Measured on the reporting half of the validation speakers, whom no training used

| | |
|---|---|
{figures}

## Data and licences

Recordings of words: Speech Commands v0.01 (Pete Warden, Google; CC BY 4.0), training partition, also for background noise, and
spectrogram images of v0.02 clips; other wake words from the Picovoice benchmarks (Apache-2.0); short recordings from Honk (MIT);
AudioMNIST, MUST and spoken names and numbers (MIT); Mycroft Precise Community Data (public domain); AN4 (free for any use).
Running speech: LibriSpeech (CC BY 4.0), spoken coffee orders (Picovoice, Apache-2.0), SpeechOcean762 (free for any use), Common
Voice in English (CC0). Other sounds: ESC-10 (K. J. Piczak; CC BY 3.0); music of the Debian package openttd-openmsx (GPL-2), played
by fluidsynth with fluid-soundfont-gm (MIT), and random pieces; rooms measured by others (Apache-2.0, MIT, CC0). Words by espeak-ng and flite, some
near the commands, some from everyday speech ("front", "rear", "center" among them); words and sentences by the voices of
hibari-tts and of Kokoro (Apache-2.0). Three published networks gave answers to learn from: Keyword Transformer 1 and MatchboxNet
(Apache-2.0), a BC-ResNet (MIT). Whisper (MIT) found commands in speech without transcripts. The model holds none of these
recordings. The shifts, the
temperatures and the thresholds were fitted on the tuning half of the validation speakers. The testing partition was not used.

## Limits

Mostly adult speakers of North American English at arm's length from a microphone. Children, strong accents and far
microphones are thinly covered. An unusual word that sounds like a command may be taken for it, and now and then running
speech is. Do not use it where a wrong or a missed word does harm.
"""


def flatspeech_card(options, parameters, result):
    """The card of the model that flatspeech.py writes; `result` is what validate.measure returns."""
    return f"""# Model card: flatspeech

The network of the tutorial that this project began with: 16000 raw samples, six convolutions of four samples that halve the
waveform each, three dense layers, twelve classes; {parameters:,} parameters, stored in half precision, those of the first dense layer in 8 bits. It is not for use but for
comparison: `beckon classify --model Models/flatspeech` runs it on the same engine as
[commands](../commands/README.md), so that every measurement can be made of both.

Trained on {datetime.date.today().isoformat()} by

    make -C Training flatspeech DATA=<folder of recordings>

with {options.epochs} epochs of Adam at {options.rate:g}, batch {options.batch}, seed {options.seed}. The examples are those of that tutorial: clips shifted by up to
±100 ms, background noise at a random volume in four of five, one example in ten another word, one in ten background
noise alone. No features, no calibration: the temperature is 1, every word's threshold 0.8. Initial weights, optimizer and
number of epochs are this project's.

## Measured on the reporting half of the validation speakers, who were used for nothing else

Through the program itself (`make -C Training distance DATA=…`), which scores every clip four times.

| | |
|---|---|
| 12 classes, all {result["clips"]:,} clips | {result["all"]:.2f} % |
| the ten words | {result["words"]:.2f} % |
| unknown (other words, 10 % of the clips) | {result["unknown"]:.2f} % |
| silence (background recordings, 10 % of the clips) | {result["silence"]:.2f} % |
| expected calibration error, 15 bins | {result["ece"]:.4f} |

## Data and licences

Speech Commands v0.01 (Pete Warden, Google; CC BY 4.0), training partition, for the words and their background noise. The
testing partition was not used, and nothing was fitted on the reporting half.

## Limits

It was not trained on other levels, rooms, running speech or parts of words; `make -C Training robust
MODEL=../Models/flatspeech DATA=…` shows what that costs. It cannot stream: every hop computes the whole window again.
"""
