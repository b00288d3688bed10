// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

struct AdminCompact: AdminCommand {
    static let configuration = CommandConfiguration(
        "compact", abstract: "Forget deletions that are older than a given time.",
        discussion: """
            The server keeps a mark of each deleted record and zone, for devices that have not heard of the deletion yet. \
            Without the mark, the change token of a device that was away for longer is expired. The device then fetches \
            everything again.
            """,
        examples: "tidemark admin compact --older-than 30d --dry-run", "tidemark admin compact --older-than 30d --yes")
    static let role = OperatorRole.owner

    @Option(help: ArgumentHelp("Such as 30d.", valueName: "time")) var olderThan: Lifetime
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    func run(_ console: Console) async throws {
        let before = Timestamp(milliseconds: console.now.milliseconds - olderThan.seconds * 1_000)
        try await console.confirm(
            "forget deletions from before \(DateForm.seconds(before))",
            loss: try await Self.loss(before: before, console))
        let forgotten: AdminStore.Compaction
        do {
            forgotten = try await console.store.compact(before: before)
        } catch {
            throw AdminFailure(
                error, done: "Some of the deletions may be forgotten already. Run the command again for the rest.")
        }
        console.say("Forgot \(forgotten.records) deleted records and \(forgotten.zones) deleted zones.")
    }

    private static func loss(before: Timestamp, _ console: Console) async throws -> String {
        let end = "Devices that were away for longer will fetch everything again."
        let some = try await console.store.compactable(before: before)
        return
            "The marks of \(Self.text(some.records, "deleted record")) and \(Self.text(some.zones, "deleted zone")) will be "
            + "lost. \(end)"
    }

    /// Zones whose records have not been cleared yet stay, so fewer may go.
    private static func text(_ number: CountedNumber, _ noun: String) -> String {
        number.exactly == nil ? Amount.text(number, noun) : "up to \(Amount.text(number, noun))"
    }
}
