// SPDX-License-Identifier: Apache-2.0

/// Why an account or a device is behind: one reason, in words (R-855).
package struct SyncFinding: Sendable, Equatable {
    /// For scripts. A code never changes its meaning.
    package enum Code: String, Sendable, CaseIterable {
        case accountDisabled = "account-disabled"
        case noCredential = "no-credential"
        case credentialRevoked = "credential-revoked"
        case credentialExpired = "credential-expired"
        case deviceTaken = "device-taken"
        case quotaExceeded = "quota-exceeded"
        case throttled = "throttled"
        case recordRefused = "record-refused"
        case tokenExpired = "token-expired"
        case pushMissed = "push-missed"
        case notConnected = "not-connected"
        case notFetching = "not-fetching"
        case notSending = "not-sending"
        case notKnown = "not-known"
        case nothingWrong = "nothing-wrong"
    }

    package let code: Code
    /// The finding, in one or two sentences.
    package let sentence: String
    /// What to do about it.
    package let remedy: String

    package init(_ code: Code, _ sentence: String, _ remedy: String) {
        self.code = code
        self.sentence = sentence
        self.remedy = remedy
    }

    fileprivate static let quotaRemedy =
        "Let the user delete something, or raise the quota: tidemark admin containers set-quota, or accounts set-quota."
}

extension AccountFacts {
    /// Why no device of the account syncs. Empty: the account is not the reason.
    package func findings(at now: Timestamp) -> [SyncFinding] {
        var findings: [SyncFinding] = []
        if isDisabled {
            findings.append(
                SyncFinding(
                    .accountDisabled, "The account is disabled: no device may connect.",
                    "Enable it if that was not meant: tidemark admin accounts enable."))
        }
        if credentials.allSatisfy({ $0.revokedAt != nil || $0.isExpired(at: now) }) {
            findings.append(
                SyncFinding(
                    .noCredential, "Locked out: the account has no valid credential.",
                    "Create one and sign in with it: tidemark admin credentials create."))
        }
        for use in uses where use.byteCount >= use.bytesMax {
            let what = use.isOfAccount ? "The account's databases hold" : "A database of the account holds"
            findings.append(
                SyncFinding(
                    .quotaExceeded, "\(what) \(use.byteCount) bytes. The quota is \(use.bytesMax) bytes.",
                    SyncFinding.quotaRemedy))
        }
        return findings
    }
}

extension DeviceFacts {
    /// Why the device is behind, the most likely reason first. Never empty.
    package func findings(in account: AccountFacts, at now: Timestamp) -> [SyncFinding] {
        guard let progress else { return [notKnown(at: now)] }
        let found = [
            credentialFinding(progress, account, at: now), takenFinding(progress, at: now),
            throttlingFinding(progress, at: now), refusalFinding(progress, at: now), expiryFinding(at: now),
            pushFinding(progress, at: now), connectionFinding(progress, at: now), fetchFinding(progress, at: now),
            sendFinding(progress, at: now),
        ].compactMap(\.self)
        return found.isEmpty ? [nothingWrong(at: now)] : found
    }

    /// Changes that the device has not read, in all zones where their number is known.
    package var missing: Int64 { places.reduce(0) { $0 + $1.missing } }

    /// When the first of them was made.
    package var behindSince: Timestamp? {
        places.lazy.filter { $0.missing > 0 }.compactMap(\.behindSince).min()
    }

    private func age(_ time: Timestamp, _ now: Timestamp) -> String { TimeSpan(from: time, to: now).text }

    private func notKnown(at now: Timestamp) -> SyncFinding {
        SyncFinding(
            .notKnown, "Nothing is known of the device but that it connected \(age(lastSeenAt, now)) ago.",
            "Let the device connect, and look again.")
    }

