// The Glibc module that Swift imports is built without _GNU_SOURCE, so that Linux's own calls around processes and
// descriptors are missing from it. These shims forward to the C library's functions.

#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H

#include <fcntl.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

int pipe2(int ends[2], int flags);
int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
int pidfd_open(pid_t pid, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/// A pipe whose ends are closed on exec; 0, or -1 with errno set.
static inline int CLinuxProcess_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

/// A descriptor that becomes readable when the process ends; or -1 with errno set.
static inline int CLinuxProcess_watch(pid_t pid) {
    return pidfd_open(pid, 0);
}

/// The next connection, closed on exec and never waited for; or -1 with errno set.
static inline int CLinuxProcess_accept(int listener) {
    return accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/// A counter to wake another thread by, closed on exec and never waited for; or -1 with errno set.
static inline int CLinuxProcess_bell(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// The child closes every descriptor from this one on.
static inline int CLinuxProcess_closeFrom(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/// The child begins in this folder.
static inline int CLinuxProcess_changeFolder(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

#endif
