// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Testing
import TidemarkKit
import TidemarkTestSupport
import TidemarkWire

/// Why sync is stuck, as an operator sees it: with the real command, the real server, and devices that misbehave.
@Suite struct AdminXrayTests {
    /// A device that speaks the protocol itself.
    private struct RawDevice {
        let client: RawClient
        let id: UInt8
        private var lastID: UInt64 = 1
        private var counter: UInt64 = 0

        init(
            _ place: OperatorPlace, _ id: UInt8, token: String? = nil, countsPushes: Bool = false
        ) async throws {
            client = try await RawClient(place.site)
            self.id = id
            var hello = WireClientEnvelope.hello(place.site, token: token, device: id)
            hello.hello.deviceName = "device-\(id)"
            hello.hello.countsPushes = countsPushes
            try client.send(hello)
            let answer = try await client.answer(to: 1)
            guard case .hello? = answer.answer else { throw NeverHappened(description: "\(answer)") }
        }

        mutating func ask(_ request: WireClientEnvelope.OneOfRequest) async throws -> WireServerEnvelope {
            lastID += 1
            var envelope = WireClientEnvelope()
            envelope.id = lastID
            envelope.request = request
            try client.send(envelope)
            return try await client.answer(to: lastID)
        }

        private mutating func stamp() -> WireRequestStamp {
            counter += 1
            return WireRequestStamp(counter: counter)
        }

        mutating func makeZone(_ name: String) async throws {
            var request = WireModifyZones()
            request.database = .private
            request.stamp = stamp()
            request.saves = [TestClient.zone(name)]
            let answer = try await ask(.modifyZones(request))
            #expect(answer.modifyZones.saves.count == 1)
        }

        /// - Parameter fields: bytes that may be no fields.
        @discardableResult
        mutating func save(_ name: String, in zone: String, fields: [UInt8] = []) async throws -> WireServerEnvelope {
            var save = WireRecordSave()
            (save.name, save.type, save.fields) = (name, "Note", fields)
            let request = WireModifyRecords(saving: [save], in: TestClient.zone(zone), stamp())
            return try await ask(.modifyRecords(request))
        }

        mutating func fetch(_ zone: String) async throws {
            var request = WireFetchZoneChanges()
            request.database = .private
            request.zone.name = zone
            let answer = try await ask(.fetchZoneChanges(request))
            #expect(!answer.fetchZoneChanges.token.isEmpty)
        }

        mutating func subscribe() async throws {
            var subscription = WireSubscription()
            (subscription.id, subscription.kind) = ("all", .database)
            var request = WireModifySubscriptions()
            request.database = .private
            request.saves = [subscription]
            let answer = try await ask(.modifySubscriptions(request))
            #expect(answer.modifySubscriptions.saves.count == 1)
        }
    }

    private static let flags = ["--create-containers", "--device-seconds", "1"]

    /// The finding of one device, once it is there.
    private func finding(
        _ code: String, of device: UInt8, _ account: String = "alice", in place: OperatorPlace,
        within limit: Duration = .seconds(30)
    ) async throws -> [String: Any] {
        let mark = String(repeating: String(format: "%02x", device), count: 4)
        var found: [String: Any]?
        var output = ""
        do {
            try await eventually("\(code) of device \(device)", within: limit) {
                output = try await place.admin("xray", account, "-o", "json").output
                found = lines(output).first {
                    $0["kind"] as? String == "finding" && $0["code"] as? String == code
                        && $0["device"] as? String == mark
                }
                return found != nil
            }
        } catch {
            throw NeverHappened(description: "\(error)\n\(output)")
        }
        return try #require(found)
    }

    private func lines(_ output: String) -> [[String: Any]] {
        output.split(separator: "\n").compactMap { line in
            try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        }
    }

