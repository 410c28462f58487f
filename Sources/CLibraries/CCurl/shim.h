// libcurl, loaded when it is needed: it brings some twenty libraries, which would cost every start of the program 5 ms and 7 MB. Its
// functions with a variable number of arguments are wrapped, because Swift cannot call them.

#ifndef CCURL_H
#define CCURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

/// The functions of the library; see CCurl_load.
struct CCurl {
    __typeof__(&curl_easy_init) make;
    __typeof__(&curl_easy_setopt) set;
    __typeof__(&curl_easy_getinfo) info;
    __typeof__(&curl_easy_strerror) text;
    __typeof__(&curl_easy_cleanup) destroy;
    __typeof__(&curl_slist_append) append;
    __typeof__(&curl_slist_free_all) free_list;
    __typeof__(&curl_multi_init) make_loop;
    __typeof__(&curl_multi_add_handle) add;
    __typeof__(&curl_multi_perform) run;
    __typeof__(&curl_multi_poll) wait;
    __typeof__(&curl_multi_info_read) read;
    __typeof__(&curl_multi_remove_handle) remove;
    __typeof__(&curl_multi_cleanup) destroy_loop;
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CCurl_load(struct CCurl *library) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW);
    if (!handle) return 0;
#define CCURL_FIND(field, function) \
    if (!((field) = (__typeof__(field))dlsym(handle, #function))) return 0
    __typeof__(&curl_global_init) begin;
    CCURL_FIND(begin, curl_global_init);
    CCURL_FIND(library->make, curl_easy_init);
    CCURL_FIND(library->set, curl_easy_setopt);
    CCURL_FIND(library->info, curl_easy_getinfo);
    CCURL_FIND(library->text, curl_easy_strerror);
    CCURL_FIND(library->destroy, curl_easy_cleanup);
    CCURL_FIND(library->append, curl_slist_append);
    CCURL_FIND(library->free_list, curl_slist_free_all);
    CCURL_FIND(library->make_loop, curl_multi_init);
    CCURL_FIND(library->add, curl_multi_add_handle);
    CCURL_FIND(library->run, curl_multi_perform);
    CCURL_FIND(library->wait, curl_multi_poll);
    CCURL_FIND(library->read, curl_multi_info_read);
    CCURL_FIND(library->remove, curl_multi_remove_handle);
    CCURL_FIND(library->destroy_loop, curl_multi_cleanup);
#undef CCURL_FIND
    return begin(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/// What is posted; all of it is copied, but `reason` and `context`.
struct CCurl_post {
    const char *address;
    const char *body;
    size_t size;
    struct curl_slist *headers;
    /// A file with the certificates of the authorities that are trusted; null: those of the system.
    const char *authorities;
    /// Whether no proxy is used, whatever the environment says.
    _Bool direct;
    /// Gets each line of the heads of the answers, and each piece of the body, with `context`.
    curl_write_callback line;
    curl_write_callback piece;
    void *context;
    /// Gets a text about a failure: CURL_ERROR_SIZE bytes.
    char *reason;
};

/// Makes a request, and adds it to a loop that runs it. Returns null if there is no memory.
static inline CURL *CCurl_begin(const struct CCurl *library, CURLM *loop, const struct CCurl_post *post) {
    CURL *request = library->make();
    if (!request) return 0;
    CURLcode failure = CURLE_OK;
#define CCURL_SET(option, value) failure = failure ? failure : library->set(request, option, value)
    CCURL_SET(CURLOPT_URL, post->address);
    CCURL_SET(CURLOPT_PATH_AS_IS, 1L);
    CCURL_SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    CCURL_SET(CURLOPT_HTTPHEADER, post->headers);
    CCURL_SET(CURLOPT_USERAGENT, "beckon");
    CCURL_SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->size);
    CCURL_SET(CURLOPT_COPYPOSTFIELDS, post->body);
    CCURL_SET(CURLOPT_HEADERFUNCTION, post->line);
    CCURL_SET(CURLOPT_HEADERDATA, post->context);
    CCURL_SET(CURLOPT_WRITEFUNCTION, post->piece);
    CCURL_SET(CURLOPT_WRITEDATA, post->context);
    CCURL_SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    CCURL_SET(CURLOPT_ERRORBUFFER, post->reason);
    CCURL_SET(CURLOPT_NOSIGNAL, 1L);
    if (post->direct) CCURL_SET(CURLOPT_PROXY, "");
    if (post->authorities) {
        CCURL_SET(CURLOPT_CAINFO, post->authorities);
        CCURL_SET(CURLOPT_CAPATH, (const char *)0);
    }
#undef CCURL_SET
    // From 7.85 on. The caller has checked the address, too.
    library->set(request, CURLOPT_PROTOCOLS_STR, "http,https");
    // From 7.87 on: whoever gives a request up does not wait for its name server.
    library->set(request, CURLOPT_QUICK_EXIT, 1L);
    if (failure == CURLE_OK && library->add(loop, request) == CURLM_OK) return request;
    library->destroy(request);
    return 0;
}

/// What is fetched; all of it is copied, but `reason` and `context`.
struct CCurl_fetch {
    const char *address;
    /// The most bytes, as far as the server says how many there are.
    curl_off_t most;
    /// Where to connect to whatever the address says, without redirects and proxies (CURLOPT_CONNECT_TO); null: where the address says.
    struct curl_slist *place;
    /// Gets each piece of the body, with `context`.
    curl_write_callback piece;
    void *context;
    /// Gets a text about a failure: CURL_ERROR_SIZE bytes.
    char *reason;
};

/// Makes a request for a file, and adds it to a loop that runs it. Redirects are followed. Returns null if there is no memory.
static inline CURL *CCurl_begin_fetch(const struct CCurl *library, CURLM *loop, const struct CCurl_fetch *fetch) {
    CURL *request = library->make();
    if (!request) return 0;
    CURLcode failure = CURLE_OK;
#define CCURL_SET(option, value) failure = failure ? failure : library->set(request, option, value)
    CCURL_SET(CURLOPT_URL, fetch->address);
    CCURL_SET(CURLOPT_USERAGENT, "beckon");
    CCURL_SET(CURLOPT_FAILONERROR, 1L);
    CCURL_SET(CURLOPT_FOLLOWLOCATION, 1L);
    CCURL_SET(CURLOPT_MAXREDIRS, 5L);
    CCURL_SET(CURLOPT_CONNECTTIMEOUT, 10L);
    CCURL_SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    CCURL_SET(CURLOPT_LOW_SPEED_TIME, 30L);
    CCURL_SET(CURLOPT_MAXFILESIZE_LARGE, fetch->most);
    if (fetch->place) {
        CCURL_SET(CURLOPT_CONNECT_TO, fetch->place);
        CCURL_SET(CURLOPT_FOLLOWLOCATION, 0L);
        CCURL_SET(CURLOPT_PROXY, "");
    }
    CCURL_SET(CURLOPT_WRITEFUNCTION, fetch->piece);
    CCURL_SET(CURLOPT_WRITEDATA, fetch->context);
    CCURL_SET(CURLOPT_ERRORBUFFER, fetch->reason);
    CCURL_SET(CURLOPT_NOSIGNAL, 1L);
#undef CCURL_SET
    // From 7.85 on. The caller has checked the address, too.
    library->set(request, CURLOPT_PROTOCOLS_STR, "http,https");
    library->set(request, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    // From 7.87 on: whoever gives a request up does not wait for its name server.
    library->set(request, CURLOPT_QUICK_EXIT, 1L);
    if (failure == CURLE_OK && library->add(loop, request) == CURLM_OK) return request;
    library->destroy(request);
    return 0;
}

/// How the only request of a loop ended; false if it has not.
static inline _Bool CCurl_end(const struct CCurl *library, CURLM *loop, CURLcode *end) {
    int count;
    CURLMsg *message = library->read(loop, &count);
    if (!message || message->msg != CURLMSG_DONE) return 0;
    *end = message->data.result;
    return 1;
}

/// A number that libcurl knows of a request, such as CURLINFO_RESPONSE_CODE; 0 if there is none.
static inline long CCurl_number(const struct CCurl *library, CURL *request, CURLINFO name) {
    long value = 0;
    return library->info(request, name, &value) == CURLE_OK ? value : 0;
}

/// Microseconds from the start to an event, such as CURLINFO_CONNECT_TIME_T; 0 if it has not happened.
static inline curl_off_t CCurl_time(const struct CCurl *library, CURL *request, CURLINFO name) {
    curl_off_t value = 0;
    return library->info(request, name, &value) == CURLE_OK ? value : 0;
}

/// Where the answer redirects to; null if it does not. Valid while the request is.
static inline const char *CCurl_redirect(const struct CCurl *library, CURL *request) {
    char *value = 0;
    return library->info(request, CURLINFO_REDIRECT_URL, &value) == CURLE_OK ? value : 0;
}

#endif
