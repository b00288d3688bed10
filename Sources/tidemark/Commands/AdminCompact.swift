// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkStore

struct AdminCompact: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Forget deletions that are older than a given time.",
        discussion: """
            Of each deleted record and zone a mark is kept for devices that have not heard of it yet. Afterwards devices \
            that were away for longer find their change tokens expired, and fetch everything again.
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
