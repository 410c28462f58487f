// libqrencode 4, loaded when it is needed, for one picture on a terminal. What is used of it is declared here, so that nothing has to be
// installed to build the program.

#ifndef CQRENCODE_H
#define CQRENCODE_H

#include <dlfcn.h>

/// A picture of `width` × `width` bytes; the lowest bit of a byte says that it is dark.
struct CQREncode_picture {
    int version;
    int width;
    unsigned char *data;
};

/// The functions of the library; see CQREncode_load.
struct CQREncode {
    /// Of a text with 8 bits a letter; version 0: the smallest that holds it; level 0 to 3: how much may be damaged. Null if it fails.
    struct CQREncode_picture *(*make)(const char *text, int version, int level);
    void (*destroy)(struct CQREncode_picture *picture);
};

/// Loads the library, which stays loaded. Returns false if it, or one of its functions, is not there.
static inline _Bool CQREncode_load(struct CQREncode *library) {
    void *handle = dlopen("libqrencode.so.4", RTLD_NOW);
    if (!handle) return 0;
    library->make = (__typeof__(library->make))dlsym(handle, "QRcode_encodeString8bit");
    library->destroy = (__typeof__(library->destroy))dlsym(handle, "QRcode_free");
    return library->make && library->destroy;
}

#endif
