// SPDX-License-Identifier: Apache-2.0
// OpenSSL as Swift can see it. Macros become static inline functions; no logic here.
#pragma once
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
