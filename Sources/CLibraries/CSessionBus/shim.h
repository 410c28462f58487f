// sd-bus of libsystemd, loaded when it is needed: music players on D-Bus. What is used of it is declared here, so that nothing has to be
// installed to build the program.

#ifndef CSESSIONBUS_H
#define CSESSIONBUS_H

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

struct sd_bus;

/// The functions of the library; see CSessionBus_load. Each returns a negative errno if it fails.
struct CSessionBus {
    int (*open)(struct sd_bus **bus);
    struct sd_bus *(*close)(struct sd_bus *bus);
    int (*set_timeout)(struct sd_bus *bus, uint64_t microseconds);
    int (*list)(struct sd_bus *bus, char ***acquired, char ***activatable);
    int (*get)(struct sd_bus *bus, const char *name, const char *path, const char *interface, const char *member, void *error, char type,
               void *value);
    int (*get_text)(struct sd_bus *bus, const char *name, const char *path, const char *interface, const char *member, void *error,
                    char **value);
    int (*set)(struct sd_bus *bus, const char *name, const char *path, const char *interface, const char *member, void *error,
               const char *types, ...);
    int (*call)(struct sd_bus *bus, const char *name, const char *path, const char *interface, const char *member, void *error,
                void *reply, const char *types, ...);
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CSessionBus_load(struct CSessionBus *library) {
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW);
    if (!handle) return 0;
#define CSESSIONBUS_FIND(field, function) \
    if (!(library->field = (__typeof__(library->field))dlsym(handle, #function))) return 0
    CSESSIONBUS_FIND(open, sd_bus_open_user);
    CSESSIONBUS_FIND(close, sd_bus_flush_close_unref);
    CSESSIONBUS_FIND(set_timeout, sd_bus_set_method_call_timeout);
    CSESSIONBUS_FIND(list, sd_bus_list_names);
    CSESSIONBUS_FIND(get, sd_bus_get_property_trivial);
    CSESSIONBUS_FIND(get_text, sd_bus_get_property_string);
    CSESSIONBUS_FIND(set, sd_bus_set_property);
    CSESSIONBUS_FIND(call, sd_bus_call_method);
#undef CSESSIONBUS_FIND
    return 1;
}

#define CSESSIONBUS_PATH "/org/mpris/MediaPlayer2"
#define CSESSIONBUS_PLAYER "org.mpris.MediaPlayer2.Player"

/// The volume of a music player, 1 for its usual one.
static inline int CSessionBus_volume(const struct CSessionBus *library, struct sd_bus *bus, const char *name, double *volume) {
    return library->get(bus, name, CSESSIONBUS_PATH, CSESSIONBUS_PLAYER, "Volume", 0, 'd', volume);
}

static inline int CSessionBus_set_volume(const struct CSessionBus *library, struct sd_bus *bus, const char *name, double volume) {
    return library->set(bus, name, CSESSIONBUS_PATH, CSESSIONBUS_PLAYER, "Volume", 0, "d", volume);
}

/// Such as `Playing`; to be freed.
static inline int CSessionBus_state(const struct CSessionBus *library, struct sd_bus *bus, const char *name, char **state) {
    return library->get_text(bus, name, CSESSIONBUS_PATH, CSESSIONBUS_PLAYER, "PlaybackStatus", 0, state);
}

/// `Pause` or `Play`.
static inline int CSessionBus_tell(const struct CSessionBus *library, struct sd_bus *bus, const char *name, const char *verb) {
    return library->call(bus, name, CSESSIONBUS_PATH, CSESSIONBUS_PLAYER, verb, 0, 0, "");
}

#endif
