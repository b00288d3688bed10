// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// Why a device is behind: facts in, findings out.
@Suite struct SyncFindingTests {
    private static let now: Timestamp = 10_000_000
    private static let minute: Int64 = 60_000
    private static let key = ZoneKey(database: database, name: "Notes")

    private static func ago(_ minutes: Int64) -> Timestamp {
        Timestamp(milliseconds: now.milliseconds - minutes * minute)
    }

    private static let valid = AccountFacts.CredentialFacts(id: CredentialID(1), expiresAt: nil, revokedAt: nil)
    private static let account = AccountFacts(credentials: [valid])

    /// A device that is connected and has read change 10 of a zone.
    private static func progress(_ change: (inout DeviceProgress) -> Void = { _ in }) -> DeviceProgress {
        var progress = DeviceProgress()
        progress.link = DeviceLink(server: "web-1/7", since: ago(60), credential: CredentialID(1))
        progress.told(.zone(ZoneID(3), key), asked: nil, to: 10, at: ago(50))
        change(&progress)
        return progress
    }

    /// - Parameter head: the last change of the zone.
    private static func device(
        _ progress: DeviceProgress?, head: ChangeNumber = 10, behindSince: Timestamp? = nil, notedAt: Timestamp = ago(1)
    ) -> DeviceFacts {
        let places = (progress?.feeds ?? []).map { feed in
            PlaceFacts(
                scope: .private, container: ContainerKey(identifier: "c", environment: .development), zone: "Notes",
                progress: feed, head: head, behindSince: behindSince)
        }
        return DeviceFacts(
            device: phone, name: "phone", firstSeenAt: ago(9_000), lastSeenAt: ago(60), notedAt: notedAt,
            progress: progress, places: places)
    }

    private static func disconnected(_ change: (inout DeviceProgress) -> Void = { _ in }) -> DeviceProgress {
        progress { progress in
            progress.link?.endedAt = ago(30)
            change(&progress)
        }
    }

    /// A device that reads no feed.
    private static var takenWithoutEngine: DeviceProgress {
        var progress = DeviceProgress()
        progress.link = DeviceLink(
            server: "web-1/7", since: ago(60), credential: CredentialID(1), isDeviceTaken: true)
        return progress
    }

    private static func pending(
        _ wait: PendingReport.Obstacle, error: UInt32 = 0, minutes: Int64 = 2
    ) -> PendingReport {
        PendingReport(saves: 2, deletes: 1, databaseChanges: 0, wait: wait, lastError: error, at: ago(minutes))
    }

    /// The facts of a device, the code that must be found first, and words that its sentence must have.
    private static let cases: [(DeviceFacts, AccountFacts, SyncFinding.Code, [String])] = [
        (device(progress()), account, .nothingWrong, ["Nothing is wrong", "is connected"]),
        (device(disconnected()), account, .nothingWrong, ["connected 30 min ago"]),
        (device(nil), account, .notKnown, ["1 h ago"]),
        (
            device(progress()),
            AccountFacts(credentials: [
                .init(id: CredentialID(1), expiresAt: nil, revokedAt: ago(3)),
                .init(id: CredentialID(2), expiresAt: nil, revokedAt: nil),
            ]), .credentialRevoked, ["Locked out", "credential 1", "revoked 3 min ago"]
        ),
        (
            device(disconnected()),
            AccountFacts(credentials: [.init(id: CredentialID(1), expiresAt: ago(45), revokedAt: nil)]),
            .credentialExpired, ["Locked out", "expired 45 min ago"]
        ),
        (
            device(progress { $0.link?.isDeviceTaken = true }), account, .deviceTaken,
            ["copy of the other", "1 h ago"]
        ),
        // Two programs without an engine.
        (device(takenWithoutEngine), account, .nothingWrong, ["Nothing is wrong"]),
        (
            device(
                progress {
                    $0.throttled(
                        Throttling(
                            kind: "fetch_zone_changes", limit: "Too many fetches.", at: ago(1),
                            until: Timestamp(milliseconds: now.milliseconds + 20_000)))
                }, head: 12, behindSince: ago(5)), account, .throttled,
            ["20 s more", "fetch_zone_changes", "Too many fetches."]
        ),
        (
            device(
                progress {
                    $0.sentRecords(
                        refused: RecordsRefusal(code: FailureReason.fieldsInvalid.rawValue, count: 3, at: ago(4)),
                        at: ago(4))
                }), account, .recordRefused, ["4 min ago", "3 changes were refused", "fieldsInvalid"]
        ),
        (
            device(
                progress {
                    $0.sentRecords(
                        refused: RecordsRefusal(code: FailureReason.quotaExceeded.rawValue, count: 1, at: ago(4)),
                        at: ago(4))
                }), account, .quotaExceeded, ["1 change was refused", "quotaExceeded"]
        ),
        (
            device(
                progress { progress in
                    for _ in 0..<3 { progress.expired(.zone(ZoneID(3), key), asked: 5, at: ago(1)) }
                }), account, .tokenExpired, ["again and again", "the zone Notes", "3 times"]
        ),
        (
            device(
                progress { progress in
                    progress.pushed(at: ago(6))
                    progress.missedPushes(1)
                }, head: 11, behindSince: ago(6)), account, .pushMissed,
            ["sent 6 min ago and was not acknowledged", "never acknowledged"]
        ),
        (
            device(disconnected(), head: 13, behindSince: ago(29)), account, .notConnected,
            ["was last connected 30 min ago", "behind by 3 changes, the first of them made 29 min ago."]
        ),
        (
            device(disconnected { $0.pending = pending(.connection) }), account, .notConnected,
            ["was last connected 30 min ago. 2 min ago it had 3 changes to send."]
        ),
        (
            device(
                disconnected {
                    $0.pending = pending(.nothing)
                    $0.sentRecords(refused: nil, at: ago(1))
                }), account, .notConnected, ["it had 3 changes to send, and has sent since."]
        ),
        // What nobody has written down for long is not believed.
        (
            device(progress(), head: 11, behindSince: ago(50), notedAt: ago(40)), account, .notConnected,
            ["was last connected 40 min ago", "behind by 1 change, made 50 min ago."]
        ),
        (
            device(progress(), head: 11, behindSince: ago(2)), account, .notFetching,
            ["is connected, and behind by 1 change, made 2 min ago."]
        ),
        // It may take a minute.
        (
            device(progress(), head: 11, behindSince: Self.now), account, .nothingWrong,
            ["wrong yet", "behind by 1 change"]
        ),
        (device(progress(), head: 11, behindSince: nil), account, .nothingWrong, ["wrong yet", "behind by 1 change"]),
        (
            device(progress { $0.pending = pending(.app, error: 25) }), account, .notSending,
            ["2 min ago it had 3 changes to send", "waits for the app", "CKError 25"]
        ),
        // What it reported when it connected is sent by now. It reports once a minute.
        (device(progress { $0.pending = pending(.nothing, minutes: 1) }), account, .nothingWrong, ["is connected"]),
        (device(progress { $0.pending = pending(.delay, minutes: 0) }), account, .nothingWrong, ["is connected"]),
        (device(progress { $0.pending = pending(.nothing) }), account, .notSending, ["waits for nothing"]),
        (device(progress { $0.pending = pending(.app, minutes: 0) }), account, .notSending, ["0 s ago"]),
        (device(progress { $0.pending = pending(.quota, minutes: 0) }), account, .notSending, ["room in the quota"]),
    ]

