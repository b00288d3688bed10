// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

// What a session notes of its device, for operators. A session without an account notes nothing.

extension Session {
    /// The session is open, and belongs to a device from now on.
    func openTrail(of member: SessionMember, isDeviceTaken: Bool) {
        guard let book = hub.settings.devices, let identity = member.identity else { return }
        let device = AccountDevice(account: identity.account, device: member.device)
        let link = DeviceLink(
            server: book.server, since: hub.now, credential: identity.credential, isDeviceTaken: isDeviceTaken)
        let opened = book.trail(of: device, opening: link, at: hub.scheduler.now)
        trail.withLock { $0 = opened }
    }

    /// The connection is gone. Doing so again does nothing.
    func closeTrail() {
        let closed = trail.withLock { trail in
            defer { trail = nil }
            return trail
        }
        closed?.closed(at: hub.now)
    }

    /// Something happened to the device.
    ///
    /// - Parameters:
    ///   - isNews: as ``DeviceTrail/note(isNews:usedAt:_:)``.
    ///   - isUse: whether the device asked for something.
    func note(
        isNews: Bool = true, isUse: Bool = false, _ event: (inout DeviceProgress, _ now: Timestamp) -> Void
    ) {
        guard let trail = trail.withLock({ $0 }) else { return }
        let now = hub.now
        switch trail.note(isNews: isNews, usedAt: isUse ? now : nil, { event(&$0, now) }) {
        case .kept: break
        case .isToUse: hub.settings.devices?.use(trail.of)
        case .forgotten(let forgottenAt): findPlace(forgottenAt)
        }
    }

    /// The device gave way to others, and is still here: it has a place again after a while. Not at once, or many devices
    /// would drive each other out with each request.
    private func findPlace(_ forgottenAt: Duration) {
        guard let book = hub.settings.devices, hub.scheduler.now - forgottenAt >= book.interval, let member,
            let identity = member.identity
        else { return }
        let device = AccountDevice(account: identity.account, device: member.device)
        let old = trail.withLock { $0 }
        guard let old else { return }
        let known = old.progress
        let found = book.trail(of: device, opening: known.link, at: hub.scheduler.now)
        let isOpen = trail.withLock { trail in
            defer { if trail != nil { trail = found } }
            return trail != nil
        }
        found.note { $0.merge(known) }
        if !isOpen { found.closed(at: hub.now) }
    }

    // MARK: Requests

    /// A request has its answer.
    ///
    /// - Parameter refusal: why it was refused as a whole; nil: it was not.
    func noteAnswer(to message: ClientMessage, _ uuid: RequestUUID, _ refusal: Refusal?, after time: Duration) {
        guard let request = message.request else { return }
        let (seconds, attoseconds) = time.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        note(isUse: true) { progress, now in
            progress.answered(
                RequestSummary(
                    mark: RequestBits(high: uuid.high, low: uuid.low), kind: request.kind.name, at: now,
                    microseconds: microseconds, code: refusal?.code.rawValue ?? 0))
            switch refusal?.code {
            case .tooManyRequests?: progress.throttled(Throttling(refusal, of: request.kind.name, at: now))
            case .tokenExpired?:
                if let (feed, number) = request.token.flatMap({ FeedName.of(token: $0) }) {
                    progress.expired(feed, asked: number, at: now)
                }
            default: break
            }
        }
    }

    /// A request was refused before it began.
    func noteRefusal(_ refusal: Refusal) {
        guard refusal.code == .tooManyRequests else { return }
        note { progress, now in progress.throttled(Throttling(refusal, of: "requests", at: now)) }
    }

    // MARK: Feeds and pushes

    /// The device is answered a page of its database's feed.
    func noteTold(_ page: DatabasePage, asked token: [UInt8]) {
        guard case .database(_, let viewer, let position) = page.token else { return }
        note { progress, now in
            progress.told(.database(viewer), asked: FeedName.of(token: token)?.number, to: position.number, at: now)
        }
    }

