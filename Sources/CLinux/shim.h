// The Glibc module that Swift imports is built without _GNU_SOURCE, and functions are missing from it.
// This shim forwards to the C library's own functions: the audio ring maps the memory it gets twice, and the capture
// thread rings its reader through an event counter.

#ifndef CLINUX_H
#define CLINUX_H

// No header of the C library is included here: its types would then belong to this module too.
int memfd_create(const char *name, unsigned int flags);
int eventfd(unsigned int count, int flags);
int prctl(int option, ...);

/// An anonymous file in memory, closed on exec; its descriptor, or -1 with errno set.
static inline int CLinux_memfd(const char *name) {
    return memfd_create(name, 1u /* MFD_CLOEXEC */);
}

/// A counter to wait for with poll, closed on exec and never waited for; its descriptor, or -1 with errno set.
static inline int CLinux_eventfd(void) {
    return eventfd(0, 02000000 /* EFD_CLOEXEC */ | 04000 /* EFD_NONBLOCK */);
}

/// What `ps` and `top` call the calling thread; at most 15 bytes.
static inline void CLinux_name_thread(const char *name) {
    prctl(15 /* PR_SET_NAME */, name);
}

#endif
