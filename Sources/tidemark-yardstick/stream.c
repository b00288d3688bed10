// SPDX-License-Identifier: Apache-2.0
// Bytes through TLS from one process to another as fast as libssl and the kernel can, one direction, nothing done with them.
#define _GNU_SOURCE
#include "yardstick.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK_BYTES = 262144 };

static void pin(long core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    // A machine with one core has no choice.
    sched_setaffinity(0, sizeof set, &set);
}

// Both ends: what Tidemark agrees on with itself, so that the same cipher is compared.
static void choose_cipher(SSL_CTX *context) {
    if (SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") != 1) stop_with("SSL_CTX_set_ciphersuites");
}

static void receive(int listener, SSL_CTX *context, double bytes) {
    int socket = accept(listener, NULL, NULL);
    if (socket < 0) stop_with("accept");
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, socket);
    if (SSL_accept(ssl) != 1) stop_with("SSL_accept");
    unsigned char *block = malloc(BLOCK_BYTES);
    if (!block) stop_with("out of memory");
    while (bytes > 0) {
        int count = SSL_read(ssl, block, BLOCK_BYTES);
        if (count <= 0) stop_with("SSL_read");
        bytes -= count;
    }
    // All of it has been here.
    if (SSL_write(ssl, "!", 1) != 1) stop_with("SSL_write");
    exit(0);
}

static double transmit(struct sockaddr_in address, double bytes) {
    int socket_ = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(socket_, (struct sockaddr *)&address, sizeof address)) stop_with("connect");
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    choose_cipher(context);
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, socket_);
    if (SSL_connect(ssl) != 1) stop_with("SSL_connect");
    unsigned char *block = calloc(1, BLOCK_BYTES);
    if (!block) stop_with("out of memory");
    double start = monotonic_seconds();
    for (double left = bytes; left > 0; left -= BLOCK_BYTES)
        if (SSL_write(ssl, block, BLOCK_BYTES) != BLOCK_BYTES) stop_with("SSL_write");
    if (SSL_read(ssl, block, 1) != 1) stop_with("SSL_read");
    return monotonic_seconds() - start;
}

int stream(int count, char **arguments) {
    const char *certificate = option(count, arguments, "--certificate", NULL);
    const char *key = option(count, arguments, "--private-key", NULL);
    if (!certificate || !key) {
        fputs("tidemark-yardstick: stream needs --certificate and --private-key\n", stderr);
        return 64;
    }
    double bytes = (double)number_option(count, arguments, "--megabytes", 256) * 1048576;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_read_ahead(context, 1);
    choose_cipher(context);
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1
        || SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        stop_with("certificate");
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)
        || getsockname(listener, (struct sockaddr *)&address, &length))
        stop_with("listen");
    pid_t receiver = fork();
    if (receiver < 0) stop_with("fork");
    if (receiver == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(number_option(count, arguments, "--receiver-core", 0));
        receive(listener, context, bytes);
    }
    pin(number_option(count, arguments, "--sender-core", 1));
    double seconds = transmit(address, bytes);
    int status = 0;
    waitpid(receiver, &status, 0);
    if (status) return 1;
    printf("bytes_per_second=%f\n", bytes / seconds);
    return 0;
}
