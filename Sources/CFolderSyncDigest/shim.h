// SPDX-License-Identifier: Apache-2.0
// OpenSSL's digests, as any app can import them.
#pragma once
#include <openssl/evp.h>
