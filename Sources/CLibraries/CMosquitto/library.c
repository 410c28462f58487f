#include "CMosquitto.h"

#include <dlfcn.h>
#include <pthread.h>

#define FUNCTIONS(each) \
    each(new) each(destroy) each(int_option) each(property_add_int32) each(property_free_all) each(connect_bind_v5) \
    each(will_set) each(username_pw_set) each(tls_set) each(ssl_get) each(connect_callback_set) \
    each(disconnect_callback_set) each(publish_v5_callback_set) each(subscribe_callback_set) each(message_callback_set) \
    each(socket) each(want_write) each(loop_read) each(loop_write) each(loop_misc) each(publish) each(subscribe) \
    each(disconnect) each(strerror) each(reason_string)

#define FIELD(name) __typeof__(&mosquitto_##name) name;
static struct { FUNCTIONS(FIELD) } functions;
static void *library;
static bool is_loaded;

static void load(void) {
    int (*begin)(void);
    library = dlopen("libmosquitto.so.1", RTLD_NOW);
    if (!library || !(begin = (int (*)(void))dlsym(library, "mosquitto_lib_init"))) return;
#define FIND(name) \
    if (!(functions.name = (__typeof__(functions.name))dlsym(library, "mosquitto_" #name))) return;
    FUNCTIONS(FIND)
    is_loaded = begin() == MOSQ_ERR_SUCCESS;
}

bool CMosquitto_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

void *CMosquitto_find(const char *name) { return library ? dlsym(library, name) : (void *)0; }

struct mosquitto *CMosquitto_new(const char *name, bool clean, void *context) { return functions.new(name, clean, context); }
void CMosquitto_destroy(struct mosquitto *client) { functions.destroy(client); }
int CMosquitto_int_option(struct mosquitto *client, enum mosq_opt_t option, int value) {
    return functions.int_option(client, option, value);
}
int CMosquitto_property_add_int32(mosquitto_property **list, int identifier, uint32_t value) {
    return functions.property_add_int32(list, identifier, value);
}
void CMosquitto_property_free_all(mosquitto_property **list) { functions.property_free_all(list); }
int CMosquitto_connect_bind_v5(
    struct mosquitto *client, const char *host, int port, int keep_alive, const char *from, const mosquitto_property *list) {
    return functions.connect_bind_v5(client, host, port, keep_alive, from, list);
}
int CMosquitto_will_set(struct mosquitto *client, const char *topic, int size, const void *payload, int quality, bool retain) {
    return functions.will_set(client, topic, size, payload, quality, retain);
}
int CMosquitto_username_pw_set(struct mosquitto *client, const char *user, const char *password) {
    return functions.username_pw_set(client, user, password);
}
int CMosquitto_tls_set(
    struct mosquitto *client, const char *file, const char *folder, const char *certificate, const char *key, int (*password)(char *, int, int, void *)) {
    return functions.tls_set(client, file, folder, certificate, key, password);
}
void *CMosquitto_ssl_get(struct mosquitto *client) { return functions.ssl_get(client); }
void CMosquitto_connect_callback_set(struct mosquitto *client, void (*call)(struct mosquitto *, void *, int)) {
    functions.connect_callback_set(client, call);
}
void CMosquitto_disconnect_callback_set(struct mosquitto *client, void (*call)(struct mosquitto *, void *, int)) {
    functions.disconnect_callback_set(client, call);
}
void CMosquitto_publish_v5_callback_set(
    struct mosquitto *client, void (*call)(struct mosquitto *, void *, int, int, const mosquitto_property *)) {
    functions.publish_v5_callback_set(client, call);
}
void CMosquitto_subscribe_callback_set(struct mosquitto *client, void (*call)(struct mosquitto *, void *, int, int, const int *)) {
    functions.subscribe_callback_set(client, call);
}
void CMosquitto_message_callback_set(
    struct mosquitto *client, void (*call)(struct mosquitto *, void *, const struct mosquitto_message *)) {
    functions.message_callback_set(client, call);
}
int CMosquitto_socket(struct mosquitto *client) { return functions.socket(client); }
bool CMosquitto_want_write(struct mosquitto *client) { return functions.want_write(client); }
int CMosquitto_loop_read(struct mosquitto *client, int most) { return functions.loop_read(client, most); }
int CMosquitto_loop_write(struct mosquitto *client, int most) { return functions.loop_write(client, most); }
int CMosquitto_loop_misc(struct mosquitto *client) { return functions.loop_misc(client); }
int CMosquitto_publish(
    struct mosquitto *client, int *number, const char *topic, int size, const void *payload, int quality, bool retain) {
    return functions.publish(client, number, topic, size, payload, quality, retain);
}
int CMosquitto_subscribe(struct mosquitto *client, int *number, const char *topic, int quality) {
    return functions.subscribe(client, number, topic, quality);
}
int CMosquitto_disconnect(struct mosquitto *client) { return functions.disconnect(client); }
const char *CMosquitto_strerror(int code) { return CMosquitto_load() ? functions.strerror(code) : (void *)0; }
const char *CMosquitto_reason_string(int code) { return CMosquitto_load() ? functions.reason_string(code) : (void *)0; }
