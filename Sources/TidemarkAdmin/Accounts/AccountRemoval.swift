// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

/// What an operator is told before an account is deleted, and how it is deleted then (R-863, R-994).
struct AccountRemoval: Sendable {
    let account: AccountID
    /// What the account is in each container.
    let users: [AccountUser]
    /// Whether the records that it made in public databases go too.
    let deletesPublic: Bool

    /// Steps of one count of what is lost. What is beyond is not counted, because the command must be possible on a large
    /// store.
    private static let countStepsMax = 1_000

    private func end(_ console: Console) -> AccountEnd {
        AccountEnd(of: account, console.storage, scheduler: console.loop, limits: .standard)
    }

    /// What is lost, in numbers; nil if there is no such account.
    func loss(_ console: Console) async throws -> String? {
        guard let holdings = try await holdings(console.store) else { return nil }
        let person = try await end(console).person(as: users)
        let others = try await parts(of: person, console.store)
        let text = "It has \(holdings), \(others). All of it will be lost."
        return deletesPublic ? "\(text) \(try await publicLoss(console))" : text
    }

    /// What it owns; nil if there is no such account.
    private func holdings(_ store: AdminStore) async throws -> String? {
        let found: AccountContents?
        do throws(StorageError) {
            found = try await store.contents(of: account)
        } catch {
            guard error.code == .tooSlow else { throw error }
            return "zones and more (not counted: it takes too long)"
        }
        guard let contents = found else { return nil }
        let records = try await store.recordCount(in: users.map(\.privateDatabase))
        return [
            "\(Amount.zones(contents.zoneCount)) with \(Amount.records(records))",
            "\(Amount.bytes(contents.recordBytes + contents.assetBytes)) with assets",
            Amount.text(contents.shareCount, "share"), Amount.text(contents.credentialCount, "credential"),
            Amount.text(contents.deviceCount, "device"),
            "\(Amount.text(contents.addressCount, "verified mail or telephone number"))",
            Amount.text(contents.subscriptionCount, "subscription"),
        ].joined(separator: ", ")
    }

    /// What it has of others.
    private func parts(of person: EndedPerson, _ store: AdminStore) async throws -> String {
        let parts: PersonParts
        do throws(StorageError) {
            parts = try await store.parts(of: person)
        } catch {
            guard error.code == .tooSlow else { throw error }
            return "parts in others' shares and more (not counted: it takes too long)"
        }
        return [
            "\(Amount.text(parts.partCount, "part")) in others' shares",
            Amount.text(parts.invitationCount, "invitation"),
            Amount.text(parts.requestCount, "access request"),
        ].joined(separator: ", ")
    }

    /// Public records, and those of others that go with them (R-133).
    private func publicLoss(_ console: Console) async throws -> String {
        var (own, others) = (CountedNumber.exactly(0), CountedNumber.exactly(0))
        let isWhole = try await end(console).eachPublicPage(of: users, stepsMax: Self.countStepsMax) {
            user, zone, names in
            own = own + .exactly(names.count)
            others = others + .exactly(try await console.store.dependentCount(of: names, in: zone, besides: user.user))
        }
        if !isWhole { (own, others) = (own + .atLeast(0), others + .atLeast(0)) }
        let text = "So will \(Amount.text(own, "public record"))"
        guard others != .exactly(0) else { return "\(text)." }
        return "\(text), and \(Amount.records(others)) of others that refer to these with the action delete, with what "
            + "refers to them in turn."
    }

    func run(_ console: Console) async throws {
        do {
            try await end(console).run(deletesPublic: deletesPublic)
        } catch {
            throw AdminFailure(
                error,
                done: "The account is disabled, and a part of it may be deleted. Run the command again for the rest. "
                    + "Otherwise a server does it within minutes.")
        }
    }
}
