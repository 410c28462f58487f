"""Finds spoken words in audio: the Python interface of libbeckon.

    import beckon

    spotter = beckon.Spotter()
    for word in spotter.detect_file("talk.wav"):
        print(word.word, word.start, word.confidence)

    stream = spotter.stream(sample_rate=48_000)
    for block in microphone:             # numpy arrays: float32 in -1 to 1, or int16
        for word in stream.push(block):
            print(word.word)
        scores = stream.scores           # [labels, hops], of the newest minute

    lesson = spotter.teach("computer", takes, sample_rate=48_000)
    print(lesson.text)
"""

from ._library import version as __version__
from ._spotter import AudioError, CallError, Detection, Error, FileWords, ModelError, SettingsError, Spotter, Stream, WordsError
from ._teaching import Lesson, Rates, Recording

__all__ = [
    "AudioError", "CallError", "Detection", "Error", "FileWords", "Lesson", "ModelError", "Rates", "Recording", "SettingsError", "Spotter",
    "Stream", "WordsError", "__version__",
]  # fmt: skip
