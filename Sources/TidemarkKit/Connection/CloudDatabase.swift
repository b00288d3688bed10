// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// One database as one device reaches it: the requests of the protocol in CloudKit's terms.
///
/// `CKDatabase` and the sync engine both stand on it. Every function throws `CKError`.
struct CloudDatabase: Sendable {
    let connection: CloudConnection
    let scope: CKDatabase.Scope
    /// The keys of encrypted values.
    let keys: KeyRing
    /// For whose credential the requests are meant; they fail once there is another.
    let credentialGeneration: Int
    /// How URLs of shares are made.
    var shareURLs = ShareURLs.unknown
    /// How long a request may go without any progress.
    var timeout: Duration = .seconds(60)
    /// Until when all requests together have time, on the connection's clock; nil: for ever.
    var deadline: Duration?
    /// Whether requests are tried again until then while the network or the server is in trouble: of work that is not urgent
    ///
    var isPatient = false
    /// The group of the operation or database that asks. An engine's requests have the one of their options.
    var group: CKOperationGroup?
    /// The executor of an operation's blocks that report progress; nil for the default.
    var reportExecutor: (any TaskExecutor)?

    var wireScope: WireDatabaseScope {
        switch scope {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }

    func request(
        isChange: Bool = false, _ make: @escaping @Sendable (WireRequestStamp?) -> WireClientEnvelope.OneOfRequest
    ) async throws(CKError) -> ServerReply {
        let template = template
        var failures = 0
        var last = Self.outOfTime
        // Whether it is unknown if a change was carried out. If so, an attempt repeats the same request.
        var isOutcomeOpen = false
        let nonce = isChange && isPatient ? connection.changeNonce() : nil
        defer { nonce.map(connection.giveUp) }
        while !isOutOfTime {
            do throws(CKError) {
                return try await connection.request(
                    isChange: isChange, nonce: nonce, timeout: timeout, within: timeLeft,
                    generation: credentialGeneration
                ) { stamp in
                    var envelope = template
                    envelope.request = make(stamp)
                    return envelope
                }
            } catch {
                guard isPatient, error.isWorthAnotherTry else {
                    let isUnsent = error.isGreetingRefused || error.code == .notAuthenticated
                    throw isOutcomeOpen && isUnsent ? Self.outcomeOpen : error
                }
                if isChange, error.code == .serviceUnavailable, !error.isGreetingRefused { isOutcomeOpen = true }
                last = error
            }
            try await pause(last.waitBeforeRetry(failures: failures, randomBits: connection.randomBits))
            failures += 1
        }
        throw isOutcomeOpen ? Self.outcomeOpen : last
    }

    /// Until the ``deadline``; nil: no end.
    var timeLeft: Duration? { deadline.map { $0 - connection.now } }

    /// Whether nothing must be begun any more.
    var isOutOfTime: Bool { timeLeft.map { $0 <= .zero } ?? false }

    /// For long work between two requests.
    ///
    /// - Throws: `operationCancelled` if the task is cancelled; `networkFailure` if nothing must be begun any more.
    func checkMayGoOn() throws(CKError) {
        guard !Task.isCancelled else { throw CKError(.operationCancelled) }
        guard !isOutOfTime else { throw Self.outOfTime }
    }

    /// Lets time pass, no more than is left.
    ///
    /// - Throws: `operationCancelled` at once when the task is or gets cancelled.
    func pause(_ wait: Duration) async throws(CKError) {
        try await connection.wait(timeLeft.map { min(wait, max(.zero, $0)) } ?? wait)
    }

    private static let outcomeOpen = CKError(ConnectionMachine.RequestFailure(code: .answerLost))

    private static let outOfTime = CKError(
        .networkFailure,
        text: "The time for the whole operation is over (timeoutIntervalForResource). Allow more time, or do less at "
            + "once.")

    /// The fields that all requests have.
    var template: WireClientEnvelope {
        var envelope = WireClientEnvelope()
        guard let group = group ?? SyncEngineRequestContext.operationGroup else { return envelope }
        envelope.operationGroup.id = group.operationGroupID
        envelope.operationGroup.name = group.name ?? ""
        return envelope
    }

    /// The user who is signed in, as the server says; an empty name without an account.
    func identify() async throws(CKError) -> String {
        try await connection.identify(timeout: timeout, within: timeLeft, generation: credentialGeneration)
    }

    /// The answer does not belong to the request: a broken server. For a change, nobody knows whether it was carried out.
    static func wrongAnswer(to request: WireRequestKind) -> CKError {
        let text =
            "The server's answer to \(request) does not fit the request. The server, or something between it and "
            + "this device, is broken. Tell its operator."
        guard request.isChange else { return CKError(.internalError, message: text) }
        return CKError(
            .serverResponseLost,
            message: text + " The request may have been carried out. Fetch changes, then send what is still needed.")
    }
}

extension CKError {
    /// Whether nothing was carried out, and it may go better later.
    var isWorthAnotherTry: Bool {
        switch code {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy: true
        default: false
        }
    }

    /// The time that the server gives, but at most a day. Without that: 1 s, doubling up to five minutes, each a random
    /// time between half and all of that.
    func waitBeforeRetry(failures: Int, randomBits: UInt64) -> Duration {
        if let retryAfterSeconds { return .seconds(max(0, min(retryAfterSeconds, 86_400))) }
        let nominal: Duration = min(.seconds(300), .seconds(1) * (1 << min(failures, 9)))
        return ReconnectPolicy.jittered(nominal, randomBits: randomBits)
    }
}

extension WireRequestKind {
    /// Whether it changes anything on the server.
    fileprivate var isChange: Bool {
        switch self {
        case .modifyRecords, .modifyZones, .modifySubscriptions, .saveAccountKey, .saveZoneKey, .grantKeys,
            .acceptShares, .requestShareAccess:
            true
        case .hello, .fetchDatabaseChanges, .fetchZoneChanges, .fetchRecords, .fetchZones, .fetchSubscriptions,
            .fetchKeys, .fetchAssetChunk, .queryRecords, .prepareAssetUpload, .uploadAssetChunk, .fetchShareMetadata,
            .fetchShareParticipants, .verifyZone, .joinPresence, .publishPresence, .leavePresence, .unread:
            false
        }
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
