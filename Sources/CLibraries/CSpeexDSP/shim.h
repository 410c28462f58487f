// libspeexdsp's echo canceller, loaded when it is needed: few users have a loudspeaker near the microphone and a reference of what it plays.

#ifndef CSPEEXDSP_H
#define CSPEEXDSP_H

#include <dlfcn.h>
#include <speex/speex_echo.h>

/// The functions of the library; see CSpeexDSP_load.
struct CSpeexDSP {
    __typeof__(&speex_echo_state_init) make;
    __typeof__(&speex_echo_ctl) control;
    __typeof__(&speex_echo_cancellation) cancel;
    __typeof__(&speex_echo_state_reset) reset;
    __typeof__(&speex_echo_state_destroy) destroy;
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CSpeexDSP_load(struct CSpeexDSP *library) {
    void *handle = dlopen("libspeexdsp.so.1", RTLD_NOW);
    if (!handle) return 0;
#define CSPEEXDSP_FIND(field, function) \
    if (!(library->field = (__typeof__(library->field))dlsym(handle, #function))) return 0
    CSPEEXDSP_FIND(make, speex_echo_state_init);
    CSPEEXDSP_FIND(control, speex_echo_ctl);
    CSPEEXDSP_FIND(cancel, speex_echo_cancellation);
    CSPEEXDSP_FIND(reset, speex_echo_state_reset);
    CSPEEXDSP_FIND(destroy, speex_echo_state_destroy);
#undef CSPEEXDSP_FIND
    return 1;
}

/// Tells a canceller its sampling rate.
static inline void CSpeexDSP_set_rate(const struct CSpeexDSP *library, SpeexEchoState *state, int rate) {
    library->control(state, SPEEX_ECHO_SET_SAMPLING_RATE, &rate);
}

#endif
