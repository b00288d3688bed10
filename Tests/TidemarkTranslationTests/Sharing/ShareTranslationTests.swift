// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkWire

@testable import TidemarkTranslation

@Suite struct ShareTranslationTests {
    private static let bob = UserID(20)
    private static let bobName = "_" + String(repeating: "b", count: 32)

    private static var viewpoint: Viewpoint {
        var viewpoint = Examples.viewpoint
        viewpoint.userNames = [bob: bobName]
        return viewpoint
    }

    private func save(_ participants: [WireParticipantSave] = []) -> WireRecordSave {
        var save = Examples.save(Share.zoneWideName, fields: FieldMap())
        save.type = Share.recordType
        save.share.publicPermission = .readOnly
        save.share.participants = participants
        save.share.setsParticipants = true
        return save
    }

    private func participant(_ change: (inout WireParticipantSave) -> Void) -> WireParticipantSave {
        var participant = WireParticipantSave()
        participant.id = Array(1...16)
        change(&participant)
        return participant
    }

    private func read(_ save: WireRecordSave) throws -> RecordSave? {
        var request = Examples.modifyRecords
        request.zones[0].saves = [save]
        request.zones = [request.zones[0]]
        let parts = try RecordsPart.parts(of: request, by: Self.viewpoint, limits: Examples.limits)
        guard case .request(let records)? = parts.first else { return nil }
        return records.saves.first
    }

