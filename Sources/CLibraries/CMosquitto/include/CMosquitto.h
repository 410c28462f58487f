// libmosquitto, loaded when it is needed: it brings OpenSSL, which would cost every start of the program 2 MB. The functions here are those of the
// same names without the C; before CMosquitto_load they must not be called.

#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>
#include <mqtt_protocol.h>

/// Loads the library and begins, once. Returns false if it, or one of its functions, is not there.
bool CMosquitto_load(void);

/// A function of the library, or of a library that it needs; NULL if there is none of this name.
void *CMosquitto_find(const char *name);

struct mosquitto *CMosquitto_new(const char *name, bool clean, void *context);
void CMosquitto_destroy(struct mosquitto *client);
int CMosquitto_int_option(struct mosquitto *client, enum mosq_opt_t option, int value);
int CMosquitto_property_add_int32(mosquitto_property **list, int identifier, uint32_t value);
void CMosquitto_property_free_all(mosquitto_property **list);
int CMosquitto_connect_bind_v5(
    struct mosquitto *client, const char *host, int port, int keep_alive, const char *from, const mosquitto_property *list);
int CMosquitto_will_set(struct mosquitto *client, const char *topic, int size, const void *payload, int quality, bool retain);
int CMosquitto_username_pw_set(struct mosquitto *client, const char *user, const char *password);
int CMosquitto_tls_set(
    struct mosquitto *client, const char *file, const char *folder, const char *certificate, const char *key, int (*password)(char *, int, int, void *));
void *CMosquitto_ssl_get(struct mosquitto *client);
void CMosquitto_connect_callback_set(struct mosquitto *client, void (*call)(struct mosquitto *, void *, int));
void CMosquitto_disconnect_callback_set(struct mosquitto *client, void (*call)(struct mosquitto *, void *, int));
void CMosquitto_publish_v5_callback_set(
    struct mosquitto *client, void (*call)(struct mosquitto *, void *, int, int, const mosquitto_property *));
void CMosquitto_subscribe_callback_set(struct mosquitto *client, void (*call)(struct mosquitto *, void *, int, int, const int *));
void CMosquitto_message_callback_set(
    struct mosquitto *client, void (*call)(struct mosquitto *, void *, const struct mosquitto_message *));
int CMosquitto_socket(struct mosquitto *client);
bool CMosquitto_want_write(struct mosquitto *client);
int CMosquitto_loop_read(struct mosquitto *client, int most);
int CMosquitto_loop_write(struct mosquitto *client, int most);
int CMosquitto_loop_misc(struct mosquitto *client);
int CMosquitto_publish(
    struct mosquitto *client, int *number, const char *topic, int size, const void *payload, int quality, bool retain);
int CMosquitto_subscribe(struct mosquitto *client, int *number, const char *topic, int quality);
int CMosquitto_disconnect(struct mosquitto *client);
const char *CMosquitto_strerror(int code);
const char *CMosquitto_reason_string(int code);

// libmosquitto reads whatever a broker sends, of any length. To check it before, Beckon hands a TLS connection its bytes itself,
// a record at a time, and looks at what they are. OpenSSL's headers are not needed for that: libmosquitto has loaded the library,
// and these few functions have been the same since OpenSSL 1.1.

/// A connection's TLS, with the functions of OpenSSL that Beckon calls.
struct CMosquitto_TLS {
    void *ssl;
    /// The memory that the connection reads from.
    void *input;
    int (*handshake)(void *);
    int (*error)(const void *, int);
    int (*peek)(void *, void *, int);
    int (*read)(void *, void *, int);
    int (*pending)(const void *);
    int (*write)(void *, const void *, int);
    long (*verified)(const void *);
    const char *(*verified_text)(long);
    unsigned long (*newest_error)(void);
    const char *(*reason)(unsigned long);
    void (*clear)(void);
};

