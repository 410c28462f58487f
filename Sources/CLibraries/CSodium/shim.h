// libsodium's functions for encrypted connections, loaded when they are needed: few users have such connections.

#ifndef CSODIUM_H
#define CSODIUM_H

#include <dlfcn.h>
#include <sodium.h>

/// The functions of the library; see CSodium_load.
struct CSodium {
    __typeof__(&randombytes_buf) random;
    __typeof__(&crypto_hash_sha256) hash;
    __typeof__(&crypto_auth_hmacsha256) authenticate;
    __typeof__(&crypto_scalarmult_base) make_public;
    __typeof__(&crypto_scalarmult) agree;
    __typeof__(&crypto_aead_chacha20poly1305_ietf_encrypt) encrypt;
    __typeof__(&crypto_aead_chacha20poly1305_ietf_decrypt) decrypt;
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CSodium_load(struct CSodium *library) {
    void *handle = dlopen("libsodium.so.23", RTLD_NOW);
    if (!handle) handle = dlopen("libsodium.so.26", RTLD_NOW);
    if (!handle) return 0;
#define CSODIUM_FIND(field, function) \
    if (!((field) = (__typeof__(field))dlsym(handle, #function))) return 0
    __typeof__(&sodium_init) begin;
    CSODIUM_FIND(begin, sodium_init);
    CSODIUM_FIND(library->random, randombytes_buf);
    CSODIUM_FIND(library->hash, crypto_hash_sha256);
    CSODIUM_FIND(library->authenticate, crypto_auth_hmacsha256);
    CSODIUM_FIND(library->make_public, crypto_scalarmult_base);
    CSODIUM_FIND(library->agree, crypto_scalarmult);
    CSODIUM_FIND(library->encrypt, crypto_aead_chacha20poly1305_ietf_encrypt);
    CSODIUM_FIND(library->decrypt, crypto_aead_chacha20poly1305_ietf_decrypt);
#undef CSODIUM_FIND
    return begin() >= 0;
}

#endif
