// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestSupport

/// `CKSyncEngine` on TestKit and on a real server: delegates hear the same, in the same order.
@Suite struct EngineConformanceTests {
    /// - Returns: if it syncs automatically, when it has fetched for the first time.
    private static func app(
        _ cloud: any ConformingCloud, automatically: Bool
    ) async throws -> (device: any ConformingDevice, app: Device) {
        let device = try await cloud.device(of: "alice")
        let app = Device(device.container, automatically: automatically)
        if automatically {
            try await cloud.run(until: "the first fetch has ended") { app.heard.last == "did fetch" }
        }
        return (device, app)
    }

    /// Returns when that is done, so that what follows goes with a send of its own.
    private static func makeZone(_ app: Device, _ cloud: any ConformingCloud) async throws {
        app.makeZone(Both.notes)
        try await cloud.run(until: "the zone is there") {
            app.heard.contains("sent zones Notes") && isIdle(app)
        }
    }

    /// NB: a push may have led to a fetch after a send, at any time (I-4).
    private static func isIdle(_ app: Device) -> Bool {
        app.heard.last == "did send" || app.heard.last == "did fetch"
    }

    @Test func `R-507, R-508, R-532, R-536: automatic sync, from a change on one device to the event on the other`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let other = try await cloud.device(of: "alice").database
            let (_, app) = try await Self.app(cloud, automatically: true)
            let begin = app.heard.prefix(3)
            try await Self.makeZone(app, cloud)
            app.write("one", to: "n", in: Both.notes)
            try await cloud.run(until: "it is sent") { app.heard.contains("sent records n=one") }
            let subscriptions = try await other.allSubscriptions().map(\.subscriptionType)
            #expect(subscriptions == [.database])
            let edited = try await other.record(for: Both.id("n"))
            edited["text"] = "two"
            try await other.save(edited)
            try await cloud.run(until: "the push has led to a fetch") {
                app.heard.contains("records n=two") && app.heard.last == "did fetch"
            }
            return begin + ["then:"] + app.tale
        }
        #expect(
            seen == [
                "sign in", "will fetch, scheduled", "did fetch", "then:", "sign in",
                "will send, scheduled", "sent zones Notes", "did send", "will send, scheduled", "sent records n=one",
                "did send",
                "will fetch, scheduled", "zones Notes", "will fetch Notes", "records n=two", "did fetch Notes",
                "did fetch",
            ])
    }

    @Test func `R-505, R-534, R-586: by hand, and a conflict between two devices that were offline`() async throws {
        let seen = try await Both.clouds { cloud in
            let (phone, a) = try await Self.app(cloud, automatically: false)
            let (_, b) = try await Self.app(cloud, automatically: false)
            a.makeZone(Both.notes)
            a.write("start", to: "n", in: Both.notes)
            try await a.engine?.sendChanges()
            try await b.engine?.fetchChanges()
            phone.goOffline()
            a.write("of a", to: "n", in: Both.notes)
            b.write("of b", to: "n", in: Both.notes)
            try await b.engine?.sendChanges()
            let offline = try await failure { try await a.engine?.sendChanges() }
            #expect([.networkFailure, .networkUnavailable].contains(offline.networkCode))
            phone.goOnline()
            var codes: [String] = []
            // The server's version wins in this app: nothing is left to send.
            try await cloud.run(until: "there is a network again, and it has been sent") {
                do {
                    try await a.engine?.sendChanges()
                } catch let error as CKError where [.networkFailure, .networkUnavailable].contains(error.networkCode) {
                    return false
                } catch let error as CKError where error.code == .partialFailure {
                    codes.append("\(error.code)")
                }
                return a.engine?.state.pendingRecordZoneChanges.isEmpty == true
            }
            let conflict = a.events.compactMap { event -> CKError? in
                guard case .sentRecordZoneChanges(let sent) = event else { return nil }
                return sent.failedRecordSaves.first { $0.error.code == .serverRecordChanged }?.error
            }
            // How often it was tried without a network is a matter of time.
            let sent = a.heard.filter { $0.hasPrefix("sent") && !$0.contains("network") }
            return codes + sent + ["b:"] + b.heard + conflict.map(Both.told) + ["\(a.texts) \(b.texts)"]
        }
        #expect(
            seen == [
                "partialFailure", "sent zones Notes", "sent records n=start",
                "sent records n=of a serverRecordChanged", "b:",
                "sign in", "will fetch, manual", "zones Notes", "will fetch Notes", "records n=start",
                "did fetch Notes",
                "did fetch", "will send, manual", "sent records n=of b", "did send",
                "serverRecordChanged server(text=of b) client(text=of a) ancestor(text=start)",
                #"["n": "of b"] ["n": "of b"]"#,
            ])
    }

    @Test func `R-500, R-536: edits of two devices that start offline, and both come back`() async throws {
        let seen = try await Both.clouds { cloud in
            let (phone, a) = try await Self.app(cloud, automatically: true)
            let (laptop, b) = try await Self.app(cloud, automatically: true)
            a.makeZone(Both.notes)
            a.write("start", to: "n", in: Both.notes)
            try await cloud.run(until: "both have it") {
                b.texts == ["n": "start"] && a.heard.contains("sent records n=start")
            }
            // Started without a network, so that nothing of the edits is under way when it goes.
            for (device, app) in [(phone, a), (laptop, b)] {
                device.goOffline()
                app.quit()
                app.start()
            }
            a.write("of a", to: "n", in: Both.notes)
            a.write("more of a", to: "m", in: Both.notes)
            b.write("of b", to: "n", in: Both.notes)
            laptop.goOnline()
            let other = try await cloud.device(of: "alice").database
            try await cloud.run(until: "b's is there") { try await other.record(for: Both.id("n"))["text"] == "of b" }
            phone.goOnline()
            // It fetches before it sends, and this app's pending edits stay on top of what came.
            let end = ["n": "of a", "m": "more of a"]
            try await cloud.run(until: "both are equal") { a.texts == end && b.texts == end }
            let stored = [try await other.record(for: Both.id("n")), try await other.record(for: Both.id("m"))]
            return stored.map(Both.text)
        }
        #expect(seen == ["text=of a", "text=more of a"])
    }

    @Test func `R-157, R-373: an engine whose answer is lost sends once, and tells of it once`() async throws {
        let seen = try await Both.clouds { cloud in
            let (device, app) = try await Self.app(cloud, automatically: true)
            try await Self.makeZone(app, cloud)
            device.loseNextAnswer()
            app.write("one", to: "n", in: Both.notes)
            try await cloud.run(until: "it is sent") { app.heard.contains("sent records n=one") }
            let other = try await cloud.device(of: "alice").database
            let page = try await other.recordZoneChanges(inZoneWith: Both.notes, since: nil)
            let sent = app.heard.filter { $0.hasPrefix("sent records") }
            return sent + ["\(device.lostAnswerCount) lost", "\(page.modificationResultsByID.count) in the feed"]
        }
        #expect(seen == ["sent records n=one", "1 lost", "1 in the feed"])
    }

    @Test func `R-372, R-374: a throttled engine sends when the time is over, not before`() async throws {
        let seen = try await Both.clouds { cloud in
            let (device, app) = try await Self.app(cloud, automatically: true)
            try await Self.makeZone(app, cloud)
            let begin = cloud.elapsed
            device.throttle(for: .seconds(4))
            let error = try await failure { try await device.database.allRecordZones() }
            app.write("one", to: "n", in: Both.notes)
            try await cloud.run(until: "it is sent") { app.heard.contains("sent records n=one") }
            let waited = cloud.elapsed - begin
            #expect(waited >= .seconds(4), "\(waited)")
            #expect((0.1...4).contains(error.retryAfterSeconds ?? 0))
            return ["\(error.code)"] + app.heard.filter { $0.hasPrefix("sent records") }
        }
        #expect(seen == ["requestRateLimited", "sent records n=one requestRateLimited", "sent records n=one"])
    }

    @Test func `R-561, R-563, R-564: signing out, in and over to somebody else`() async throws {
        let seen = try await Both.clouds { cloud in
            let (device, app) = try await Self.app(cloud, automatically: true)
            try await Self.makeZone(app, cloud)
            app.write("one", to: "n", in: Both.notes)
            try await cloud.run(until: "it is sent") { app.heard.contains("sent records n=one") }
            try await cloud.run(until: "the send has ended") { Self.isIdle(app) }
            device.signOut()
            try await cloud.run(until: "it is told") { app.heard.last == "sign out" }
            #expect(try await device.container.accountStatus() == .noAccount)
            var texts = ["\(app.texts)"]
            try await device.signIn(as: "bob")
            try await cloud.run(until: "bob is told, and has nothing") {
                app.heard.count { $0 == "sign in" } == 2 && app.heard.last == "did fetch"
            }
            texts.append("\(app.texts)")
            try await device.signIn(as: "alice")
            try await cloud.run(until: "alice's data is back") {
                app.texts == ["n": "one"] && app.heard.last == "did fetch"
            }
            return app.tale + texts
        }
        #expect(
            seen == [
                "sign in", "will send, scheduled", "sent zones Notes", "did send", "will send, scheduled",
                "sent records n=one",
                "did send",
                "sign out", "sign in", "switch accounts", "will fetch, scheduled", "zones Notes", "will fetch Notes",
                "records n=one", "did fetch Notes", "did fetch", "[:]", "[:]",
            ])
    }

    @Test func `R-205, R-552: zones that end, and tokens that expire, under an engine`() async throws {
        let seen = try await Both.clouds { cloud in
            let other = try await cloud.device(of: "alice").database
            let zones = ["Deleted", "Purged", "Reset"].map { CKRecordZone.ID(zoneName: $0) }
            for zone in zones + [Both.notes] { try await other.save(CKRecordZone(zoneID: zone)) }
            try await other.save(Both.note("n", ["text": "one"]))
            let (_, app) = try await Self.app(cloud, automatically: false)
            try await app.engine?.fetchChanges()
            let count = app.heard.count
            try await other.deleteRecordZone(withID: zones[0])
            try await cloud.purge(zones[1], of: "alice")
            try await cloud.resetEncryptedData(in: zones[2], of: "alice")
            try await app.engine?.fetchChanges()
            try await cloud.expireTokens()
            try await cloud.run(until: "it is fetched anew") { (try? await app.engine?.fetchChanges()) != nil }
            return app.heard.dropFirst(count).filter { line in
                line.hasPrefix("zones") || line.hasPrefix("records") || line.hasPrefix("did fetch Notes")
            }
        }
        // Who begins anew in another life of the store hears of no ends again: what they ended may have been made since.
        #expect(
            seen == [
                "zones -Deleted deleted -Purged purged -Reset encryptedDataReset", "zones Notes", "records n=one",
                "did fetch Notes, all of it: anotherLife",
            ])
    }

    @Test func `R-221, R-552: deletions that are forgotten before a device heard of them are told by what is absent`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let other = try await cloud.device(of: "alice").database
            try await other.save(CKRecordZone(zoneID: Both.notes))
            for name in ["deleted", "kept"] { try await other.save(Both.note(name, ["text": "one"])) }
            let (_, app) = try await Self.app(cloud, automatically: false)
            try await app.engine?.fetchChanges()
            let count = app.heard.count
            try await other.deleteRecord(withID: Both.id("deleted"))
            try await cloud.forgetDeletions()
            try await app.engine?.fetchChanges()
            let ends = app.events.compactMap { event in
                if case .didFetchRecordZoneChanges(let end) = event { end.fullFetch } else { nil }
            }
            let absent = ends.flatMap { $0.recordIDsNotFetched(among: ["deleted", "kept"].map { Both.id($0) }) }
            return app.heard.dropFirst(count).filter { $0.hasPrefix("zones") || $0.hasPrefix("did fetch Notes") }
                + absent.map { "absent: \($0.recordName)" }
        }
        #expect(
            seen == [
                "zones Notes", "did fetch Notes, all of it: deletionsForgotten",
                "absent: deleted",
            ])
    }
}

