// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkStore

struct AdminCompact: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Forget deletions that are older than a given time.",
        discussion: """
            The server keeps a mark of each deleted record and zone, for devices that have not heard of the deletion yet. \
            Without the mark, the change token of a device that was away for longer is expired. The device then fetches \
            everything again.
            """)

    @Option(help: ArgumentHelp("Such as 30d.", valueName: "time")) var olderThan: Lifetime
    @OptionGroup var database: DatabaseOption

    func run() throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let before = Timestamp(milliseconds: now - olderThan.seconds * 1_000)
        let forgotten = try database.withAdminStore { try await $0.compact(before: before) }
        print("Forgot \(forgotten.records) deleted records and \(forgotten.zones) deleted zones.")
    }
}