    /// The device is answered a page of a zone's feed.
    ///
    /// - Parameter end: where it ends.
    func noteTold(_ end: ChangeToken, in zone: ZoneID, of key: ZoneKey, asked token: [UInt8]) {
        guard case .zone(_, _, _, _, let position) = end else { return }
        note { progress, now in
            progress.told(
                .zone(zone, key), asked: FeedName.of(token: token)?.number, to: position.number, at: now)
        }
    }

    /// A push is sent.
    func notePush() {
        // Thousands of devices may get one. That it was sent is not worth a write.
        note(isNews: false) { progress, now in progress.pushed(at: now) }
    }

    /// The device has acknowledged all pushes, and has taken the pages that they brought.
    func noteHeard(_ pushes: DevicePushMachine) {
        guard let database = member?.identity?.privateDatabase else { return }
        note(isNews: false) { progress, now in
            progress.heardPushes(at: now)
            progress.heard(at: now) { feed in
                guard feed.database == database else { return nil }
                return feed.zone.map { pushes.place(in: $0) } ?? pushes.placeInDatabase
            }
        }
    }

    /// Pushes were not acknowledged in time.
    func noteMissed(_ count: Int) {
        note { progress, _ in progress.missedPushes(count) }
    }

    // MARK: What the device says

    /// Reports that come faster than this are left out, in milliseconds. Clients send one a minute at most.
    private static let reportGap: Int64 = 20_000

    /// What the device says that it has not sent yet.
    func noteReport(_ report: WirePendingReport) {
        note { progress, now in
            if let last = progress.pending?.at, (0..<Self.reportGap).contains(now.milliseconds - last.milliseconds) {
                return
            }
            progress.pending = PendingReport(report, at: now)
        }
    }
}

/// What became of the records that a device sent in one request.
struct SentRecords {
    private var refusedCount = 0
    private var firstReason: FailureReason?

    /// The part of a zone was decided.
    mutating func took(_ outcome: RecordsOutcome, in key: ZoneKey, by session: Session) {
        var deletedCount = 0
        for case .failed(let failure) in outcome.saves { refuse(failure.reason) }
        for delete in outcome.deletes {
            switch delete {
            case .deleted: deletedCount += 1
            case .failed(let failure): refuse(failure.reason)
            }
        }
        let numbers = outcome.saves.lazy.compactMap { save -> ChangeNumber? in
            if case .saved(let metadata) = save { metadata.changeNumber } else { nil }
        }
        session.note { progress, _ in progress.wrote(in: key, numbers, deletions: deletedCount) }
    }

    /// The part of a zone was refused as a whole.
    mutating func refused(_ reason: FailureReason, count: Int) {
        refuse(reason, count: count)
    }

    private mutating func refuse(_ reason: FailureReason, count: Int = 1) {
        refusedCount += count
        // If a batch fails as a whole, one item says why.
        if firstReason == nil || firstReason == .batchFailed { firstReason = reason }
    }

    /// All parts were decided.
    func note(in session: Session) {
        let (reason, count) = (firstReason, refusedCount)
        session.note { progress, now in
            progress.sentRecords(
                refused: reason.map { RecordsRefusal(code: $0.rawValue, count: Int64(count), at: now) }, at: now)
        }
    }
}

extension Throttling {
    /// - Parameter refusal: its text is one of the server's own.
    fileprivate init(_ refusal: Refusal?, of kind: String, at now: Timestamp) {
        let delay = refusal?.retryAfter ?? Self.delayMin
        let text = refusal?.description ?? FailureReason.tooManyRequests.text
        self.init(
            kind: kind, limit: String(text.unicodeScalars.prefix(Self.textMax)), at: now,
            until: Timestamp(milliseconds: now.milliseconds + Int64(min(delay, Self.delayMax) * 1_000)))
    }

    /// Seconds. As the failure says that names none.
    private static let delayMin = 1.0
    private static let delayMax = 86_400.0
}

extension WireClientEnvelope.OneOfRequest {
    /// The token of a feed that it was asked with.
    fileprivate var token: [UInt8]? {
        switch self {
        case .fetchDatabaseChanges(let fetch): fetch.token
        case .fetchZoneChanges(let fetch): fetch.token
        default: nil
        }
    }
}