    @Test func `R-310, R-314: participants are invited by name and by address, in their normal forms`() throws {
        let share = try #require(
            try read(
                save([
                    participant { $0.user = Self.bobName },
                    participant { ($0.email, $0.role) = ("Ann@Example.org", .administrator) },
                    participant { ($0.phone, $0.permission) = ("+354 555-0100", .readWrite) },
                    participant { $0.user = "_nobody" }, participant { $0.phone = "555" }, participant { _ in },
                ]))?.share)
        #expect(share.publicPermission == .readOnly && share.recordName == Share.zoneWideName && share.tag == nil)
        let participants = try #require(share.participants)
        #expect(
            participants.map(\.person) == [
                .user(Self.bob), .address("ann@example.org"), .address("+3545550100"), nil, nil, nil,
            ])
        #expect(participants.map(\.role) == [.privateUser, .administrator] + Array(repeating: .privateUser, count: 4))
        #expect(participants.map(\.permission)[0...2] == [.readOnly, .readOnly, .readWrite])
        #expect(participants[0].id == ParticipantID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10))
        #expect(participants[0].id.bytes == Array(1...16))
        #expect(
            ShareSave.namedUsers(in: save([participant { $0.user = "x" }, participant { $0.email = "y" }])).invited == [
                "x"
            ])
    }

    @Test func `R-307: what a save does not say of a share stays`() throws {
        var fields = save()
        fields.share = WireShareSave()
        #expect(try #require(try read(fields)?.share).isAboutFields)
        var older = Examples.save(Share.zoneWideName, fields: FieldMap())
        older.type = Share.recordType
        #expect(try #require(try read(older)?.share).isAboutFields)
        #expect(try #require(try read(Examples.save("a"))).share == nil)
    }

    @Test func `R-042, R-331: the keys of a title and the like are for shares alone`() throws {
        let fields = try FieldMap([Field("cloudkit.title", .string("t"))], keys: .share)
        var share = save()
        share.fields = fields.bytes
        #expect(try read(share)?.fieldsFailure == nil)
        #expect(try read(Examples.save("a", fields: fields))?.fieldsFailure == .fieldsInvalid)
    }

    @Test func `I-6: impossible participants are refused`() {
        for change in [
            { $0.id = [1] }, { $0.role = .unrecognized(9) }, { $0.permission = .unrecognized(9) },
        ] as [(inout WireParticipantSave) -> Void] {
            #expect(throws: Refusal.self) { try read(save([participant(change)])) }
        }
    }

    // MARK: What is shown

    private func share(named names: [UserID: PersonName] = [:]) throws -> ShownShare {
        let sharing = ZoneSharing(
            owner: Examples.user, shares: [Share(number: ShareNumber(4), publicPermission: .noAccess)],
            participants: [
                ShareNumber(4): [
                    Participant(
                        id: ParticipantID(high: 1, low: 1), user: Self.bob, permission: .readWrite, status: .accepted,
                        acceptedNumber: 5, addedAt: Timestamp(milliseconds: 10)),
                    Participant(
                        id: ParticipantID(high: 1, low: 2), address: "ann@example.org",
                        addedAt: Timestamp(milliseconds: 20)),
                    Participant(
                        id: ParticipantID(high: 1, low: 3), address: "+3545550100", addedAt: Timestamp(milliseconds: 30)
                    ),
                ]
            ], secret: [0xAB, 1], personNames: names)
        return try #require(sharing.share(named: Share.zoneWideName, shownTo: Examples.user))
    }

    private func record() -> RecordState {
        RecordState(
            name: Share.zoneWideName, type: Share.recordType, fields: FieldMap(), changeNumber: 5, isDeleted: false,
            parent: nil, createdAt: Timestamp(milliseconds: 1), createdBy: Examples.user,
            createdByDevice: Examples.device, modifiedAt: Timestamp(milliseconds: 1), modifiedBy: Examples.user,
            batchEnd: 5)
    }

    @Test func `R-970: a one-time link begins with the hash of the zone's secret, and is told with its participant`()
        throws
    {
        let row = Participant(
            id: ParticipantID(high: 1, low: 1), linkSecret: [0xCD, 2], addedAt: Timestamp(milliseconds: 30))
        let sharing = ZoneSharing(
            owner: Examples.user, shares: [Share(number: ShareNumber(4), publicPermission: .noAccess)],
            participants: [ShareNumber(4): [row]], secret: [0xAB, 1])
        var share = try #require(sharing.share(named: Share.zoneWideName, shownTo: Examples.user))
        #expect(share.hasOneTimeLinks)
        var viewpoint = Self.viewpoint
        func links() throws -> [String] {
            viewpoint.shares = [ZoneID(7): [record().name: share]]
            let wire = try #require(RecordWriter(viewpoint, in: ZoneID(7)).message(of: record()))
            #expect(wire.share.participants.map(\.addedAt) == [0, 30])
            return wire.share.participants.map(\.link)
        }
        #expect(try links() == ["", ""], "nobody has computed the hash")
        share.secretHash = [0xEF, 3]
        #expect(try links() == ["", "ef03cd02"])

        let invited = try read(save([participant { $0.byLink = true }]))?.share?.participants
        #expect(invited?.map(\.person) == [.link([])])
        let named = try read(save([participant { ($0.byLink, $0.email) = (true, "ann@example.org") }]))
        #expect(named?.share?.participants?.map(\.person) == [.link([])])
    }

    @Test func `R-306, R-312: a CKShare record comes with its share in every answer`() throws {
        var viewpoint = Self.viewpoint
        viewpoint.shares = [ZoneID(7): [record().name: try share()]]
        let wire = try #require(RecordWriter(viewpoint, in: ZoneID(7)).message(of: record()))
        #expect(wire.hasShare && wire.share.link == "ab01" && wire.share.publicPermission == .noAccess)
        #expect(ShareLink.secret(in: wire.share.link) == [0xAB, 1])
        #expect(wire.share.participants.map(\.user) == ["", Self.bobName, "", ""])
        #expect(wire.share.participants.map(\.isCaller) == [true, false, false, false])
        #expect(wire.share.participants.map(\.email) == ["", "", "ann@example.org", ""])
        #expect(wire.share.participants.map(\.phone) == ["", "", "", "+3545550100"])
        #expect(wire.share.participants.map(\.role) == [.owner, .privateUser, .privateUser, .privateUser])
        #expect(wire.share.participants.map(\.status) == [.accepted, .accepted, .pending, .pending])
        #expect(wire.share.participants[0].id == Array(repeating: 0, count: 16))

        // Of another zone, or of another type, nothing is known.
        for (zone, record) in [(ZoneID(8), record()), (ZoneID(7), Examples.record("a"))] {
            #expect(RecordWriter(viewpoint, in: zone).message(of: record)?.hasShare == false)
        }
        var answer = RecordsFetchAnswer(viewpoint: viewpoint, selection: nil, limits: Examples.limits)
        answer.append(.success(record()), in: ZoneID(7))
        let envelope = try WireServerEnvelope(reading: answer.message(1))
        #expect(envelope.fetchRecords.results.map(\.record) == [wire])
    }

    @Test func `R-779: names come with the people who have some, also with the owner of metadata`() throws {
        let names = [
            Examples.user: PersonName(given: "Alice", family: "Liddell"), Self.bob: PersonName(given: "", family: "B"),
        ].compactMapValues { $0 }
        let share = try share(named: names)
        var viewpoint = Self.viewpoint
        viewpoint.shares = [ZoneID(7): [record().name: share]]
        let wire = try #require(RecordWriter(viewpoint, in: ZoneID(7)).message(of: record()))
        #expect(wire.share.participants.map(\.givenName) == ["Alice", "", "", ""])
        #expect(wire.share.participants.map(\.familyName) == ["Liddell", "B", "", ""])

        viewpoint.zoneOwners = [DatabaseID(9): "_owner"]
        let zone = ZoneState(
            id: ZoneID(7), key: ZoneKey(database: DatabaseID(9), name: "notes"), createdAt: Timestamp(milliseconds: 0))
        let metadata = ShareMetadata(
            owner: ZoneOwner(user: Examples.user, recordName: "_owner", privateDatabase: DatabaseID(9)), zone: zone,
            record: record(), share: share, role: .privateUser, status: .pending, permission: .readOnly)
        let found = Result<ShareMetadata, FailureReason>.success(metadata)
        let result = WireShareMetadataResult(found, seenFrom: viewpoint, within: Examples.limits)
        #expect(result.metadata.owner.givenName == "Alice" && result.metadata.owner.familyName == "Liddell")
    }

    @Test func `R-155: the shares that come with records count in the bytes of an answer`() throws {
        var limits = Examples.limits
        limits.answerBytesMax = 300
        for hasShare in [false, true] {
            var viewpoint = Self.viewpoint
            if hasShare { viewpoint.shares = [ZoneID(7): [record().name: try share()]] }
            var answer = RecordsFetchAnswer(viewpoint: viewpoint, selection: nil, limits: limits)
            answer.append(.success(record()), in: ZoneID(7))
            #expect(answer.isFull == hasShare)
            var saves = RecordsAnswer(viewpoint: viewpoint, limits: limits)
            let metadata = RecordMetadata(
                zone: ZoneID(7), changeNumber: 5, createdAt: Timestamp(milliseconds: 1), createdBy: Examples.user,
                modifiedAt: Timestamp(milliseconds: 1), modifiedBy: Examples.user, content: .record(record()))
            saves.append(RecordsOutcome(saves: [.saved(metadata)], deletes: []))
            let envelope = try WireServerEnvelope(reading: saves.message(1))
            guard case .saved(let saved)? = envelope.modifyRecords.zones[0].saves[0].result else {
                Issue.record("it was saved")
                continue
            }
            #expect(saved.hasRecord == !hasShare)
        }
    }

    @Test func `R-981: a root's own parent is told to its owner alone, in answers and in metadata`() throws {
        let root = Examples.record("r", parent: "outside").covered(by: ShareNumber(1), asRootOf: "S")
        let below = Examples.record("b", parent: "r").covered(by: ShareNumber(1))
        let shared = Viewpoint(
            access: RecordAccess(scope: .shared, user: Self.bob), userRecordName: Self.bobName,
            database: DatabaseID(4), device: Examples.device, store: Examples.viewpoint.store)
        func written(_ record: RecordState, _ viewpoint: Viewpoint) throws -> WireRecord {
            try #require(RecordWriter(viewpoint, in: ZoneID(7)).message(of: record))
        }
        #expect(try written(root, Examples.viewpoint).parent == "outside")
        #expect(try written(root, shared).parent.isEmpty && written(root, shared).shareName == "S")
        #expect(try written(below, shared).parent == "r")

        let zone = ZoneState(
            id: ZoneID(7), key: ZoneKey(database: DatabaseID(9), name: "notes"), createdAt: Timestamp(milliseconds: 0))
        let owner = ZoneOwner(user: Examples.user, recordName: "_owner", privateDatabase: DatabaseID(9))
        for (user, parent) in [(Self.bob, ""), (Examples.user, "outside")] {
            var viewpoint = Viewpoint(
                access: RecordAccess(scope: .shared, user: user), userRecordName: Self.bobName,
                database: DatabaseID(4), device: Examples.device, store: Examples.viewpoint.store)
            viewpoint.zoneOwners = [DatabaseID(9): user == Examples.user ? "" : "_owner"]
            var metadata = ShareMetadata(
                owner: owner, zone: zone, record: record(), share: try share(), role: .privateUser, status: .pending,
                permission: .readOnly)
            metadata.root = root
            let result = WireShareMetadataResult(
                .success(metadata), seenFrom: viewpoint, within: Examples.limits, roots: .whole)
            #expect(result.metadata.rootRecord.name == "r" && result.metadata.rootRecord.parent == parent)
        }
    }

    @Test func `R-315: metadata have the zone, the record, the owner and what the caller is`() throws {
        var viewpoint = Self.viewpoint
        let zone = ZoneState(
            id: ZoneID(7), key: ZoneKey(database: DatabaseID(9), name: "notes"), createdAt: Timestamp(milliseconds: 0))
        viewpoint.zoneOwners = [DatabaseID(9): "_owner"]
        let owner = ZoneOwner(user: Examples.user, recordName: "_owner", privateDatabase: DatabaseID(9))
        let metadata = ShareMetadata(
            owner: owner, zone: zone, record: record(), share: try share(), role: .privateUser, status: .pending,
            permission: .readOnly)
        let found: [Result<ShareMetadata, FailureReason>] = [.success(metadata), .failure(.shareUnknown)]
        let results = found.map {
            WireShareMetadataResult($0, seenFrom: viewpoint, within: Examples.limits)
        }
        #expect(results[0].metadata.zone == Examples.zoneID("notes", owner: "_owner"))
        #expect(results[0].metadata.share.share.participants.count == 4)
        #expect(results[0].metadata.owner.role == .owner)
        #expect(results[0].metadata.role == .privateUser && results[0].metadata.status == .pending)
        #expect(results[0].metadata.permission == .readOnly)
        #expect(results[1].failure.code == .unknownItem)
        #expect(WireShareMetadataResult(declined: .success(())).result == .metadata(WireShareMetadata()))
    }

    @Test func `I-6: a text that is no link leads nowhere`() {
        for text in ["", "x", "abc", "zz", "https://example.org/share/ab", String(repeating: "ab", count: 65)] {
            #expect(ShareLink.secret(in: text) == nil, "\(text)")
        }
        #expect(ShareLink.secret(in: "AB01") == [0xAB, 1])
    }
}