extension EngineConformanceTests {
    @Test func `R-352, R-354, R-567: a credential that is refused, and good again`() async throws {
        let seen = try await Both.clouds { cloud in
            let (device, app) = try await Self.app(cloud, automatically: true)
            try await Self.makeZone(app, cloud)
            try await cloud.suspend("alice")
            try await cloud.run(until: "it is refused") {
                try await device.container.accountStatus() == .temporarilyUnavailable
            }
            app.write("one", to: "n", in: Both.notes)
            let refusal = await Both.told { try await device.database.save(Both.note("m", [:])) }
            try await cloud.resume("alice")
            try await cloud.run(until: "it is sent") { app.heard.contains("sent records n=one") }
            let status = try await device.container.accountStatus()
            let stored = try await cloud.device(of: "alice").database.record(for: Both.id("n"))
            let told = app.heard.filter { $0.hasPrefix("sent records n=one") || $0.hasPrefix("sign") }
            return [refusal, "\(status == .available)", Both.text(stored)] + told
        }
        #expect(seen == ["accountTemporarilyUnavailable", "true", "text=one", "sign in", "sent records n=one"])
    }

    @Test func `R-373, R-536: connections that are cut are not noticed by an app, and pushes come over the next`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (phone, a) = try await Self.app(cloud, automatically: true)
            let (laptop, b) = try await Self.app(cloud, automatically: true)
            try await Self.makeZone(a, cloud)
            for (number, device) in [phone, laptop, phone, laptop].enumerated() {
                device.cutConnections()
                a.write("\(number)", to: "n", in: Both.notes)
                try await cloud.run(until: "the other has it") { b.texts == ["n": "\(number)"] }
            }
            return a.heard.filter { $0.hasPrefix("sent records") } + ["\(a.texts)"]
        }
        #expect(
            seen == [
                "sent records n=0", "sent records n=1", "sent records n=2", "sent records n=3", #"["n": "3"]"#,
            ])
    }

    @Test func `R-507: when a device deletes all subscriptions, engines make theirs again and miss nothing`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (_, connected) = try await Self.app(cloud, automatically: true)
            let (phone, away) = try await Self.app(cloud, automatically: true)
            let other = try await cloud.device(of: "alice").database
            try await Self.makeZone(connected, cloud)
            func deleteAll() async throws {
                let ids = try await other.allSubscriptions().map(\.subscriptionID)
                _ = try await other.modifySubscriptions(saving: [], deleting: ids)
            }
            func edit(_ text: String) async throws {
                let note = try await other.record(for: Both.id("n"))
                note["text"] = text
                try await other.save(note)
            }
            let before = cloud.elapsed
            try await deleteAll()
            try await cloud.run(until: "it is there again") { try await !other.allSubscriptions().isEmpty }
            try await other.save(Both.note("n", ["text": "one"]))
            try await cloud.run(until: "both are told") {
                connected.texts == ["n": "one"] && away.texts == ["n": "one"]
            }
            // Also when the only engine there is was away.
            phone.goOffline()
            connected.quit()
            try await deleteAll()
            try await edit("two")
            phone.goOnline()
            try await cloud.run(until: "it is there again") { try await !other.allSubscriptions().isEmpty }
            try await edit("three")
            try await cloud.run(until: "it is told") { away.texts == ["n": "three"] }
            #expect(cloud.elapsed - before < .seconds(60), "no periodic fetch was needed")
            return try await other.allSubscriptions().map(\.subscriptionID)
        }
        #expect(seen == ["tidemark-sync-engine"])
    }

    @Test func `R-519, R-582: a batch that is atomic by zone, with a conflict in it`() async throws {
        let seen = try await Both.clouds { cloud in
            let app = Device(try await cloud.device(of: "alice").container, automatically: false, isAtomic: true)
            let other = try await cloud.device(of: "alice").database
            app.makeZone(Both.notes)
            for name in ["a", "b"] { app.write("one", to: name, in: Both.notes) }
            try await app.engine?.sendChanges()
            let edited = try await other.record(for: Both.id("a"))
            edited["text"] = "theirs"
            try await other.save(edited)
            for name in ["a", "b"] { app.write("ours", to: name, in: Both.notes) }
            let error = try await failure { try await app.engine?.sendChanges() }
            var seen = ["\(error.code)", "\(app.engine?.state.pendingRecordZoneChanges.count ?? -1) pending"]
            seen += [try await other.record(for: Both.id("b"))].map(Both.text)
            // The app adds it again.
            app.write("ours", to: "b", in: Both.notes)
            try await app.engine?.sendChanges()
            seen += [try await other.record(for: Both.id("a")), try await other.record(for: Both.id("b"))].map(
                Both.text)
            return seen + app.heard.filter { $0.hasPrefix("sent records") }
        }
        #expect(
            seen == [
                "partialFailure", "0 pending", "text=one", "text=theirs", "text=ours", "sent records a=one b=one",
                "sent records a=ours serverRecordChanged b=ours batchRequestFailed", "sent records b=ours",
            ])
    }

    @Test func `R-094, R-113: two devices merge a note, its text and its tags`() async throws {
        let seen = try await Both.clouds { cloud in
            let directory = try TestDirectory()
            defer { directory.remove() }
            var apps: [Notes] = []
            for name in ["phone", "laptop"] {
                let file = URL(fileURLWithPath: directory.path).appendingPathComponent(name)
                let app = try Notes(file: file)
                let database = try await cloud.device(of: "alice").database
                await app.start(in: database, automatically: false)
                apps.append(app)
            }
            try await apps[0].write("milk", to: "shopping")
            try await apps[0].tag("shopping", "food")
            for app in apps { try await app.sync() }
            try await apps[0].write("milk, bread", to: "shopping")
            try await apps[0].tag("shopping", "today")
            try await apps[1].tag("shopping", "home")
            for app in apps + apps + apps { try await app.sync() }
            var seen: [String] = []
            for app in apps {
                let note = await app.library.notes["shopping"]
                seen.append("\(note?.text ?? "") \(note?.tags ?? [])")
            }
            return seen
        }
        let expected = #"milk, bread ["food", "today", "home"]"#
        #expect(seen == [expected, expected])
    }
}

extension CKError {
    /// Of a failed send: what its one item failed with.
    fileprivate var networkCode: CKError.Code {
        (partialErrorsByItemID?.values.first as? CKError)?.code ?? code
    }
}