    private func nothingWrong(at now: Timestamp) -> SyncFinding {
        guard missing == 0 else {
            return SyncFinding(
                .nothingWrong,
                "Nothing is wrong yet. It is connected, and behind by \(changes)\(since(now)). A fetch may take a minute.",
                "Look again in a minute.")
        }
        let connected =
            isConnected(at: now) ? "It is connected" : "It was connected \(age(lastConnectedAt, now)) ago"
        return SyncFinding(
            .nothingWrong, "Nothing is wrong. \(connected), and it has read every change that servers know of.",
            "If the user misses something, look whether it was saved: tidemark admin records query.")
    }

    private func credentialFinding(
        _ progress: DeviceProgress, _ account: AccountFacts, at now: Timestamp
    ) -> SyncFinding? {
        guard let link = progress.link, let credential = account.credentials.first(where: { $0.id == link.credential })
        else { return nil }
        let name = "credential \(credential.id.rawValue), with which it last connected,"
        if let revokedAt = credential.revokedAt {
            return SyncFinding(
                .credentialRevoked, "Locked out: \(name) was revoked \(age(revokedAt, now)) ago.",
                "Create another one, and sign in with it on this device: tidemark admin credentials create.")
        }
        guard let expiresAt = credential.expiresAt, credential.isExpired(at: now) else { return nil }
        return SyncFinding(
            .credentialExpired, "Locked out: \(name) expired \(age(expiresAt, now)) ago.",
            "Create another one, and sign in with it on this device: tidemark admin credentials create.")
    }

    private func takenFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard let link = progress.link, link.isDeviceTaken else { return nil }
        // Without an engine nothing of it can be behind, and two programs of one user share it at each start (R-867).
        guard !places.isEmpty || progress.pending != nil else { return nil }
        return SyncFinding(
            .deviceTaken,
            "Two devices have this identity: one is a copy of the other, or two programs of one user share it. "
                + "\(age(link.since, now)) ago the newer one was told to take another, and does so when it connects again.",
            "Nothing is lost. If it is still so after both have connected again, delete the app's sync state on one of them."
        )
    }

    private func throttlingFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard let throttle = progress.throttle, throttle.until > now else { return nil }
        return SyncFinding(
            .throttled,
            "Throttled for \(TimeSpan(from: now, to: throttle.until).text) more, since it sent "
                + "\(throttle.kind). The limit: \(throttle.limit)",
            "Wait. If it goes on, look at the device's last requests: an app that asks in a loop shows there.")
    }

    private func refusalFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard let refusal = progress.refusal else { return nil }
        let count = refusal.count == 1 ? "1 change was" : "\(refusal.count) changes were"
        let text = refusal.reason.map { "\($0)" } ?? "code \(refusal.code)"
        let sentence = "At its last send \(age(refusal.at, now)) ago, \(count) refused (\(text))."
        if refusal.reason == .quotaExceeded {
            return SyncFinding(.quotaExceeded, sentence, SyncFinding.quotaRemedy)
        }
        if let reason = refusal.reason, reason == .publicShareFull {
            return SyncFinding(.quotaExceeded, sentence, reason.text)
        }
        return SyncFinding(
            .recordRefused, sentence, refusal.reason?.text ?? "A newer server knows what the code means.")
    }

    /// So many times in a row is not an accident: an engine starts from nothing after the first.
    private static let expiriesMax: Int64 = 3

    private func expiryFinding(at now: Timestamp) -> SyncFinding? {
        guard let place = places.first(where: { $0.progress.expiredCount >= Self.expiriesMax }) else { return nil }
        let feed = place.zone.map { "the zone \($0)" } ?? "its database"
        return SyncFinding(
            .tokenExpired,
            "It asks again and again for \(feed) with an expired token: "
                + "\(place.progress.expiredCount) times in a row.",
            "The app must drop the token and fetch without one, as the error says (changeTokenExpired).")
    }

    private func pushFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard let push = progress.push, push.missedCount > 0 else { return nil }
        let heard = push.heardAt.map { "It last acknowledged one \(age($0, now)) ago." } ?? "It never acknowledged one."
        return SyncFinding(
            .pushMissed, "A push was sent \(age(push.sentAt, now)) ago and was not acknowledged. \(heard)",
            "The device or its network is silent: let it connect again. It fetches then, so nothing is lost.")
    }

    private func connectionFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard !isConnected(at: now), missing > 0 || (progress.pending?.count ?? 0) > 0 else { return nil }
        let behind = missing > 0 ? " It is behind by \(changes)\(since(now))." : ""
        let sending = progress.pending.flatMap { pending in
            // A program that ends at once does not say that it has sent all.
            let isOld = progress.sentAt.map { $0 > pending.at } ?? false
            return pending.count > 0 ? " \(unsent(pending, now))\(isOld ? ", and has sent since" : "")." : nil
        }
        return SyncFinding(
            .notConnected, "It was last connected \(age(lastConnectedAt, now)) ago.\(behind)\(sending ?? "")",
            "Open the app on the device, with a network that reaches the server.")
    }

    /// A device that is connected may take so long to fetch.
    private static let fetchPatience: Int64 = 60_000

    private func fetchFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard isConnected(at: now), missing > 0, let behindSince,
            now.milliseconds - behindSince.milliseconds > Self.fetchPatience
        else { return nil }
        return SyncFinding(
            .notFetching, "It is connected, and behind by \(changes)\(since(now)).",
            "The app does not fetch: look whether its engine syncs automatically, or is waiting for a delegate.")
    }

    private var changes: String { missing == 1 ? "1 change" : "\(missing) changes" }

    private func since(_ now: Timestamp) -> String {
        guard let behindSince else { return "" }
        return missing == 1
            ? ", made \(age(behindSince, now)) ago" : ", the first of them made \(age(behindSince, now)) ago"
    }

    /// A device reports once a minute at most (R-853). It may have sent the reported changes since.
    private static let reportPatience: Int64 = 75_000

    private func sendFinding(_ progress: DeviceProgress, at now: Timestamp) -> SyncFinding? {
        guard let pending = progress.pending, pending.count > 0, isConnected(at: now),
            !pending.wait.passes || now.milliseconds - pending.at.milliseconds > Self.reportPatience
        else { return nil }
        let error = pending.lastError == 0 ? "" : " Its last error was CKError \(pending.lastError)."
        return SyncFinding(
            .notSending, "\(unsent(pending, now)). \(pending.wait.sentence)\(error)", pending.wait.remedy)
    }

    private func unsent(_ pending: PendingReport, _ now: Timestamp) -> String {
        "\(age(pending.at, now)) ago it had \(pending.count == 1 ? "1 change" : "\(pending.count) changes") to send"
    }
}

