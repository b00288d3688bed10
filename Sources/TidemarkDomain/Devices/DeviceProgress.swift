// SPDX-License-Identifier: Apache-2.0

/// A server's knowledge of one device: how far it has read, its last request, and the outcome. It is for operators, and
/// nothing else depends on it.
///
/// A pure value of bounded size. It holds numbers, codes and texts of the server's own, and nothing that users wrote.
package struct DeviceProgress: Sendable, Equatable {
    /// The requests that are kept, the last ones.
    package static let requestsMax = 16
    /// The feeds whose places are kept: those that were used last.
    package static let feedsMax = 16

    package var link: DeviceLink?
    /// In no order.
    package internal(set) var feeds: [FeedProgress] = []
    /// In the order in which they ended.
    package internal(set) var requests: [RequestSummary] = []
    package internal(set) var throttle: Throttling?
    /// The refusals among the records that the device sent last. Nil if there are none.
    package internal(set) var refusal: RecordsRefusal?
    /// When that was: the end of the last request with records. Nil: none is known.
    package internal(set) var sentAt: Timestamp?
    package internal(set) var push: PushProgress?
    package var pending: PendingReport?

    package init() {}
}

/// The data that is kept of a device, and the number of its writing.
package struct NotedProgress: Sendable, Equatable {
    /// Nil: a server of another version wrote it, in a form that this one does not know.
    package let progress: DeviceProgress?
    /// Each writing of a device has another one.
    package let notedAt: Timestamp

    package init(_ progress: DeviceProgress?, at notedAt: Timestamp) {
        self.progress = progress
        self.notedAt = notedAt
    }
}

/// The last connection of a device.
package struct DeviceLink: Sendable, Equatable {
    /// The server, by its host and process.
    package var server: String
    package var since: Timestamp
    /// Nil: it was open when this was noted.
    package var endedAt: Timestamp?
    /// The credential that opened it.
    package var credential: CredentialID
    /// Whether another device had the same identity.
    package var isDeviceTaken: Bool

    package init(
        server: String, since: Timestamp, endedAt: Timestamp? = nil, credential: CredentialID,
        isDeviceTaken: Bool = false
    ) {
        self.server = server
        self.since = since
        self.endedAt = endedAt
        self.credential = credential
        self.isDeviceTaken = isDeviceTaken
    }

    /// Whether the other one is a later connection, or the same one with its end. When a connection ended says nothing about
    /// its place among others: a server may learn of that long after the device has another one.
    func isOlder(than other: DeviceLink) -> Bool {
        if since != other.since { return since < other.since }
        guard server == other.server, let otherEnd = other.endedAt else { return false }
        return endedAt.map { $0 < otherEnd } ?? true
    }
}

/// A change feed, as a device reads it.
package struct FeedName: Hashable, Sendable {
    package let database: DatabaseID
    package let zone: ZoneID?
    package let mark: UInt64

    private init(database: DatabaseID, zone: ZoneID?, mark: UInt64) {
        self.database = database
        self.zone = zone
        self.mark = mark
    }

    /// The feed of a database, which is shown to its user.
    package static func database(_ database: DatabaseID) -> FeedName {
        FeedName(database: database, zone: nil, mark: 0)
    }

    package static func zone(_ zone: ZoneID, _ key: ZoneKey) -> FeedName {
        FeedName(database: key.database, zone: zone, mark: ChangeToken.nameMark(of: key.name))
    }

    /// The feed to which a token belongs, and its place there. Nil: these bytes are not a token.
    package static func of(token bytes: [UInt8]) -> (feed: FeedName, number: ChangeNumber)? {
        switch ChangeToken(bytes: bytes) {
        case nil: nil
        case .database(_, let viewer, let position): (.database(viewer), position.number)
        case .zone(_, let database, let mark, _, let position):
            (FeedName(database: database, zone: position.zone, mark: mark), position.number)
        }
    }
}

