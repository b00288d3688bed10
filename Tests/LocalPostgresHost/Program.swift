// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkLocalPostgres

/// Starts a private PostgreSQL in the directory that its argument names, prints the server's process id, and waits for
/// its own end: tests kill it to see what becomes of the server.
@main
enum Program {
    static func main() throws {
        let server = try LocalPostgres.start(dataDirectory: CommandLine.arguments[1], durability: .durable)
        print(server.processID)
        fflush(nil)
        // Ends at the end of standard input, should the test be gone.
        while readLine() != nil {}
        server.stop()
    }
}
