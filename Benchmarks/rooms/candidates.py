"""Cancellers of Debian's speexdsp, called by ctypes, so that what is chosen is measured first. They get the delay of the whole scene, which a canceller in
real time has to find by itself."""

import ctypes

import numpy as np

from Training.data.audio import RATE

# Samples of a frame: 10 ms.
FRAME = 160
# Samples by which the reference is early, so that the filter has some of its taps before the echo.
EARLY = 96
# Numbers of speex_echo.h and speex_preprocess.h.
SET_SAMPLING_RATE, SET_DENOISE, SET_GAIN, SET_NOISE, SET_SUPPRESS, SET_ACTIVE, SET_STATE = 24, 0, 2, 18, 20, 22, 24


def delay(microphone, reference):
    """Samples by which the microphone is later: the peak of the cross-correlation with whitened spectra."""
    count = 2 ** int(np.ceil(np.log2(2 * len(microphone))))
    cross = np.fft.rfft(microphone, count) * np.conj(np.fft.rfft(reference, count))
    correlation = np.fft.irfft(cross / (np.abs(cross) + 1e-9))
    return int(np.abs(correlation[: RATE // 2]).argmax())


class Speex:
    """Echo cancellation with a filter of so many seconds, then maybe suppression of the rest of the echo and of noise, in dB, or automatic gain."""

    def __init__(self, name, seconds=0.2, rest=None, noise=None, gain=False):
        self.name, self.seconds, self.rest, self.noise, self.gain = name, seconds, rest, noise, gain
        self.library = ctypes.CDLL("libspeexdsp.so.1")
        self.library.speex_echo_state_init.restype = ctypes.c_void_p
        self.library.speex_preprocess_state_init.restype = ctypes.c_void_p

    def __call__(self, microphone, reference):
        library, pointer = self.library, ctypes.c_void_p
        if reference.any():
            late = max(0, delay(microphone, reference) - EARLY)
            reference = np.pad(reference, (late, 0))[: len(microphone)]
        echo = pointer(library.speex_echo_state_init(FRAME, int(self.seconds * RATE)))
        library.speex_echo_ctl(echo, SET_SAMPLING_RATE, ctypes.byref(ctypes.c_int(RATE)))
        suppressor = None
        if self.rest is not None or self.noise is not None or self.gain:
            suppressor = pointer(library.speex_preprocess_state_init(FRAME, RATE))
            numbers = [(SET_DENOISE, int(self.noise is not None)), (SET_GAIN, int(self.gain))]
            if self.rest is not None:
                library.speex_preprocess_ctl(suppressor, SET_STATE, echo)
                numbers += [(SET_SUPPRESS, self.rest), (SET_ACTIVE, self.rest // 3)]
            if self.noise is not None:
                numbers += [(SET_NOISE, self.noise)]
            for request, number in numbers:
                library.speex_preprocess_ctl(suppressor, request, ctypes.byref(ctypes.c_int(number)))
        heard, played = (np.round(np.clip(wave, -1, 1) * 32767).astype(np.int16) for wave in (microphone, reference))
        result = np.zeros_like(heard)
        for start in range(0, len(heard) - FRAME + 1, FRAME):
            frames = [pointer(wave.ctypes.data + 2 * start) for wave in (heard, played, result)]
            library.speex_echo_cancellation(echo, *frames)
            if suppressor:
                library.speex_preprocess_run(suppressor, frames[2])
        library.speex_echo_state_destroy(echo)
        if suppressor:
            library.speex_preprocess_state_destroy(suppressor)
        return result / np.float32(32767)


CANDIDATES = (
    Speex("speexdsp, 0.2 s", 0.2),
    Speex("… and its suppression of the rest", 0.2, rest=-40),
    Speex("… and of noise", 0.2, rest=-40, noise=-15),
    Speex("speexdsp, 0.2 s, and automatic gain", 0.2, gain=True),
)
