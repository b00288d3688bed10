// SPDX-License-Identifier: Apache-2.0
#include "CTidemarkOpenSSLStart.h"
#include <openssl/crypto.h>

__attribute__((constructor)) static void keep_openssl_until_the_end(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
