// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

/// Ends the sharing of a zone, or one participant's part in it, in one transaction.
struct ShareRevocation: Sendable {
    let key: ZoneKey
    /// Nil: the whole share ends.
    let participant: ParticipantID?

    enum Outcome: Sendable {
        case done
        case notShared
        case notParticipant
        case refused(String)
    }

    /// - Throws: `zoneBusy` if a request holds the zone for too long.
    func run(_ storage: PostgresStorage, now: Timestamp) async throws -> Outcome {
        let transaction = try await storage.beginWrite([ShareAction.read(of: key)])
        let changes: ZoneChanges
        switch decide(transaction.snapshots.first, store: transaction.store, now: now) {
        case .changes(let decided): changes = decided
        case .ended(let outcome):
            await transaction.rollback()
            return outcome
        }
        try await transaction.commit([changes])
        // It is a hint: the servers' sweep makes up for a lost one.
        try? await storage.post([.zone(ZoneNotice(database: key.database, life: .nobody, zoneName: key.name))])
        return .done
    }

    private enum Decision {
        case changes(ZoneChanges)
        case ended(Outcome)
    }

    private func decide(_ snapshot: ZoneSnapshot?, store: StoreIncarnation, now: Timestamp) -> Decision {
        guard let snapshot, let sharing = snapshot.sharing, let share = sharing.livingShare else {
            return .ended(.notShared)
        }
        guard let action = action(among: sharing.participants[share.number] ?? [:]) else {
            return .ended(.notParticipant)
        }
        switch action.plan(on: snapshot, store: store, now: now, limits: .standard) {
        case .failure(let reason): return .ended(.refused(reason.text))
        case .success(let plan): return plan.changes.map(Decision.changes) ?? .ended(.notParticipant)
        }
    }

    /// What the owner would do, or the participant. Nil if there is no such participant any more.
    private func action(among rows: [ParticipantID: Participant]) -> ShareAction? {
        guard let participant else { return .end }
        guard let row = rows[participant], row.isLiving else { return nil }
        if let user = row.user { return .decline(ShareVisitor(user: user)) }
        return row.address.map { .decline(ShareVisitor(user: Self.nobody, addresses: [$0])) }
    }

    /// An ID that no user has.
    private static let nobody = UserID(0)
}
