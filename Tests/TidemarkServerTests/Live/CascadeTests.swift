// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkStore
import TidemarkWire

/// Deletions that take many records along, over TLS and PostgreSQL.
@Suite struct CascadeTests {
    private static let airportCount = 12_579

    private func saving(
        _ client: LiveClient, _ names: some Sequence<String>, goingWith target: String?
    ) throws -> WireModifyRecords {
        let reference = FieldReference(recordName: target ?? "", action: .deleteSelf)
        let fields = [UInt8](try FieldMap(target == nil ? [] : [Field("country", .reference(reference))]).bytes)
        var request = try client.saving([], in: "world")
        request.zones[0].saves = names.map { name in
            var save = WireRecordSave()
            save.name = name
            save.type = target == nil ? "Country" : "Airport"
            save.fields = fields
            return save
        }
        return request
    }

    private func failures(_ answer: WireServerEnvelope) -> [WireFailure] {
        answer.modifyRecords.zones.flatMap(\.saves).compactMap { save in
            if case .failure(let failure)? = save.result { failure.failure } else { nil }
        }
            + answer.modifyRecords.zones.flatMap(\.deletes).compactMap { delete in
                if case .failure(let failure)? = delete.result { failure } else { nil }
            }
    }

    private func send(
        _ names: some Sequence<String>, goingWith target: String?, by client: LiveClient
    ) async throws -> [WireFailure] {
        failures(try await client.ask(.modifyRecords(saving(client, names, goingWith: target))))
    }

    @Test func `R-079, R-133, R-135: 12579 records go with one, once the container allows so many references`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                try await client.makeZone("world")
                #expect(try await send(["DE"], goingWith: nil, by: client).isEmpty)
                let first = (0..<750).map { "airport \($0)" }
                for start in [0, 375] {
                    let part = first[start..<start + 375]
                    #expect(
                        try await send(part, goingWith: "DE", by: client).isEmpty)
                }
                let over = try await send(["one more"], goingWith: "DE", by: client)
                #expect(over.map(\.code) == [.limitExceeded])
                #expect(over.first?.message.contains("set-limit") == true)
                #expect(over.first?.message.contains("The limit is 750 references per record") == true)

                let container = ContainerKey(identifier: LiveWorld.container, environment: .development)
                #expect(try await world.admin.setReferencesMax(Self.airportCount, of: container))
                for start in stride(from: 750, to: Self.airportCount, by: 400) {
                    let names = (start..<min(start + 400, Self.airportCount)).map { "airport \($0)" }
                    #expect(
                        try await send(names, goingWith: "DE", by: client).isEmpty)
                }
                let late = try await send(["one more"], goingWith: "DE", by: client)
                #expect(late.map(\.code) == [.limitExceeded])
                #expect(late.first?.message.contains("The limit is \(Self.airportCount) references per record") == true)

                let token = try await lastToken(client)
                var deleting = try client.saving([], in: "world")
                deleting.zones[0].deletes = ["DE"]
                let answer = try await client.ask(.modifyRecords(deleting))
                #expect(failures(answer).isEmpty && answer.modifyRecords.zones[0].deletes.count == 1)
                let ends = try await ends(client, since: token)
                #expect(ends.first?.name == "DE" && ends.first?.type == "Country")
                #expect(ends.count == Self.airportCount + 1)
                #expect(Set(ends.dropFirst().map(\.type)) == ["Airport"])
                #expect(Set(ends.map(\.name)).count == ends.count)
                #expect(try await client.names(in: "world").filter { !$0.isEmpty } == [])
            }
        }
    }

    private func lastToken(_ client: LiveClient) async throws -> [UInt8] {
        var token: [UInt8] = []
        for _ in 0..<1_000 {
            var request = TestClient.zoneChanges("world", token: token, limit: 1_000)
            request.desiredKeys = WireDesiredKeys()
            let page = try await client.ask(.fetchZoneChanges(request)).fetchZoneChanges
            token = page.token
            if !page.moreComing { return token }
        }
        throw LiveError("a feed without an end")
    }

    private func ends(_ client: LiveClient, since token: [UInt8]) async throws -> [WireRecordEnd] {
        var token = token
        var ends: [WireRecordEnd] = []
        for _ in 0..<1_000 {
            let request = TestClient.zoneChanges("world", token: token, limit: 1_000)
            let page = try await client.ask(.fetchZoneChanges(request)).fetchZoneChanges
            ends += page.changes.map(\.deleted)
            token = page.token
            if !page.moreComing { return ends }
        }
        throw LiveError("a feed without an end")
    }
}
