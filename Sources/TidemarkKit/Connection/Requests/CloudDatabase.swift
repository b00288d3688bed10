// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// One database as one device reaches it: the requests of the protocol in CloudKit's terms.
///
/// `CKDatabase` and the sync engine both stand on it. Every function throws `CKError`.
struct CloudDatabase: Sendable {
    let connection: CloudConnection
    let scope: CKDatabase.Scope
    /// Of encrypted values.
    let keys: KeyRing
    /// For whose credential the requests are meant; they fail once there is another.
    let credentialGeneration: Int
    /// How long a request may take.
    var timeout: Duration = .seconds(60)
    /// For work that is not urgent: how long requests are tried again while the network or the server is in trouble
    /// nil: not at all.
    var patience: Duration?
    /// Of the operation or database that asks; an engine's requests have the one of their options.
    var group: CKOperationGroup?

    var wireScope: WireDatabaseScope {
        switch scope {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }

    func request(
        isChange: Bool = false, _ make: @escaping @Sendable (WireRequestStamp?) -> WireClientEnvelope.OneOf_Request
    ) async throws(CKError) -> WireServerEnvelope {
        let deadline = patience.map { connection.now + $0 }
        let template = template
        for failures in 0... {
            do throws(CKError) {
                return try await connection.request(
                    isChange: isChange, timeout: timeout, generation: credentialGeneration
                ) { stamp in
                    var envelope = template
                    envelope.request = make(stamp)
                    return envelope
                }
            } catch {
                guard let deadline, error.isWorthAnotherTry, connection.now < deadline else { throw error }
                try await connection.wait(error.waitBeforeRetry(failures: failures))
            }
        }
        throw CKError(.operationCancelled)
    }

    /// What all requests have.
    var template: WireClientEnvelope {
        var envelope = WireClientEnvelope()
        guard let group = group ?? SyncEngineRequestContext.operationGroup else { return envelope }
        envelope.operationGroup.id = group.operationGroupID
        envelope.operationGroup.name = group.name ?? ""
        return envelope
    }

    /// Who is signed in, as the server says; an empty name without an account.
    func identify() async throws(CKError) -> String {
        try await connection.identify(timeout: timeout, generation: credentialGeneration)
    }

    /// The server answered something else than was asked: a broken server.
    static let wrongAnswer = CKError(.internalError, message: "The server's answer does not fit the request.")
}

extension CKError {
    /// Whether nothing was carried out, and it may go better later.
    fileprivate var isWorthAnotherTry: Bool {
        switch code {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy: true
        default: false
        }
    }

    /// What the server says; else 1 s, doubling up to five minutes.
    fileprivate func waitBeforeRetry(failures: Int) -> Duration {
        retryAfterSeconds.map { .seconds($0) } ?? min(.seconds(300), .seconds(1) * (1 << min(failures, 9)))
    }
}

extension WireZoneID {
    init(_ zoneID: CKRecordZone.ID) {
        self.init()
        name = zoneID.zoneName
        owner = zoneID.ownerName == CKCurrentUserDefaultName ? "" : zoneID.ownerName
    }
}

extension CKRecordZone.ID {
    /// An empty owner stands for the current user.
    convenience init(_ wire: WireZoneID) {
        self.init(unchecked: wire.name, ownerName: wire.owner.isEmpty ? CKCurrentUserDefaultName : wire.owner)
    }
}

extension WireDesiredKeys {
    init(_ keys: [CKRecord.FieldKey]) {
        self.init()
        self.keys = keys
    }
}

extension Array {
    /// As `Dictionary(grouping:by:)`, in the order in which the groups first appear: requests are the same each time.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        var groups: [(key: Key, elements: [Element])] = []
        var places: [Key: Int] = [:]
        for element in self {
            let key = key(element)
            if let place = places[key] {
                groups[place].elements.append(element)
            } else {
                places[key] = groups.count
                groups.append((key, [element]))
            }
        }
        return groups
    }
}
