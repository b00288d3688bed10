// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkTranslation
internal import TidemarkWire

/// The pushes of a ``PushGroup``. They are made when the first session gets them.
final class PushBatch: Sendable {
    /// Work for each session, beside its pushes: its connection encrypts and sends what is queued.
    private static let visitWork = 8
    /// Work for one push that brings changes. It is encoded for one session, and may have 20 records.
    private static let pagesWork = 16
    /// The most pushes of one session that bring changes: each repeats them. If more subscriptions fire, all are bare.
    private static let pushesWithPagesMax = 16
    /// The most zones that a push names, and the most bytes of their names: each subscription that fires repeats them.
    private static let zonesNamedMax = 64
    private static let nameBytesMax = 4_096
    /// The approximate memory of what is known of one zone, beside the names of types.
    private static let bytesPerZone = 128
    /// Bytes that a connection encrypts and sends in a unit of work.
    private static let bytesPerWork = 1_024

    let sessions: [UInt64]
    /// The approximate memory of its subscriptions, and of the types that it knows. Other batches may have the same ones, and
    /// nobody counts that.
    let byteCount: Int
    private let zoneNames: [String]
    /// The bytes of all names. Nil: too many to be named.
    private let nameBytes: Int?
    private let subscriptions: [Subscription]
    /// What changed in the zones, as ``PushGroup/types``.
    private let types: [String: ChangedTypes]
    /// The change itself, for devices that are where it begins.
    private let news: ZoneNews?
    private let made = Mutex<[SharedPush]?>(nil)

    init(_ group: PushGroup, news: ZoneNews?) {
        sessions = group.sessions
        zoneNames = group.zoneNames
        let nameBytes = group.zoneNames.reduce(0) { $0 + $1.utf8.count }
        let isNamed = group.zoneNames.count <= Self.zonesNamedMax && nameBytes <= Self.nameBytesMax
        self.nameBytes = isNamed ? nameBytes : nil
        subscriptions = group.subscriptions
        types = group.types
        byteCount =
            SubscriptionMemory.byteCount(of: group.subscriptions)
            + group.types.reduce(0) { $0 + Self.bytesPerZone + $1.value.byteCount }
        self.news = news
    }

    /// At most the work for one session, in microseconds.
    var workPerSession: Int {
        Self.visitWork + subscriptions.count
            + (byteCount + subscriptions.count * (nameBytes ?? 0)) / Self.bytesPerWork
            + (news == nil ? 0 : Self.pagesWork * min(subscriptions.count, Self.pushesWithPagesMax))
    }

    /// At most the work to make the pushes.
    var workOnce: Int { subscriptions.count * (1 + zoneNames.count / 16) }

    /// Sends a session all of its pushes: one for each subscription that fires.
    func send(to session: Session, of database: DatabaseID) {
        let pushes = pushes(to: session, of: database)
        let pages =
            1...Self.pushesWithPagesMax ~= pushes.count ? news.flatMap { session.committed($0, in: database) } : nil
        for push in pushes {
            if let pages { session.push(push.push, with: pages) } else { session.push(push.message) }
        }
    }

    /// - Parameter session: one of ``sessions``. All are of the database's user, who sees its zones alike on each device. No
    ///   zone of a shared database is named (``DatabaseWatch/sharedZoneMoved(by:)``).
    private func pushes(to session: Session, of database: DatabaseID) -> [SharedPush] {
        made.withLock { made in
            if let made { return made }
            guard let viewpoint = try? session.member?.viewpoint() else { return [] }
            let new = subscriptions.compactMap { subscription in
                subscription.zonesPushed(ofMoved: zoneNames, types: types).map { names in
                    let names = nameBytes == nil && names.count > 1 ? [] : names
                    let zones = names.map { ZoneKey(database: database, name: $0) }
                    return SharedPush(
                        WirePush(subscription, zones: zones, isShown: !zoneNames.isEmpty, seenFrom: viewpoint))
                }
            }
            made = new
            return new
        }
    }
}

/// A push for many sessions. It is encoded once for all that get no changes with it.
private final class SharedPush: Sendable {
    let push: WirePush
    private let encoded = Mutex<SharedMessage?>(nil)

    init(_ push: WirePush) {
        self.push = push
    }

    var message: SharedMessage {
        encoded.withLock { encoded in
            if let encoded { return encoded }
            let new = SharedMessage(ServerMessage.push(push))
            encoded = new
            return new
        }
    }
}

/// Pages for one device, as its user sees them.
struct SeenPages: Sendable {
    let pages: PushedPages
    let viewpoint: Viewpoint
}
