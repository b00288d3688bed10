// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The state of an engine, to show to a user or to log. It has its pending work, its current work, and what it
/// waits for. CloudKit has no such type.
///
/// It is a value of one moment. ``CKSyncEngine/status`` makes the newest one, and ``CKSyncEngine/statuses`` follows it.
public struct TidemarkSyncStatus: Sendable, Equatable, CustomStringConvertible {
    /// Records to save that the server has not acknowledged, including those that are being sent.
    public internal(set) var pendingSaveCount = 0
    /// Records to delete, as ``pendingSaveCount``.
    public internal(set) var pendingDeleteCount = 0
    /// Zones to save or to delete, as ``pendingSaveCount``.
    public internal(set) var pendingDatabaseChangeCount = 0
    /// Whether the app has changes that it does not list.
    public internal(set) var hasPendingUntrackedChanges = false
    /// Zones that the server has changed and the engine has not fetched completely.
    public internal(set) var unfetchedZoneCount = 0
    /// What the engine does now.
    public internal(set) var activity = Activity.idle
    /// The reasons why the engine waits, the most important first. Empty if nothing stops it.
    public internal(set) var waits: [Wait] = []
    /// When the server last took a change of this engine. Nil: not since the engine was made, or since another account
    /// took its place.
    public internal(set) var lastSent: Date?
    /// When a fetch last ended without an error, as ``lastSent``.
    public internal(set) var lastFetched: Date?
    /// The last error. It stays after the failed operation has succeeded: compare its date with ``lastSent`` and
    /// ``lastFetched``. A conflict is not an error, nor is a cancelled call.
    public internal(set) var lastFailure: Failure?

    /// Nothing is pending or under way, and nothing stops the engine.
    public var isUpToDate: Bool {
        pendingSaveCount == 0 && pendingDeleteCount == 0 && pendingDatabaseChangeCount == 0
            && !hasPendingUntrackedChanges && unfetchedZoneCount == 0 && activity == .idle && waits.isEmpty
    }

    /// For logs: no user data.
    public var description: String {
        let waiting = waits.isEmpty ? "" : ", waits for " + waits.map(\.description).joined(separator: ", ")
        return """
            TidemarkSyncStatus(\(activity), pending: \(pendingSaveCount) saves, \(pendingDeleteCount) deletes, \
            \(pendingDatabaseChangeCount) zones, unfetched zones: \(unfetchedZoneCount)\(waiting))
            """
    }
}

extension TidemarkSyncStatus {
    /// What an engine does.
    public enum Activity: Sendable, Equatable, CustomStringConvertible {
        /// Neither a fetch nor a send is under way.
        case idle
        /// A fetch is under way.
        case fetching(FetchProgress)
        /// A send is under way.
        case sending(SendProgress)

        /// For logs.
        public var description: String {
            switch self {
            case .idle: "idle"
            case .fetching(let progress):
                "fetching zone \(progress.zoneCount) of \(progress.zoneTotal.map(String.init) ?? "?"), "
                    + "\(progress.recordCount) records"
            case .sending(let progress): "sending \(progress.sentCount) of \(progress.total)"
            }
        }
    }

    /// How far a fetch has come.
    public struct FetchProgress: Sendable, Equatable {
        /// Zones that it has read, or that failed.
        public internal(set) var zoneCount = 0
        /// Zones that it reads in all; nil until the list of changed zones has arrived.
        public internal(set) var zoneTotal: Int?
        /// Records and deletions so far. The total is not known before all records have arrived.
        public internal(set) var recordCount = 0
        /// The zone that it reads now.
        public internal(set) var zoneID: CKRecordZone.ID?
    }

    /// How far a send has come.
    public struct SendProgress: Sendable, Equatable {
        /// Records that the server has saved or deleted.
        public internal(set) var sentCount = 0
        /// These, and those that are still to be sent. It grows if the app adds something meanwhile.
        public internal(set) var total = 0
    }

    /// A reason why an engine waits.
    public struct Wait: Sendable, Equatable, CustomStringConvertible {
        /// Why an engine waits.
        public enum Reason: Sendable, Hashable, CustomStringConvertible {
            /// Nobody is signed in, or it is not known who is. ``TidemarkSyncStatus/lastFailure`` says why.
            case account
            /// The server cannot be reached.
            case network
            /// The app called ``CKSyncEngine/cancelOperations()``. The next change, push or call ends it.
            case cancellation
            /// The server asked for a pause.
            case throttling
            /// A fetch failed, and is tried again.
            case fetchRetry
            /// A send failed, and is tried again.
            case sendRetry
            /// The delegate is being asked for a batch, or has skipped changes and is asked again later.
            case batch
            /// Another user's zone that this user can no longer read. The engine reads it again if it is shared again.
            case zone(CKRecordZone.ID)

            /// For logs: no user data.
            public var description: String {
                switch self {
                case .account: "account"
                case .network: "network"
                case .cancellation: "cancellation"
                case .throttling: "throttling"
                case .fetchRetry: "fetchRetry"
                case .sendRetry: "sendRetry"
                case .batch: "batch"
                case .zone: "zone"
                }
            }
        }

        /// Why it waits.
        public let reason: Reason
        /// When it goes on if nothing happens before; nil if only an event ends it.
        public let until: Date?

        /// For logs.
        public var description: String { until.map { "\(reason) until \($0)" } ?? "\(reason)" }
    }

    /// An error, and the item that failed.
    public struct Failure: Sendable, CustomStringConvertible {
        /// The item or operation that failed.
        public enum Subject: Sendable, Hashable {
            /// The check of who is signed in.
            case account
            /// The subscription that brings pushes.
            case subscription
            /// A fetch as a whole.
            case fetch
            /// A send as a whole.
            case send
            /// The fetch of this zone, or its save or deletion.
            case zone(CKRecordZone.ID)
            /// The save or deletion of this record.
            case record(CKRecord.ID)
        }

        /// The error.
        public let error: CKError
        /// The item that failed.
        public let subject: Subject
        /// When the engine got it.
        public let date: Date

        /// For logs.
        public var description: String { "\(error.code) at \(date)" }
    }
}

extension TidemarkSyncStatus.Failure: Equatable {
    /// Errors of one moment about one thing are equal if their codes are.
    public static func == (left: Self, right: Self) -> Bool {
        (left.date, left.subject, left.error.code) == (right.date, right.subject, right.error.code)
    }
}
