// SPDX-License-Identifier: Apache-2.0
#include "yardstick.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *usage =
    "tidemark-yardstick: what the hardware, the kernel, OpenSSL and libpq can do, for tidemark-bench to compare with.\n"
    "\n"
    "  server        --certificate FILE --private-key FILE [--port 0] [--seconds 600]\n"
    "                WebSocket over TLS: /echo sends back, what comes at /pub goes to everybody at /sub\n"
    "  load          echo|fanout|idle --port N [--path P] [--connections N] [--window N] [--bytes N] [--seconds N]\n"
    "                [--server PROCESS] [--subprotocol NAME] [--greetings FILE]\n"
    "                connections to that server, or to another one with these paths; prints what it saw as name=value\n"
    "  transactions  prepare|save|page --database URL [--connections N] [--records N] [--bytes N] [--seconds N]\n"
    "                one transaction after the other through libpq, as Tidemark's store does them\n"
    "  statement     --database URL --file FILE [--connections N] [--seconds N]\n"
    "                the statement in that file, again and again, each time with some of the file's parameters\n"
    "  stream        --certificate FILE --private-key FILE [--megabytes N] [--receiver-core N] [--sender-core N]\n"
    "                bytes through TLS from one process to another; prints bytes_per_second\n";

int main(int count, char **arguments) {
    // OpenSSL writes with write(2): a peer that went away must not end the process.
    signal(SIGPIPE, SIG_IGN);
    const char *command = count > 1 ? arguments[1] : "";
    if (!strcmp(command, "server")) return serve(count - 2, arguments + 2);
    if (!strcmp(command, "load")) return generate_load(count - 2, arguments + 2);
    if (!strcmp(command, "transactions")) return run_transactions(count - 2, arguments + 2);
    if (!strcmp(command, "statement")) return run_statement(count - 2, arguments + 2);
    if (!strcmp(command, "stream")) return stream(count - 2, arguments + 2);
    fputs(usage, stderr);
    return 64;
}
