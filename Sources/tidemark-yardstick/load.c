// SPDX-License-Identifier: Apache-2.0
// Many WebSocket clients over TLS in one thread, against any server that has the paths of server.c.
//
//   echo    every connection keeps `window` messages under way
//   fanout  one more connection publishes; `window` messages are under way, each until every subscriber has it
//   idle    connects, says its greeting and waits for the answer, then nothing
#define _GNU_SOURCE
#include "yardstick.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_PER_TURN = 512, READ_BYTES = 16384, MESSAGE_BYTES_MAX = 65536, PUBLISHED_MAX = 4000000 };

enum mode { ECHO, FANOUT, IDLE };
enum stage { CONNECTING, SECURING, HEADING, GREETING, READY };

struct client {
    int socket;
    SSL *ssl;
    enum stage stage;
    bool is_blocked;
    long under_way;
    struct queue in, out;
};

// Messages that clients send first, one after the other: four bytes of length, then the message.
struct greetings {
    unsigned char *bytes;
    size_t count, position;
};

static struct {
    enum mode mode;
    const char *path, *subprotocol;
    int port, server;
    long connections, window, bytes, seconds;
} settings;

static struct greetings greetings;
static struct client *clients;
static SSL_CTX *context;
static int epoll;
static long opened, opening, ready_count;
static unsigned char message[MESSAGE_BYTES_MAX];
static uint64_t answer_count;    // echo: messages that came back
static uint64_t delivery_count;  // fanout: messages that a subscriber got
static uint32_t *missing;        // fanout: subscribers that wait for a message, by its number
static uint32_t published_count, completed_count;

static void set_interest(struct client *client, bool is_blocked) {
    if (client->is_blocked == is_blocked) return;
    client->is_blocked = is_blocked;
    struct epoll_event event = {.events = EPOLLIN | (is_blocked ? EPOLLOUT : 0), .data.ptr = client};
    epoll_ctl(epoll, EPOLL_CTL_MOD, client->socket, &event);
}

static void flush_out(struct client *client) {
    struct queue *out = &client->out;
    while (queue_count(out)) {
        int count = SSL_write(client->ssl, queue_first(out), (int)queue_count(out));
        if (count <= 0) {
            if (SSL_get_error(client->ssl, count) != SSL_ERROR_WANT_WRITE) stop_with("a connection broke");
            set_interest(client, true);
            return;
        }
        queue_discard(out, (size_t)count);
    }
    set_interest(client, false);
}

// ---- opening ----

static void is_ready(struct client *client) {
    client->stage = READY;
    opening--;
    ready_count++;
}

static void ask_for_upgrade(struct client *client) {
    bool is_publisher = client - clients == settings.connections;
    char head[512], subprotocol[128] = "";
    if (settings.subprotocol)
        snprintf(subprotocol, sizeof subprotocol, "Sec-WebSocket-Protocol: %s\r\n", settings.subprotocol);
    // Everybody may have the same key: it is there against caches, and there are none here.
    int count = snprintf(
        head, sizeof head,
        "GET %s HTTP/1.1\r\nHost: localhost:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
        is_publisher ? "/pub" : settings.path, settings.port, subprotocol);
    queue_append(&client->out, head, (size_t)count);
    client->stage = HEADING;
    flush_out(client);
}

static void secure(struct client *client) {
    int result = SSL_do_handshake(client->ssl);
    if (result == 1) {
        set_interest(client, false);
        ask_for_upgrade(client);
        return;
    }
    int error = SSL_get_error(client->ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) stop_with("a TLS handshake failed");
    set_interest(client, error == SSL_ERROR_WANT_WRITE);
}

static void greet(struct client *client) {
    if (!greetings.count) {
        is_ready(client);
        return;
    }
    if (greetings.position >= greetings.count) greetings.position = 0;
    const unsigned char *next = greetings.bytes + greetings.position;
    size_t size = (size_t)next[0] << 24 | (size_t)next[1] << 16 | (size_t)next[2] << 8 | next[3];
    if (greetings.position + 4 + size > greetings.count) stop_with("the file of greetings is cut off");
    greetings.position += 4 + size;
    append_frame(&client->out, OPCODE_BINARY, true, next + 4, size);
    client->stage = GREETING;
    flush_out(client);
}

