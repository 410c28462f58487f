// The Glibc module that Swift imports is built without _GNU_SOURCE, so that Linux's own calls around processes and
// descriptors are missing from it. These shims forward to the C library's functions.

#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H

// No header of the C library is included here: its types would then belong to this module too. The calls are declared
// with the types that they have in the Linux ABI.
int pipe2(int ends[2], int flags);
int accept4(int listener, void *address, void *length, int flags);
int pidfd_open(int pid, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(void *actions, int from);
int posix_spawn_file_actions_addchdir_np(void *actions, const char *path);

/// What Linux calls SOCK_CLOEXEC, SOCK_NONBLOCK and so on, alike for all of these.
enum { CLinuxProcess_closeOnExec = 02000000, CLinuxProcess_doNotWait = 04000 };

/// A pipe whose ends are closed on exec; 0, or -1 with errno set.
static inline int CLinuxProcess_pipe(int ends[2]) {
    return pipe2(ends, CLinuxProcess_closeOnExec);
}

/// A descriptor that becomes readable when the process ends; or -1 with errno set.
static inline int CLinuxProcess_watch(int pid) {
    return pidfd_open(pid, 0);
}

/// The next connection, closed on exec and never waited for; or -1 with errno set.
static inline int CLinuxProcess_accept(int listener) {
    return accept4(listener, 0, 0, CLinuxProcess_closeOnExec | CLinuxProcess_doNotWait);
}

/// The child closes every descriptor from this one on.
static inline int CLinuxProcess_closeFrom(void *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/// The child begins in this folder.
static inline int CLinuxProcess_changeFolder(void *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

#endif
