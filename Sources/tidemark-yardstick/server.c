// SPDX-License-Identifier: Apache-2.0
// WebSocket over TLS with the least work: libssl on the socket itself, one buffer for all reads, answers written at once.
//
//   /echo  every message comes back        /sub  hears what is published        /pub  publishes every message
//
// What one turn of the loop brought for a connection goes out in one TLS record; an idle connection has no buffers.
#define _GNU_SOURCE
#include "yardstick.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_PER_TURN = 256, SCRATCH_BYTES = 65536, HEAD_BYTES_MAX = 8192 };

enum stage { SECURING, HEADING, ECHOING, SUBSCRIBED, PUBLISHING };

struct connection {
    int socket;
    SSL *ssl;
    enum stage stage;
    bool is_blocked;
    size_t place; // among the subscribers
    struct queue in, out;
};

static int epoll;
static unsigned char scratch[SCRATCH_BYTES];
static struct connection **subscribers;
static size_t subscriber_count, subscriber_capacity;
static struct queue published; // frames of this turn

static void set_interest(struct connection *connection, bool is_blocked) {
    if (connection->is_blocked == is_blocked) return;
    connection->is_blocked = is_blocked;
    struct epoll_event event = {.events = EPOLLIN | (is_blocked ? EPOLLOUT : 0), .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_MOD, connection->socket, &event);
}

static void end(struct connection *connection) {
    if (connection->stage == SUBSCRIBED) {
        struct connection *last = subscribers[--subscriber_count];
        subscribers[connection->place] = last;
        last->place = connection->place;
    }
    SSL_free(connection->ssl);
    close(connection->socket);
    free(connection->in.bytes);
    free(connection->out.bytes);
    free(connection);
}

// Writes what it can. Returns the bytes that were taken, -1 if the connection is broken.
static ssize_t write_some(struct connection *connection, const unsigned char *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        int written = SSL_write(connection->ssl, bytes + done, (int)(count - done));
        if (written > 0) {
            done += (size_t)written;
            continue;
        }
        if (SSL_get_error(connection->ssl, written) != SSL_ERROR_WANT_WRITE) return -1;
        break;
    }
    return (ssize_t)done;
}

// Without a copy when nothing waits.
static bool transmit(struct connection *connection, const unsigned char *bytes, size_t count) {
    if (queue_count(&connection->out) == 0) {
        ssize_t taken = write_some(connection, bytes, count);
        if (taken < 0) return false;
        bytes += taken;
        count -= (size_t)taken;
    }
    if (count == 0) return true;
    queue_append(&connection->out, bytes, count);
    set_interest(connection, true);
    return true;
}

static bool writable(struct connection *connection) {
    ssize_t taken = write_some(connection, queue_first(&connection->out), queue_count(&connection->out));
    if (taken < 0) return false;
    queue_discard(&connection->out, (size_t)taken);
    if (queue_count(&connection->out) == 0) set_interest(connection, false);
    return true;
}

static void subscribe(struct connection *connection) {
    if (subscriber_count == subscriber_capacity) {
        subscriber_capacity = subscriber_capacity * 2 + 64;
        subscribers = realloc(subscribers, subscriber_capacity * sizeof *subscribers);
        if (!subscribers) stop_with("out of memory");
    }
    connection->place = subscriber_count;
    subscribers[subscriber_count++] = connection;
}

// The handshake (RFC 6455 section 4.2.2). False: not one that we know.
static bool take_head(struct connection *connection) {
    unsigned char *bytes = queue_first(&connection->in);
    size_t count = queue_count(&connection->in);
    unsigned char *last = memmem(bytes, count, "\r\n\r\n", 4);
    if (!last) return count < HEAD_BYTES_MAX;
    *last = 0;
    const char *path = (const char *)bytes, *name = "Sec-WebSocket-Key: ";
    const char *key = strcasestr(path, name);
    if (!key || (const char *)last - key < 24 + (ssize_t)strlen(name)) return false;
    if (!strncmp(path, "GET /echo ", 10)) connection->stage = ECHOING;
    else if (!strncmp(path, "GET /pub ", 9)) connection->stage = PUBLISHING;
    else if (!strncmp(path, "GET /sub ", 9)) {
        connection->stage = SUBSCRIBED;
        subscribe(connection);
    } else return false;

    char text[64], accept[32], answer[256];
    unsigned char hash[SHA_DIGEST_LENGTH];
    int length = snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + strlen(name));
    SHA1((unsigned char *)text, (size_t)length, hash);
    EVP_EncodeBlock((unsigned char *)accept, hash, sizeof hash);
    length = snprintf(
        answer, sizeof answer,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
        accept);
    queue_discard(&connection->in, (size_t)(last + 4 - bytes));
    return transmit(connection, (unsigned char *)answer, (size_t)length);
}

