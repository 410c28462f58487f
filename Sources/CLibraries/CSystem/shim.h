// The Glibc module that Swift imports is built without _GNU_SOURCE, so Linux's own functions are missing from it.
// This shim declares and wraps them: memory files (the ring maps its memory twice), eventfd, thread names, CPU
// affinity, and calls for processes and descriptors.

#ifndef CSYSTEM_H
#define CSYSTEM_H

// No header of the C library is included here: Swift would then see its types as types of this module too.
int memfd_create(const char *name, unsigned int flags);
int eventfd(unsigned int count, int flags);
int prctl(int option, ...);
int sched_getcpu(void);
int sched_setaffinity(int pid, unsigned long size, const void *set);
unsigned long getauxval(unsigned long type);
int dladdr(const void *address, void *information);

/// Creates an anonymous file in memory, closed on exec. Returns its descriptor, or -1 with errno set.
static inline int CSystem_memfd(const char *name) {
    return memfd_create(name, 1u /* MFD_CLOEXEC */);
}

/// Creates an eventfd, closed on exec and non-blocking. Returns its descriptor, or -1 with errno set.
static inline int CSystem_eventfd(void) {
    return eventfd(0, 02000000 /* EFD_CLOEXEC */ | 04000 /* EFD_NONBLOCK */);
}

/// The processor's abilities that the kernel has enabled, as bits that depend on the architecture (AT_HWCAP).
static inline unsigned long CSystem_hardware(void) {
    return getauxval(16);
}

/// Names the calling thread for `ps` and `top`; at most 15 bytes.
static inline void CSystem_name_thread(const char *name) {
    prctl(15 /* PR_SET_NAME */, name);
}

/// Pins the calling thread to the processor that it runs on now. Returns the processor's number, or -1 with errno set.
static inline int CSystem_pin_thread(void) {
    int processor = sched_getcpu();
    unsigned long set[128] = {0};
    int bits = 8 * sizeof set[0];
    if (processor < 0 || processor >= 128 * bits) return -1;
    set[processor / bits] = 1ul << (processor % bits);
    return sched_setaffinity(0, sizeof set, set) == 0 ? processor : -1;
}

int sched_getaffinity(int pid, unsigned long size, void *set);

/// The number of processors on which this process may run; 0 where the kernel does not say.
static inline int CSystem_processors(void) {
    unsigned long set[128] = {0};
    int count = 0;
    if (sched_getaffinity(0, sizeof set, set) < 0) return 0;
    for (int index = 0; index < 128; index++) count += __builtin_popcountl(set[index]);
    return count;
}

extern char **environ;

/// The environment variables, `NAME=value`; the last is null.
static inline char **CSystem_environment(void) {
    return environ;
}

int malloc_trim(unsigned long pad);

/// Gives memory that the C library keeps free back to the system.
static inline void CSystem_trim(void) {
    malloc_trim(0);
}

int mallopt(int parameter, int value);

/// Lets all threads take memory from one heap (M_ARENA_MAX), in place of one of each thread's own.
static inline void CSystem_share_heap(void) {
    mallopt(-8, 1);
}

// Processes and descriptors, declared with the types of the Linux ABI.
int pipe2(int ends[2], int flags);
int accept4(int listener, void *address, void *length, int flags);
int pidfd_open(int pid, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(void *actions, int from);
int posix_spawn_file_actions_addchdir_np(void *actions, const char *path);

/// The flags for closed on exec and non-blocking: O_ and SOCK_ have the same values.
enum { CSystem_closeOnExec = 02000000, CSystem_doNotWait = 04000 };

/// Creates a pipe whose ends are closed on exec. Returns 0, or -1 with errno set.
static inline int CSystem_pipe(int ends[2]) {
    return pipe2(ends, CSystem_closeOnExec);
}

/// Returns a descriptor that becomes readable when the process ends (pidfd), or -1 with errno set.
static inline int CSystem_watch(int pid) {
    return pidfd_open(pid, 0);
}

/// Accepts the next connection, closed on exec and non-blocking. Returns its descriptor, or -1 with errno set.
static inline int CSystem_accept(int listener) {
    return accept4(listener, 0, 0, CSystem_closeOnExec | CSystem_doNotWait);
}

/// Makes the child close all descriptors from this one on.
static inline int CSystem_closeFrom(void *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/// Makes the child start in this folder.
static inline int CSystem_changeFolder(void *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

/// The file that an address of code was loaded from, as its name was when it was loaded; NULL for none.
static inline const char *CSystem_image(const void *address) {
    // Dl_info: file, its base, symbol, its address.
    const void *information[4] = {0};
    return dladdr(address, information) ? (const char *)information[0] : 0;
}

#endif
