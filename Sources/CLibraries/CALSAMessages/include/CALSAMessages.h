// alsa-lib writes its error messages to standard error through a variadic handler, which cannot be written in Swift.
// This handler stores the last message of each thread instead, for the text of the error that follows.

#ifndef CALSA_MESSAGES_H
#define CALSA_MESSAGES_H

/// Installs the handler, for the whole process.
void CALSAMessages_install(void);

/// Returns the last message of the calling thread as one line; empty if none came since CALSAMessages_forget.
const char *CALSAMessages_last(void);

/// Clears the message of the calling thread.
void CALSAMessages_forget(void);

#endif
