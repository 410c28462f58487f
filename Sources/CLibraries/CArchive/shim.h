// libarchive 3, loaded when it is needed, for backups. What is used of it is declared here, so that nothing has to be installed to build the
// program.

#ifndef CARCHIVE_H
#define CARCHIVE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct archive;
struct archive_entry;

/// The functions of the library; see CArchive_load.
struct CArchive {
    struct archive *(*read_new)(void);
    int (*read_support_format_tar)(struct archive *);
    int (*read_open_memory)(struct archive *, const void *bytes, size_t size);
    /// 0 for an entry, 1 at the end, less for a fault.
    int (*read_next_header)(struct archive *, struct archive_entry **);
    ssize_t (*read_data)(struct archive *, void *bytes, size_t size);
    int (*read_free)(struct archive *);
    const char *(*entry_pathname)(struct archive_entry *);
    const char *(*entry_hardlink)(struct archive_entry *);
    /// As in st_mode.
    mode_t (*entry_filetype)(struct archive_entry *);
    mode_t (*entry_perm)(struct archive_entry *);
    int64_t (*entry_size)(struct archive_entry *);
    struct archive *(*write_new)(void);
    int (*write_add_filter_gzip)(struct archive *);
    int (*write_set_format_pax_restricted)(struct archive *);
    int (*write_open_memory)(struct archive *, void *bytes, size_t size, size_t *used);
    int (*write_header)(struct archive *, struct archive_entry *);
    ssize_t (*write_data)(struct archive *, const void *bytes, size_t size);
    int (*write_close)(struct archive *);
    int (*write_free)(struct archive *);
    struct archive_entry *(*entry_new)(void);
    void (*entry_free)(struct archive_entry *);
    void (*entry_set_pathname)(struct archive_entry *, const char *);
    void (*entry_set_size)(struct archive_entry *, int64_t);
    void (*entry_set_filetype)(struct archive_entry *, unsigned int);
    void (*entry_set_perm)(struct archive_entry *, mode_t);
    void (*entry_set_mtime)(struct archive_entry *, time_t, long);
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CArchive_load(struct CArchive *library) {
    void *handle = dlopen("libarchive.so.13", RTLD_NOW);
    if (!handle) return 0;
    _Bool all = 1;
#define CARCHIVE(name) \
    library->name = (__typeof__(library->name))dlsym(handle, "archive_" #name); \
    all = all && library->name;
    CARCHIVE(read_new) CARCHIVE(read_support_format_tar) CARCHIVE(read_open_memory)
    CARCHIVE(read_next_header) CARCHIVE(read_data) CARCHIVE(read_free) CARCHIVE(entry_pathname) CARCHIVE(entry_hardlink)
    CARCHIVE(entry_filetype) CARCHIVE(entry_perm) CARCHIVE(entry_size) CARCHIVE(write_new) CARCHIVE(write_add_filter_gzip)
    CARCHIVE(write_set_format_pax_restricted) CARCHIVE(write_open_memory) CARCHIVE(write_header) CARCHIVE(write_data)
    CARCHIVE(write_close) CARCHIVE(write_free) CARCHIVE(entry_new) CARCHIVE(entry_free) CARCHIVE(entry_set_pathname)
    CARCHIVE(entry_set_size) CARCHIVE(entry_set_filetype) CARCHIVE(entry_set_perm) CARCHIVE(entry_set_mtime)
#undef CARCHIVE
    return all;
}

#endif