/// How far a device has read in one feed.
package struct FeedProgress: Sendable, Equatable {
    /// The database of a zone's owner. For a database feed: the database that is shown.
    package let database: DatabaseID
    /// Nil: the feed of the database.
    package let zone: ZoneID?
    /// Stands for the zone's name, as ``ChangeToken/nameMark(of:)``. 0: the feed of the database.
    package let mark: UInt64
    /// The place in the token that the device sent last. Nil: it sent none, and reads from the beginning.
    package var asked: ChangeNumber?
    /// The place to which answers and acknowledged pushes have brought the device.
    package var told: ChangeNumber
    package var toldAt: Timestamp
    /// Changes after `told` that the device made itself, as far as its answers say.
    package var own: Int64 = 0
    /// The last of the numbers that they have.
    package var lastOwn: ChangeNumber = 0
    /// How often in a row its token was refused as expired.
    package var expiredCount: Int64 = 0

    package init(
        database: DatabaseID, zone: ZoneID?, mark: UInt64, asked: ChangeNumber?, told: ChangeNumber, toldAt: Timestamp
    ) {
        self.database = database
        self.zone = zone
        self.mark = mark
        self.asked = asked
        self.told = told
        self.toldAt = toldAt
    }

    /// How many changes the device has not read, in a zone whose last change has this number. Those that the device made are
    /// not counted.
    package func missing(upTo head: ChangeNumber) -> Int64 { max(0, head - max(told, 0) - own) }
}

/// The 128 bits of a request's UUID, by which people find it in answers, logs and lists.
package struct RequestBits: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// A request that was answered.
package struct RequestSummary: Sendable, Equatable {
    package let mark: RequestBits
    /// As the log names it, such as `fetch_zone_changes`.
    package let kind: String
    package let at: Timestamp
    package let microseconds: Int64
    /// The raw value of the ``FailureReason``; 0: it was answered.
    package let code: Int16

    package init(mark: RequestBits, kind: String, at: Timestamp, microseconds: Int64, code: Int16) {
        self.mark = mark
        self.kind = kind
        self.at = at
        self.microseconds = microseconds
        self.code = code
    }

    /// Nil: it was answered, or this version does not know the code.
    package var reason: FailureReason? { FailureReason(rawValue: code) }
}

/// A device was told to wait.
package struct Throttling: Sendable, Equatable {
    /// The kind of the request.
    package let kind: String
    /// The limit, in the server's words. At most ``textMax`` characters.
    package let limit: String
    package let at: Timestamp
    /// When the device may ask again.
    package let until: Timestamp

    package static let textMax = 160

    package init(kind: String, limit: String, at: Timestamp, until: Timestamp) {
        self.kind = kind
        self.limit = limit
        self.at = at
        self.until = until
    }
}

/// The refusals among the records that a device sent.
package struct RecordsRefusal: Sendable, Equatable {
    /// The raw value of the first ``FailureReason``.
    package let code: Int16
    /// How many records and deletions were refused.
    package let count: Int64
    package let at: Timestamp

    package init(code: Int16, count: Int64, at: Timestamp) {
        self.code = code
        self.count = count
        self.at = at
    }

    package var reason: FailureReason? { FailureReason(rawValue: code) }
}

/// The pushes of a device's last connection that counts them.
package struct PushProgress: Sendable, Equatable {
    package var sentAt: Timestamp
    /// When the device last acknowledged everything that was sent. Nil: never so far.
    package var heardAt: Timestamp?
    /// Pushes that were not acknowledged although there was time for it, since the last acknowledgement.
    package var missedCount: Int64 = 0

    package init(sentAt: Timestamp) {
        self.sentAt = sentAt
    }
}

/// A device's own report of its unsent changes. Numbers only: no names of records.
package struct PendingReport: Sendable, Equatable {
    /// The reason why the device waits before it sends.
    package enum Obstacle: UInt8, Sendable, CaseIterable {
        case nothing = 0
        case connection = 1
        case account = 2
        /// A delay that the server asked for.
        case delay = 3
        /// Room in the quota.
        case quota = 4
        /// The app, which handles an event or sends by hand.
        case app = 5
    }

    package var saves: UInt32
    package var deletes: UInt32
    package var databaseChanges: UInt32
    package var wait: Obstacle
    /// CloudKit's number of the last error (`CKError.Code`); 0: none since the last success.
    package var lastError: UInt32
    package var at: Timestamp

    package init(
        saves: UInt32, deletes: UInt32, databaseChanges: UInt32, wait: Obstacle, lastError: UInt32, at: Timestamp
    ) {
        self.saves = saves
        self.deletes = deletes
        self.databaseChanges = databaseChanges
        self.wait = wait
        self.lastError = lastError
        self.at = at
    }

    package var count: Int { Int(saves) + Int(deletes) + Int(databaseChanges) }
}
