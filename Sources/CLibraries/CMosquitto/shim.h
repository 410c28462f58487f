#include <dlfcn.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>

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
        void *function = dlsym((void *)0, functions[index].name);
        if (!function) return false;
        *(void **)functions[index].place = function;
    }
    tls->ssl = mosquitto_ssl_get(client);
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