    @Test func `R-855: each reason why a device is behind is said in words, with what to do`() {
        for (device, account, code, words) in Self.cases {
            let findings = device.findings(in: account, at: Self.now)
            #expect(findings.first?.code == code, "\(findings)")
            for word in words { #expect(findings.first?.sentence.contains(word) == true, "\(word): \(findings)") }
            #expect(findings.allSatisfy { !$0.remedy.isEmpty && $0.sentence.hasSuffix(".") }, "\(findings)")
        }
        let found = Set(Self.cases.map(\.2))
        let ofAccounts: Set<SyncFinding.Code> = [.accountDisabled, .noCredential]
        #expect(found.union(ofAccounts) == Set(SyncFinding.Code.allCases), "each code has a case")
    }

    @Test func `R-965: a device whose server is gone is not connected, whatever that server noted last`() {
        var device = Self.device(
            Self.progress { $0.pending = Self.pending(.app) }, head: 14, behindSince: Self.ago(9), notedAt: Self.ago(1))
        let here = device.findings(in: Self.account, at: Self.now).map(\.code)
        #expect(here == [.notFetching, .notSending] && device.isConnected(at: Self.now))
        device.isServerGone = true
        let gone = device.findings(in: Self.account, at: Self.now)
        #expect(gone.map(\.code) == [.notConnected] && !device.isConnected(at: Self.now))
        #expect(gone[0].sentence.contains("It was last connected 1 min ago"))
    }

    @Test func `R-855: an account that is locked out or full is the reason for all its devices`() {
        let revoked = AccountFacts.CredentialFacts(id: CredentialID(1), expiresAt: nil, revokedAt: Self.ago(1))
        let expired = AccountFacts.CredentialFacts(id: CredentialID(2), expiresAt: Self.ago(2), revokedAt: nil)
        let full = StorageUse(byteCount: 100, bytesMax: 100, isOfAccount: true)
        let roomy = StorageUse(byteCount: 99, bytesMax: 100)
        let cases: [(AccountFacts, [SyncFinding.Code])] = [
            (Self.account, []), (AccountFacts(credentials: [revoked, expired]), [.noCredential]),
            (AccountFacts(credentials: [revoked, Self.valid]), []), (AccountFacts(), [.noCredential]),
            (AccountFacts(isDisabled: true, credentials: [Self.valid]), [.accountDisabled]),
            (AccountFacts(credentials: [Self.valid], uses: [full, roomy]), [.quotaExceeded]),
        ]
        for (account, codes) in cases { #expect(account.findings(at: Self.now).map(\.code) == codes) }
    }

    @Test func `R-855: spans of time are said as people say them, and clocks that differ say nothing`() {
        let cases: [(Int64, String)] = [
            (-5, "0 s"), (0, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h"),
            (11_520, "3 h 12 min"), (86_400, "1 day"), (260_000, "3 days"),
        ]
        for (seconds, text) in cases {
            let end = Timestamp(milliseconds: Self.now.milliseconds + seconds * 1_000)
            #expect(TimeSpan(from: Self.now, to: end).text == text)
        }
    }
}