static bool take_head(struct client *client) {
    unsigned char *bytes = queue_first(&client->in);
    unsigned char *last = memmem(bytes, queue_count(&client->in), "\r\n\r\n", 4);
    if (!last) return false;
    if (strncmp((char *)bytes, "HTTP/1.1 101 ", 13)) stop_with("the server refused to upgrade");
    queue_discard(&client->in, (size_t)(last + 4 - bytes));
    greet(client);
    return true;
}

static void open_next(void) {
    struct client *client = &clients[opened++];
    client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->socket < 0) stop_with("socket");
    int one = 1;
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    client->ssl = SSL_new(context);
    SSL_set_fd(client->ssl, client->socket);
    SSL_set_connect_state(client->ssl);
    client->is_blocked = true;
    opening++;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)settings.port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (connect(client->socket, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS)
        stop_with("connect");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = client};
    epoll_ctl(epoll, EPOLL_CTL_ADD, client->socket, &event);
}

// ---- what comes ----

static void take_message(struct client *client, const struct frame *frame) {
    if (client->stage == GREETING) {
        is_ready(client);
    } else if (settings.mode == ECHO) {
        client->under_way--;
        answer_count++;
    } else if (settings.mode == FANOUT && frame->count >= 4) {
        uint32_t number;
        memcpy(&number, frame->payload, 4);
        if (number >= published_count || !missing[number]) stop_with("a message that nobody sent");
        delivery_count++;
        if (!--missing[number]) completed_count++;
    }
}

static void take_all(struct client *client) {
    if (client->stage == HEADING && !take_head(client)) return;
    struct frame frame;
    for (size_t used; (used = take_frame(queue_first(&client->in), queue_count(&client->in), &frame));) {
        switch (frame.opcode) {
        case OPCODE_CLOSE: stop_with("the server closed a connection");
        case OPCODE_PONG: break;
        case OPCODE_PING:
            append_frame(&client->out, OPCODE_PONG, true, frame.payload, frame.count);
            flush_out(client);
            break;
        default: take_message(client, &frame);
        }
        queue_discard(&client->in, used);
    }
}

static void readable(struct client *client) {
    while (true) {
        unsigned char *room = queue_reserve(&client->in, READ_BYTES);
        int count = SSL_read(client->ssl, room, READ_BYTES);
        if (count <= 0) {
            if (SSL_get_error(client->ssl, count) != SSL_ERROR_WANT_READ) stop_with("a connection broke");
            if (queue_count(&client->in) == 0) queue_discard(&client->in, 0);
            return;
        }
        client->in.end += (size_t)count;
        take_all(client);
        if (!SSL_has_pending(client->ssl)) return;
    }
}

static void turn(int milliseconds) {
    struct epoll_event events[EVENTS_PER_TURN];
    int count = epoll_wait(epoll, events, EVENTS_PER_TURN, milliseconds);
    for (int i = 0; i < count; i++) {
        struct client *client = events[i].data.ptr;
        if (client->stage <= SECURING) {
            if (events[i].events & (EPOLLERR | EPOLLHUP)) stop_with("the server does not accept connections");
            client->stage = SECURING;
            secure(client);
            continue;
        }
        if (events[i].events & EPOLLOUT) flush_out(client);
        if (events[i].events & EPOLLIN) readable(client);
        else if (events[i].events & (EPOLLERR | EPOLLHUP)) stop_with("a connection broke");
    }
}

static void turn_for(double seconds) {
    for (double until = monotonic_seconds() + seconds; monotonic_seconds() < until;) turn(20);
}

// Opens so many at a time, so that no handshake waits for long.
static void open_all(long total) {
    const long opening_max = 64;
    double until = monotonic_seconds() + 120;
    while (ready_count < total) {
        while (opening < opening_max && opened < total) open_next();
        turn(100);
        if (monotonic_seconds() > until) stop_with("the connections could not be opened in time");
    }
}

// ---- the modes ----

static void echo_for(double seconds) {
    for (double until = monotonic_seconds() + seconds; monotonic_seconds() < until;) {
        for (long i = 0; i < settings.connections; i++) {
            struct client *client = &clients[i];
            // Refilled at half, so that messages travel together if there may be several.
            if (client->under_way > settings.window / 2) continue;
            for (; client->under_way < settings.window; client->under_way++)
                append_frame(&client->out, OPCODE_BINARY, true, message, (size_t)settings.bytes);
            flush_out(client);
        }
        turn(100);
    }
}

