// SPDX-License-Identifier: Apache-2.0
// OpenSSL as Swift can see it. Macros become static inline functions; no logic here.
#pragma once
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Contexts

static inline int tidemark_ssl_ctx_set_minimum_tls12(SSL_CTX *ctx) {
    return (int)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
}
static inline int tidemark_ssl_ctx_set_maximum_tls12(SSL_CTX *ctx) {
    return (int)SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
}
static inline uint64_t tidemark_ssl_op_no_renegotiation(void) { return SSL_OP_NO_RENEGOTIATION; }
static inline uint64_t tidemark_ssl_op_no_compression(void) { return SSL_OP_NO_COMPRESSION; }
static inline uint64_t tidemark_ssl_op_cipher_server_preference(void) { return SSL_OP_CIPHER_SERVER_PREFERENCE; }
static inline uint64_t tidemark_ssl_op_prioritize_chacha(void) { return SSL_OP_PRIORITIZE_CHACHA; }
static inline void tidemark_ssl_ctx_set_modes(SSL_CTX *ctx) {
    SSL_CTX_set_mode(
        ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static inline void tidemark_ssl_ctx_set_read_ahead(SSL_CTX *ctx) { SSL_CTX_set_read_ahead(ctx, 1); }
static inline int tidemark_ssl_ctx_set_groups(SSL_CTX *ctx, const char *list) {
    return (int)SSL_CTX_set1_groups_list(ctx, list);
}
static inline void tidemark_ssl_ctx_set_cache_off(SSL_CTX *ctx) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}
static inline void tidemark_ssl_ctx_set_cache_client_callback_only(SSL_CTX *ctx) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}
static inline int tidemark_ssl_ctx_new_place(CRYPTO_EX_free *free) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free);
}
static inline int tidemark_ticket_set_key(EVP_MAC_CTX *mac, unsigned char *key, size_t count) {
    OSSL_PARAM parameters[3] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, count),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters);
}

// Sessions

static inline int tidemark_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
static inline uint64_t tidemark_ssl_clear_no_renegotiation(SSL *ssl) {
    return SSL_clear_options(ssl, SSL_OP_NO_RENEGOTIATION);
}

// BIOs

static inline int tidemark_bio_new_type(void) { return BIO_get_new_index() | BIO_TYPE_SOURCE_SINK; }
static inline void tidemark_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void tidemark_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline long tidemark_bio_get_memory(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// Certificates

static inline EVP_PKEY *tidemark_generate_p256_key(void) { return EVP_EC_gen("P-256"); }