static bool take_frames(struct connection *connection) {
    static struct queue answer;
    struct frame frame;
    for (size_t used; (used = take_frame(queue_first(&connection->in), queue_count(&connection->in), &frame));) {
        if (frame.opcode == OPCODE_CLOSE) return false;
        if (frame.opcode == OPCODE_PING) append_frame(&answer, OPCODE_PONG, false, frame.payload, frame.count);
        else if (frame.opcode != OPCODE_PONG && connection->stage != SUBSCRIBED)
            append_frame(
                connection->stage == PUBLISHING ? &published : &answer, frame.opcode, false, frame.payload, frame.count);
        queue_discard(&connection->in, used);
    }
    bool is_good = queue_count(&answer) == 0 || transmit(connection, queue_first(&answer), queue_count(&answer));
    // Its memory stays for the next connection.
    answer.start = answer.end = 0;
    return is_good;
}

static bool readable(struct connection *connection) {
    while (true) {
        int count = SSL_read(connection->ssl, scratch, sizeof scratch);
        if (count <= 0) return SSL_get_error(connection->ssl, count) == SSL_ERROR_WANT_READ;
        queue_append(&connection->in, scratch, (size_t)count);
        if (connection->stage == HEADING && !take_head(connection)) return false;
        if (connection->stage > HEADING && !take_frames(connection)) return false;
        // libssl has read ahead: when it holds nothing more, the rest is told by epoll.
        if (!SSL_has_pending(connection->ssl)) return true;
    }
}

static bool secure(struct connection *connection) {
    int result = SSL_do_handshake(connection->ssl);
    if (result != 1) return SSL_get_error(connection->ssl, result) == SSL_ERROR_WANT_READ;
    connection->stage = HEADING;
    return !SSL_has_pending(connection->ssl) || readable(connection);
}

static void accept_all(int listener, SSL_CTX *context) {
    int socket, one = 1;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection || !(connection->ssl = SSL_new(context))) stop_with("out of memory");
        connection->socket = socket;
        SSL_set_fd(connection->ssl, socket);
        SSL_set_accept_state(connection->ssl);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
    }
}

static void publish(void) {
    if (queue_count(&published) == 0) return;
    // From the end, because one that is broken is replaced by the last.
    for (size_t i = subscriber_count; i-- > 0;)
        if (!transmit(subscribers[i], queue_first(&published), queue_count(&published))) end(subscribers[i]);
    published.start = published.end = 0;
}

static SSL_CTX *make_context(const char *certificate, const char *private_key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context || !certificate || !private_key) stop_with("--certificate and --private-key are needed");
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, private_key, SSL_FILETYPE_PEM) != 1)
        stop_with("the certificate or its key cannot be used");
    return context;
}

static int listen_on(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        stop_with("listen");
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int serve(int count, char **arguments) {
    raise_descriptor_limit();
    SSL_CTX *context = make_context(
        option(count, arguments, "--certificate", NULL), option(count, arguments, "--private-key", NULL));
    epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on((int)number_option(count, arguments, "--port", 0));
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    double until = monotonic_seconds() + (double)number_option(count, arguments, "--seconds", 600);
    while (monotonic_seconds() < until) {
        struct epoll_event events[EVENTS_PER_TURN];
        int ready = epoll_wait(epoll, events, EVENTS_PER_TURN, 500);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!connection) {
                accept_all(listener, context);
                continue;
            }
            bool is_good = true;
            if (connection->stage == SECURING) is_good = secure(connection);
            else {
                if (events[i].events & EPOLLOUT) is_good = writable(connection);
                if (is_good && events[i].events & ~(uint32_t)EPOLLOUT) is_good = readable(connection);
            }
            if (!is_good) end(connection);
        }
        publish();
    }
    return 0;
}