static void publish_for(double seconds) {
    struct client *publisher = &clients[settings.connections];
    for (double until = monotonic_seconds() + seconds; monotonic_seconds() < until && published_count < PUBLISHED_MAX;) {
        while (published_count - completed_count < settings.window) {
            memcpy(message, &published_count, 4);
            missing[published_count++] = (uint32_t)settings.connections;
            append_frame(&publisher->out, OPCODE_BINARY, true, message, (size_t)settings.bytes);
        }
        flush_out(publisher);
        turn(100);
    }
}

static void measure(const char *unit, const uint64_t *counter, void (*run)(double)) {
    run(0.5);
    uint64_t before = *counter;
    double start = monotonic_seconds(), server = processor_seconds(settings.server);
    double own = processor_seconds(getpid());
    run((double)settings.seconds);
    double seconds = monotonic_seconds() - start, used = processor_seconds(settings.server) - server;
    double number = (double)(*counter - before);
    own = processor_seconds(getpid()) - own;
    printf("%s_per_second=%.1f\n%s_per_server_second=%.1f\n", unit, number / seconds, unit, used > 0 ? number / used : 0);
    printf("server_share=%.3f\ngenerator_share=%.3f\n", used / seconds, own / seconds);
}

static void measure_memory(void) {
    long before = resident_kibibytes(settings.server);
    double start = processor_seconds(settings.server);
    open_all(settings.connections);
    double used = processor_seconds(settings.server) - start;
    // Session tickets and other late answers.
    turn_for(1 + (double)settings.seconds);
    double kibibytes = (double)(resident_kibibytes(settings.server) - before) / (double)settings.connections;
    printf("kibibytes_per_connection=%.3f\nserver_seconds_per_connection=%.6f\n", kibibytes,
           used / (double)settings.connections);
}

static void read_greetings(const char *path) {
    if (!path) return;
    FILE *file = fopen(path, "r");
    if (!file || fseek(file, 0, SEEK_END)) stop_with(path);
    greetings.count = (size_t)ftell(file);
    rewind(file);
    greetings.bytes = malloc(greetings.count + 4);
    if (!greetings.bytes || fread(greetings.bytes, 1, greetings.count, file) != greetings.count) stop_with(path);
    fclose(file);
}

static void make_context(void) {
    context = SSL_CTX_new(TLS_client_method());
    if (!context) stop_with("SSL_CTX_new");
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
}

static void read_settings(int count, char **arguments) {
    const char *mode = count ? arguments[0] : "";
    if (!strcmp(mode, "echo")) settings.mode = ECHO;
    else if (!strcmp(mode, "fanout")) settings.mode = FANOUT;
    else if (!strcmp(mode, "idle")) settings.mode = IDLE;
    else stop_with("load echo, load fanout or load idle");
    settings.path = option(count, arguments, "--path", settings.mode == FANOUT ? "/sub" : "/echo");
    settings.subprotocol = option(count, arguments, "--subprotocol", NULL);
    settings.port = (int)number_option(count, arguments, "--port", 0);
    settings.server = (int)number_option(count, arguments, "--server", 0);
    settings.connections = number_option(count, arguments, "--connections", 200);
    settings.window = number_option(count, arguments, "--window", 1);
    settings.bytes = number_option(count, arguments, "--bytes", 200);
    settings.seconds = number_option(count, arguments, "--seconds", 2);
    if (!settings.port || !settings.connections || !settings.window || settings.bytes < 4 ||
        settings.bytes > MESSAGE_BYTES_MAX)
        stop_with("--port is needed; --connections, --window and --bytes must be possible");
    read_greetings(option(count, arguments, "--greetings", NULL));
}

int generate_load(int count, char **arguments) {
    read_settings(count, arguments);
    raise_descriptor_limit();
    make_context();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    memset(message, 'x', sizeof message);
    clients = calloc((size_t)settings.connections + 1, sizeof *clients);
    missing = settings.mode == FANOUT ? calloc(PUBLISHED_MAX, sizeof *missing) : NULL;
    if (!clients || (settings.mode == FANOUT && !missing)) stop_with("out of memory");
    if (settings.mode == IDLE) {
        measure_memory();
        return 0;
    }
    open_all(settings.connections + (settings.mode == FANOUT));
    turn_for(0.3);
    if (settings.mode == ECHO) measure("messages", &answer_count, echo_for);
    else measure("deliveries", &delivery_count, publish_for);
    return 0;
}