extension PendingReport.Obstacle {
    /// Whether the device goes on by itself, and then soon.
    fileprivate var passes: Bool {
        switch self {
        case .nothing, .connection, .delay: true
        case .account, .quota, .app: false
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .nothing: "It waits for nothing."
        case .connection: "It waits for a connection."
        case .account: "It waits for an account."
        case .delay: "It waits for the delay that the server asked for."
        case .quota: "It waits for room in the quota."
        case .app: "It waits for the app."
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .nothing, .delay: "Wait a minute, and look again."
        case .connection: "Look at the device's network."
        case .account: "Sign in on the device."
        case .quota: SyncFinding.quotaRemedy
        case .app: "The app sends by hand, or handles an event: look at its log."
        }
    }
}

/// How long something lasted, as people say it.
package struct TimeSpan: Sendable {
    private let milliseconds: Int64

    /// Nothing, if the end is before the beginning: clocks of servers differ.
    package init(from start: Timestamp, to end: Timestamp) {
        let (difference, overflow) = end.milliseconds.subtractingReportingOverflow(start.milliseconds)
        milliseconds = overflow ? .max : max(0, difference)
    }

    package var text: String {
        let seconds = milliseconds / 1_000
        let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400)
        if minutes == 0 { return "\(seconds) s" }
        if hours == 0 { return "\(minutes) min" }
        if days == 0 { return minutes % 60 == 0 ? "\(hours) h" : "\(hours) h \(minutes % 60) min" }
        return days == 1 ? "1 day" : "\(days) days"
    }
}
