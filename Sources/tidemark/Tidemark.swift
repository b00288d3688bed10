// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkServer
internal import TidemarkSockets

@main
struct Tidemark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A self-hosted CloudKit: serves devices that use the CloudKit API of the Tidemark library.",
        version: "tidemark \(Server.version)",
        subcommands: [Dev.self, Serve.self, Migrate.self, Admin.self])

    static func main() {
        // Before anything starts a thread, because threads inherit which signals are blocked.
        ProcessSignals.block()
        Heap.keepFreedMemory()
        main(nil)
    }
}
