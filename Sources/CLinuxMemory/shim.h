// The Glibc module that Swift imports is built without _GNU_SOURCE, so memfd_create is missing from it.
// This shim forwards to the C library's own function; the audio ring maps the memory it returns twice.

#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H

int memfd_create(const char *name, unsigned int flags);

/// An anonymous file in memory, closed on exec; its descriptor, or -1 with errno set.
static inline int CLinuxMemory_memfd(const char *name) {
    return memfd_create(name, 1u /* MFD_CLOEXEC */);
}

#endif
