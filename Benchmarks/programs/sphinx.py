"""PocketSphinx as a keyword spotter.

    python -m Benchmarks.programs.sphinx AUDIO WORDS

AUDIO is a 16 kHz mono WAV file, WORDS have spaces between; prints each detection with its time. The threshold is the one that
PocketSphinx' manual gives for short words.
"""

import sys
import tempfile
import wave

from pocketsphinx import Decoder

THRESHOLD, BLOCK = "1e-1", 1600


def main():
    audio, words = sys.argv[1:]
    with tempfile.NamedTemporaryFile("w", suffix=".list") as phrases:
        phrases.write("".join(f"{word} /{THRESHOLD}/\n" for word in words.split()))
        phrases.flush()
        decoder = Decoder(kws=phrases.name, lm=None, loglevel="FATAL")
    decoder.start_utt()
    with wave.open(audio) as file:
        while block := file.readframes(BLOCK):
            decoder.process_raw(block)
            if decoder.hyp():
                print(f"{file.tell() / file.getframerate():.1f} {decoder.hyp().hypstr}")
                decoder.end_utt()
                decoder.start_utt()
    decoder.end_utt()


if __name__ == "__main__":
    main()
