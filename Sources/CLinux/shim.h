// The Glibc module that Swift imports is built without _GNU_SOURCE, and functions are missing from it.
// This shim forwards to the C library's own functions: the audio ring maps the memory it gets twice, the capture thread
// rings its reader through an event counter, and what is measured stays on one processor.

#ifndef CLINUX_H
#define CLINUX_H

// No header of the C library is included here: its types would then belong to this module too.
int memfd_create(const char *name, unsigned int flags);
int eventfd(unsigned int count, int flags);
int prctl(int option, ...);
int sched_getcpu(void);
int sched_setaffinity(int pid, unsigned long size, const void *set);

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

/// Keeps the calling thread on the processor that it runs on now; the processor's number, or -1 with errno set.
static inline int CLinux_pin_thread(void) {
    int processor = sched_getcpu();
    unsigned long set[128] = {0};
    int bits = 8 * sizeof set[0];
    if (processor < 0 || processor >= 128 * bits) return -1;
    set[processor / bits] = 1ul << (processor % bits);
    return sched_setaffinity(0, sizeof set, set) == 0 ? processor : -1;
}

#endif
