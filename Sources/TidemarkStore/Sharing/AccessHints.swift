// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// Remembers who had access to which zones of others when these were last read.
///
/// The access is always read with the data. A hint decides only whether it is also read before.
///
/// Owners have no shares of the places. A hint is of a user who takes part in the zone, and a list has room for 1,000
/// zones, so it takes twenty full lists to fill them. Then the next read in each zone of another takes one round trip
/// more.
final class AccessHints: Sendable {
    private struct Hint: Hashable {
        let user: UserID
        let zone: ZoneKey
    }

    /// The most hints, which take a few megabytes. With more, all are dropped.
    private static let countMax = 20_000

    private let hints = Mutex<Set<Hint>>([])

    func has(_ user: UserID, in zone: ZoneKey) -> Bool {
        hints.withLock { $0.contains(Hint(user: user, zone: zone)) }
    }

    func note(_ user: UserID, in zone: ZoneKey, hasAccess: Bool) {
        let hint = Hint(user: user, zone: zone)
        hints.withLock { hints in
            if hasAccess {
                if hints.count >= Self.countMax { hints = [] }
                hints.insert(hint)
            } else {
                hints.remove(hint)
            }
        }
    }
}

extension PostgresStorage {
    /// What is answered instead of a zone's data if the user has no access: the zone's shares, nil if it does not live, and
    /// the store's incarnation. So no data is read for a user without access, and nobody looks up why a zone is gone.
    ///
    /// - Returns: nil if the data may be read. What is read with the data decides about access then.
    func refusedRead(
        of key: ZoneKey, _ sharing: SharingRead
    ) async throws(StorageError) -> (sharing: ZoneSharing?, store: StoreIncarnation)? {
        guard let user = sharing.onlyUser, !accessHints.has(user, in: key), let call = sharing.call(for: [key])
        else { return nil }
        let (found, stores) = try await readAll(call, sql.accounts.store())
        var rows = SharingRows(isWhole: false)
        for row in found.rows { rows.add(row) }
        let shares = rows.sharing
        if shares.admits(user) { return nil }
        guard let store = stores.rows.first else { throw StorageError(.rejected) }
        return (shares, store.incarnation)
    }

    /// The same for several zones, in one round trip.
    ///
    /// - Returns: for each zone whose data may not be read, its shares, nil if it does not live.
    func refusedReads(
        of zones: [ZoneKey], _ sharing: SharingRead
    ) async throws(StorageError) -> [ZoneKey: ZoneSharing?] {
        guard let user = sharing.onlyUser else { return [:] }
        let unknown = zones.filter { !accessHints.has(user, in: $0) }
        guard !unknown.isEmpty, let call = sharing.call(for: unknown) else { return [:] }
        var shares = unknown.map { _ in SharingRows(isWhole: false) }
        for row in try await read(call) { shares[row.ordinal - 1].add(row) }
        var refused: [ZoneKey: ZoneSharing?] = [:]
        for (zone, shares) in zip(unknown, shares) where !shares.sharing.admits(user) {
            refused.updateValue(shares.sharing, forKey: zone)
        }
        return refused
    }

    /// Remembers what a read of zones showed of the access of one user.
    func noteAccess(_ sharing: SharingRead, in zones: [ZoneKey], _ shares: [ZoneSharing?]) {
        guard let user = sharing.onlyUser else { return }
        for (zone, sharing) in zip(zones, shares) { accessHints.note(user, in: zone, hasAccess: sharing.admits(user)) }
    }
}

extension SharingRead {
    /// The one who is asked about, if it is one.
    fileprivate var onlyUser: UserID? { users.count == 1 ? users[0] : nil }
}

extension Optional<ZoneSharing> {
    fileprivate func admits(_ user: UserID) -> Bool {
        map { ShareAccess(of: user, in: $0).isParticipant } ?? false
    }
}