    @Test func `R-854, R-855: a device that is behind, one whose record was refused, and one with nothing wrong`()
        async throws
    {
        try await OperatorPlace.with(Self.flags) { place in
            let early = try await place.admin("xray", "alice")
            #expect(early.status == 0 && early.output.contains("No device of alice has ever connected"))
            #expect(try await place.admin("xray", "nobody").status != 0)

            var behind = try await RawDevice(place, 1)
            try await behind.makeZone("Notes")
            try await behind.fetch("Notes")
            behind.client.disconnect()
            var writer = try await RawDevice(place, 2)
            for name in ["a", "b", "c"] { try await writer.save(name, in: "Notes") }
            try await writer.fetch("Notes")
            let why = try await finding("not-connected", of: 1, in: place)
            let sentence = try #require(why["sentence"] as? String)
            #expect(sentence.contains("It was last connected") && sentence.contains("behind by 3 changes"))
            _ = try await finding("nothing-wrong", of: 2, in: place)

            var refused = try await RawDevice(place, 3)
            try await refused.save("bad", in: "Notes", fields: [1, 2, 3])
            let refusal = try await finding("record-refused", of: 3, in: place)
            #expect((refusal["sentence"] as? String)?.contains("1 change was refused (fieldsInvalid)") == true)
            #expect((refusal["remedy"] as? String)?.isEmpty == false)

            // The same for people, and the parts from which it follows.
            let screen = try await place.admin("xray", "alice").output
            for word in ["not-connected", "behind by 3 changes", "fieldsInvalid", "Notes", "fetch_zone_changes"] {
                #expect(screen.contains(word), "\(word):\n\(screen)")
            }
            let json = lines(try await place.admin("xray", "alice", "-o", "json").output)
            let device = try #require(
                json.first { $0["kind"] as? String == "device" && $0["name"] as? String == "device-2 (test)" })
            #expect(device["connected"] as? Bool == true && device["behind"] as? Int == 0)
            #expect((device["server"] as? String)?.hasSuffix("/\(place.server.id)") == true)
            let feed = try #require(
                json.first { $0["kind"] as? String == "feed" && $0["device"] as? String == "01010101" })
            #expect(feed["zone"] as? String == "Notes" && feed["behind"] as? Int == 3 && feed["head"] as? Int == 3)
            let request = try #require(json.first { $0["kind"] as? String == "request" })
            #expect((request["uuid"] as? String)?.firstMatch(of: /^[0-9A-F]{8}-[0-9A-F]{4}-8/) != nil)
            for client in [writer.client, refused.client] { client.disconnect() }
        }
    }

    // MARK: Asking servers

    /// A server with these writes by itself once in an hour.
    private static let seldom = ["--create-containers", "--device-seconds", "3600"]

    private func connections(_ place: OperatorPlace) async throws -> (
        rows: [(name: String, live: Bool?)], output: String
    ) {
        let listed = try await place.admin("connections", "list", "alice", "-o", "json")
        #expect(listed.status == 0, "\(listed.output)")
        let rows = lines(listed.output).map { (name: $0["name"] as? String ?? "", live: $0["live"] as? Bool) }
        return (rows.sorted { $0.name < $1.name }, listed.output)
    }

    /// A command waits 3 seconds for servers, and a machine under load may take longer.
    private func connections(_ place: OperatorPlace, areLive expected: [Bool?]) async throws -> (
        names: [String], output: String
    ) {
        var list = try await connections(place)
        try await eventually("live: \(expected)", within: .seconds(120)) {
            list = try await connections(place)
            return list.rows.map(\.live) == expected
        }
        return (list.rows.map(\.name), list.output)
    }

    @Test func `R-965: xray and the list of connections show what is so now`() async throws {
        try await OperatorPlace.with(Self.seldom) { place in
            var device = try await RawDevice(place, 1)
            try await device.makeZone("Notes")
            #expect(try await connections(place, areLive: [true]).names == ["device-1 (test)"])
            try await device.save("a", in: "Notes")
            try await eventually("the requests are shown", within: .seconds(120)) {
                let xray = lines(try await place.admin("xray", "alice", "-o", "json").output)
                let requests = xray.filter { $0["kind"] as? String == "request" }
                    .compactMap { $0["request"] as? String }
                return Set(requests) == ["modify_zones", "modify_records"]
                    && xray.contains { $0["kind"] as? String == "device" && $0["connected"] as? Bool == true }
            }
            device.client.disconnect()
            #expect(try await connections(place, areLive: []).names.isEmpty, "the connection is gone")
        }
    }

    @Test func `R-965: a server that does not answer is named, and one that died has no live connection`() async throws
    {
        try await OperatorPlace.with(Self.seldom) { place in
            let (server, port) = try await OperatorPlace.serve(
                Self.seldom + ["--plain"], on: place.database.url, in: place.directory)
            var site = Site(url: "ws://127.0.0.1:\(port)", authorityFile: "", tokens: place.site.tokens)
            site.container = place.site.container
            let other = OperatorPlace(
                directory: place.directory, database: place.database, server: server, site: site)
            let here = try await RawDevice(place, 1)
            let there = try await RawDevice(other, 2)
            let names = ["device-1 (test)", "device-2 (test)"]
            #expect(try await connections(place, areLive: [true, true]).names == names)

            server.signal(SIGSTOP)
            defer { server.signal(SIGCONT) }
            let silent = try await connections(place, areLive: [true, nil])
            #expect(silent.names == names, "\(silent.output)")
            let remark = silent.output.split(separator: "\n").first { $0.contains("did not answer within 3 seconds") }
            #expect(remark?.contains("/\(server.id) ") == true && remark?.contains("Its newest line is") == true)

            try await server.killNow()
            let dead = try await connections(place, areLive: [true, false])
            #expect(dead.output.contains("1 connection is of a server that died") && dead.names == names)
            let xray = lines(try await place.admin("xray", "alice", "-o", "json").output)
            let connected = xray.filter { $0["kind"] as? String == "device" }
                .compactMap { device in (device["connected"] as? Bool).map { (device["name"] as? String ?? "", $0) } }
            #expect(Set(connected.filter(\.1).map(\.0)) == ["device-1 (test)"] && connected.count == 2)
            for client in [here.client, there.client] { client.disconnect() }
        }
    }

    @Test func `R-854, R-855: a device that must wait, and one that is locked out`() async throws {
        try await OperatorPlace.with(Self.flags) { place in
            var throttled = try await RawDevice(place, 1)
            try await throttled.makeZone("Notes")
            var lookups = WireFetchShareParticipants()
            lookups.lookups = (0..<60).map { number in
                var lookup = WireParticipantLookup()
                lookup.email = "n\(number)@example.org"
                return lookup
            }
            // 60 addresses in a minute.
            for _ in 0..<2 { _ = try await throttled.ask(.fetchShareParticipants(lookups)) }
            let wait = try await finding("throttled", of: 1, in: place)
            let sentence = try #require(wait["sentence"] as? String)
            #expect(sentence.contains("Throttled for") && sentence.contains("fetch_share_participants"))

            let token = try await place.makeAccount("bob")
            let other = try await RawDevice(place, 2, token: token)
            _ = try await finding("nothing-wrong", of: 2, "bob", in: place)
            let list = try await place.admin("credentials", "list", "bob", "-o", "name").output
            let number = try #require(list.split(separator: "\n").first.map(String.init))
            #expect(try await place.admin("credentials", "revoke", number).status == 0)
            try await eventually("it is cut off") { other.client.isClosed }
            let locked = try await finding("credential-revoked", of: 2, "bob", in: place)
            #expect((locked["sentence"] as? String)?.contains("Locked out: credential \(number)") == true)
            let whole = lines(try await place.admin("xray", "bob", "-o", "json").output)
            #expect(whole.contains { $0["code"] as? String == "no-credential" && $0["device"] as? String == "all" })
            throttled.client.disconnect()
        }
    }

    @Test func `R-854, R-855, R-261: a device whose push was lost`() async throws {
        try await OperatorPlace.with(Self.flags) { place in
            var silent = try await RawDevice(place, 1, countsPushes: true)
            try await silent.makeZone("Notes")
            try await silent.subscribe()
            var writer = try await RawDevice(place, 2)
            try await writer.save("a", in: "Notes")
            // It is reminded after ten seconds, and counted ten seconds later.
            let missed = try await finding("push-missed", of: 1, in: place, within: .seconds(90))
            let sentence = try #require(missed["sentence"] as? String)
            #expect(sentence.contains("was not acknowledged") && sentence.contains("never acknowledged"))
            for client in [silent.client, writer.client] { client.disconnect() }
        }
    }

    @Test func `R-856: explain says which role gives which right, and whether an account may create a record`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let bob = place.database(.public, token: try place.makeAccounts(["bob"])[0])
            let id = CKRecord.ID(recordName: "p1")
            try await place.database(.public).save(CKRecord(recordType: "Page", recordID: id))
            #expect(try await bob.record(for: id).recordType == "Page")
            func explain(_ account: String, _ record: String, _ more: String...) async throws -> [String: Any] {
                let arguments = ["explain", account, record, "--container", place.site.container, "-o", "json"]
                let explained = try await place.admin(arguments + more)
                #expect(explained.status == 0, "\(explained.output)")
                return try #require(lines(explained.output).first)
            }
            let creator = try await explain("alice", "p1")
            #expect((creator["byRole"] as? [String: String])?["_creator"] == "read, change")
            let other = try await explain("bob", "p1")
            #expect((other["byRole"] as? [String: String]) == ["_icloud": "create", "_world": "read"])
            #expect(other["may"] as? String == "read, create" && other["rule"] as? String == "R-008")
            let unknown = try await place.admin("explain", "bob", "p2", "--container", place.site.container)
            #expect(unknown.status != 0 && unknown.output.contains("--type"))
            #expect(try await explain("bob", "p2", "--type", "Page")["may"] as? String == "read, create")
        }
    }

    @Test func `R-853, R-854: an engine's unsent changes are on the screen, and the watch shows what changes`()
        async throws
    {
        try await OperatorPlace.with(Self.flags) { place in
            let watch = try Program(
                "tidemark", ["admin", "xray", "alice", "--watch", "-o", "json"],
                environment: ["TIDEMARK_DATABASE_URL": place.database.url], directory: place.directory.path)
            let device = Device(place.container(), automatically: false)
            device.write("text", to: "n1", in: CKRecordZone.ID(zoneName: "Notes"))
            try await eventually("the watch shows what is pending", within: .seconds(90)) {
                lines(watch.output).contains {
                    $0["kind"] as? String == "device" && ($0["pending"] as? Int ?? 0) > 0 && $0["waitsFor"] is String
                }
            }
            try await watch.stop()
        }
    }
}
