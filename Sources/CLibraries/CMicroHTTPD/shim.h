// libmicrohttpd, loaded when it is needed: it brings eleven libraries for TLS, which would cost every start of the program 3 ms and
// 3 MB. Its functions with a variable number of arguments are wrapped, because Swift cannot call them.

#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

#include <dlfcn.h>
#include <microhttpd.h>

/// The functions of the library; see CMicroHTTPD_load.
struct CMicroHTTPD {
    __typeof__(&MHD_start_daemon) start;
    __typeof__(&MHD_get_daemon_info) daemon_info;
    __typeof__(&MHD_get_connection_info) connection_info;
    __typeof__(&MHD_stop_daemon) stop;
    __typeof__(&MHD_run) run;
    __typeof__(&MHD_get_timeout) timeout;
    __typeof__(&MHD_add_connection) add;
    __typeof__(&MHD_suspend_connection) suspend;
    __typeof__(&MHD_resume_connection) resume;
    __typeof__(&MHD_lookup_connection_value) value;
    __typeof__(&MHD_create_response_from_buffer) response;
    __typeof__(&MHD_create_response_from_callback) stream;
    __typeof__(&MHD_add_response_header) header;
    __typeof__(&MHD_queue_response) queue;
    __typeof__(&MHD_destroy_response) destroy;
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CMicroHTTPD_load(struct CMicroHTTPD *library) {
    void *handle = dlopen("libmicrohttpd.so.12", RTLD_NOW);
    if (!handle) return 0;
#define CMICROHTTPD_FIND(field, function) \
    if (!(library->field = (__typeof__(library->field))dlsym(handle, #function))) return 0
    CMICROHTTPD_FIND(start, MHD_start_daemon);
    CMICROHTTPD_FIND(daemon_info, MHD_get_daemon_info);
    CMICROHTTPD_FIND(connection_info, MHD_get_connection_info);
    CMICROHTTPD_FIND(stop, MHD_stop_daemon);
    CMICROHTTPD_FIND(run, MHD_run);
    CMICROHTTPD_FIND(timeout, MHD_get_timeout);
    CMICROHTTPD_FIND(add, MHD_add_connection);
    CMICROHTTPD_FIND(suspend, MHD_suspend_connection);
    CMICROHTTPD_FIND(resume, MHD_resume_connection);
    CMICROHTTPD_FIND(value, MHD_lookup_connection_value);
    CMICROHTTPD_FIND(response, MHD_create_response_from_buffer);
    CMICROHTTPD_FIND(stream, MHD_create_response_from_callback);
    CMICROHTTPD_FIND(header, MHD_add_response_header);
    CMICROHTTPD_FIND(queue, MHD_queue_response);
    CMICROHTTPD_FIND(destroy, MHD_destroy_response);
#undef CMICROHTTPD_FIND
    return 1;
}

/// What a server is made with.
struct CMicroHTTPD_settings {
    MHD_AccessHandlerCallback request;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    /// The first argument of the callbacks.
    void *context;
    unsigned int connections;
    /// Bytes of memory for each connection, for its request's head and answer's head.
    unsigned long memory;
    /// Seconds without a byte after which a connection is closed.
    unsigned int timeout;
};

/// Makes a server that has neither a thread nor a listening socket: its owner waits for CMicroHTTPD_descriptor, hands over
/// connections, and calls `run`. Returns null if it cannot be made.
static inline struct MHD_Daemon *CMicroHTTPD_start(
    const struct CMicroHTTPD *library, const struct CMicroHTTPD_settings *settings
) {
    return library->start(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, 0, 0, settings->request, settings->context,
        MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
        MHD_OPTION_NOTIFY_CONNECTION, settings->connection, settings->context,
        MHD_OPTION_CONNECTION_LIMIT, settings->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->memory,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->timeout, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END
    );
}

/// The descriptor that becomes readable when `run` has work; -1 if there is none.
static inline int CMicroHTTPD_descriptor(const struct CMicroHTTPD *library, struct MHD_Daemon *server) {
    const union MHD_DaemonInfo *info = library->daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/// The socket of a connection; -1 if there is none.
static inline int CMicroHTTPD_socket(const struct CMicroHTTPD *library, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = library->connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// What the callback for connections stored for one; null if nothing.
static inline void *CMicroHTTPD_context(const struct CMicroHTTPD *library, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = library->connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : 0;
}

/// What the callback for connections gets for a new one.
enum { CMicroHTTPD_started = MHD_CONNECTION_NOTIFY_STARTED };

/// The value of a request's header; null without it.
static inline const char *CMicroHTTPD_header(
    const struct CMicroHTTPD *library, struct MHD_Connection *connection, const char *name
) {
    return library->value(connection, MHD_HEADER_KIND, name);
}

/// A response that holds a copy of these bytes.
static inline struct MHD_Response *CMicroHTTPD_response(const struct CMicroHTTPD *library, size_t count, void *bytes) {
    return library->response(count, bytes, MHD_RESPMEM_MUST_COPY);
}

/// Hands over a connection, which is closed if that fails. Only its family matters of the peer's address.
static inline enum MHD_Result CMicroHTTPD_add(const struct CMicroHTTPD *library, struct MHD_Daemon *server, int descriptor) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getpeername(descriptor, (struct sockaddr *)&address, &length) != 0) address.ss_family = AF_UNIX;
    return library->add(server, descriptor, (struct sockaddr *)&address, sizeof address);
}

#endif
