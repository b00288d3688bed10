// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkSessions
import TidemarkWire

/// Shares whose records are short, and which have as many people with as long addresses as a share may have.
@Suite struct ShareHandlersBytesTests {
    private static let zoneCount = 12
    /// Of all fields in an answer. One share's people have half as much.
    private static let answerBytesMax = 65_536

    /// Alice in a world with such shares.
    private func withShares() throws -> TestClient {
        let world = SessionWorld {
            $0.limits.answerBytesMax = Self.answerBytesMax
            // A page of a query is bounded by how many shares it has.
            $0.limits.pageSharesMax = 2
        }
        let alice = try world.enter("alice", device: 1)
        for number in 0..<Self.zoneCount {
            try alice.makeZone("zone \(number)")
            var request = try alice.saving(Share.zoneWideName, in: "zone \(number)")
            request.zones[0].saves[0].type = Share.recordType
            request.zones[0].saves[0].fields = [UInt8](FieldMap().bytes)
            request.zones[0].saves[0].share.publicPermission = .noAccess
            request.zones[0].saves[0].share.setsParticipants = true
            request.zones[0].saves[0].share.participants = (1..<Limits().participantsMax).map { person in
                var participant = WireParticipantSave()
                participant.id = [UInt8](repeating: UInt8(person), count: 16)
                let name = "\(person)@"
                participant.email = name + String(repeating: "x", count: Limits().addressBytesMax - name.count)
                participant.role = .privateUser
                participant.permission = .readOnly
                return participant
            }
            let answer = try alice.ask(.modifyRecords(request))
            guard case .modifyRecords(let records)? = answer, case .saved? = records.zones.first?.saves.first?.result
            else { throw SessionWorld.Unexpected(answer) }
        }
        return alice
    }

    /// The bytes of the newest answer. One record may be beyond the bound, whatever comes with it.
    private func expectWithinBound(_ client: TestClient) throws {
        let answer = try #require(client.inbox.last)
        let oneShare = Limits().participantsMax * 400
        #expect(answer.encoded.count <= Self.answerBytesMax + oneShare)
    }

    @Test func `R-716, I-7: a share's people count in an answer with records`() throws {
        let alice = try withShares()
        var request = WireFetchRecords()
        request.database = .private
        request.zones = (0..<Self.zoneCount).map { number in
            var part = WireZoneRecordNames()
            part.zone = TestClient.zone("zone \(number)")
            part.names = [Share.zoneWideName]
            return part
        }
        let answer = try alice.ask(.fetchRecords(request))
        guard case .fetchRecords(let records)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(records.results.first?.record.share.participants.count == Limits().participantsMax)
        try expectWithinBound(alice)
    }

    @Test func `R-716, I-7: as many full shares as a page of a query brings fit in an answer`() throws {
        let alice = try withShares()
        var request = WireQueryRecords()
        request.database = .private
        request.query.recordType = Share.recordType
        let answer = try alice.ask(.queryRecords(request))
        guard case .queryRecords(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(page.matches.map(\.record.share.participants.count) == [100, 100] && !page.cursor.isEmpty)
        // As many such shares as a page of the server's own size may have, whose people have accepted and are named.
        let limits = Limits()
        let namesBytes = limits.participantsMax * 64
        let share = try #require(alice.inbox.last).encoded.count / 2 + namesBytes
        #expect(limits.participantsMax == 100 && share * limits.pageSharesMax <= limits.answerBytesMax)
    }

    @Test func `R-716, I-7: a share's people count in an answer with metadata`() throws {
        let alice = try withShares()
        var links: [String] = []
        for number in 0..<Self.zoneCount {
            let answer = try alice.ask(.fetchZoneChanges(TestClient.zoneChanges("zone \(number)")))
            guard case .fetchZoneChanges(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
            links += page.changes.map(\.record.share.link)
        }
        var request = WireFetchShareMetadata()
        request.links = links
        let answer = try alice.ask(.fetchShareMetadata(request))
        guard case .fetchShareMetadata(let metadata)? = answer else { throw SessionWorld.Unexpected(answer) }
        #expect(metadata.results.count == Self.zoneCount)
        try expectWithinBound(alice)
    }
}