/// Lets a client's TLS read from memory. Returns whether OpenSSL was found and could do it.
static inline bool CMosquitto_beginTLS(struct CMosquitto_TLS *tls, struct mosquitto *client) {
    void *(*create)(const void *), *(*memory)(void);
    void (*set_input)(void *, void *);
    long (*control)(void *, int, long, void *);
    struct {
        void *place;
        const char *name;
    } functions[] = {
        {&create, "BIO_new"}, {&memory, "BIO_s_mem"}, {&set_input, "SSL_set0_rbio"}, {&control, "BIO_ctrl"},
        {&tls->handshake, "SSL_do_handshake"}, {&tls->error, "SSL_get_error"}, {&tls->peek, "SSL_peek"},
        {&tls->read, "SSL_read"}, {&tls->pending, "SSL_pending"}, {&tls->write, "BIO_write"},
        {&tls->verified, "SSL_get_verify_result"}, {&tls->verified_text, "X509_verify_cert_error_string"},
        {&tls->newest_error, "ERR_peek_last_error"}, {&tls->reason, "ERR_reason_error_string"},
        {&tls->clear, "ERR_clear_error"},
    };
    for (unsigned index = 0; index < sizeof functions / sizeof *functions; index++) {
        void *function = CMosquitto_find(functions[index].name);
        if (!function) return false;
        *(void **)functions[index].place = function;
    }
    tls->ssl = CMosquitto_ssl_get(client);
    tls->input = tls->ssl ? create(memory()) : (void *)0;
    if (!tls->input) return false;
    // BIO_C_SET_BUF_MEM_EOF_RETURN: empty memory means that more will come.
    control(tls->input, 130, -1, (void *)0);
    set_input(tls->ssl, tls->input);
    return true;
}

/// Hands the connection bytes that came. Returns whether there was memory for them.
static inline bool CMosquitto_feedTLS(const struct CMosquitto_TLS *tls, const void *bytes, int count) {
    return tls->write(tls->input, bytes, count) == count;
}

/// Goes on with the handshake. Returns 1 when it is done, 0 if it waits for bytes, −1 if it failed.
static inline int CMosquitto_shakeHands(const struct CMosquitto_TLS *tls) {
    tls->clear();
    int result = tls->handshake(tls->ssl);
    if (result == 1) return 1;
    int error = tls->error(tls->ssl, result);
    // SSL_ERROR_WANT_READ and SSL_ERROR_WANT_WRITE.
    return error == 2 || error == 3 ? 0 : -1;
}

/// Copies what was received and decrypted, and leaves it there. Returns the count; 0 if there is nothing, −1 at the end of the
/// connection, −2 if it failed.
static inline int CMosquitto_peekTLS(const struct CMosquitto_TLS *tls, void *bytes, int count) {
    tls->clear();
    int result = tls->peek(tls->ssl, bytes, count);
    if (result > 0) return result;
    int error = tls->error(tls->ssl, result);
    return error == 2 || error == 3 ? 0 : error == 6 ? -1 : -2;
}

/// Takes what was received and decrypted.
static inline int CMosquitto_readTLS(const struct CMosquitto_TLS *tls, void *bytes, int count) {
    return tls->read(tls->ssl, bytes, count);
}

/// The bytes of the current record that were not read.
static inline int CMosquitto_pendingTLS(const struct CMosquitto_TLS *tls) { return tls->pending(tls->ssl); }

/// The result of the certificate's check, X509_V_OK or an X509_V_ERR.
static inline long CMosquitto_verifiedTLS(const struct CMosquitto_TLS *tls) { return tls->verified(tls->ssl); }

static inline const char *CMosquitto_verifiedText(const struct CMosquitto_TLS *tls, long result) {
    return tls->verified_text(result);
}

/// OpenSSL's newest error; NULL for none.
static inline const char *CMosquitto_reasonTLS(const struct CMosquitto_TLS *tls) { return tls->reason(tls->newest_error()); }

#endif
