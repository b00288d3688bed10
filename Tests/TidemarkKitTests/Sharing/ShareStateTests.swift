// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkWire

@testable import TidemarkKit

/// What becomes of a share that is changed here while others change it.
@Suite struct ShareStateTests {
    private func fetched(
        _ others: [WireParticipant], _ permission: WireSharePermission = .noAccess
    ) throws -> CKShare {
        var wire = WireRecord.share(others)
        wire.share.publicPermission = permission
        return try #require(try CKRecord.make(wire, in: CKRecordZone.ID(zoneName: "Plans")).get() as? CKShare)
    }

    private func person(_ name: String) -> CKShare.Participant {
        CKShare.Participant(CKUserIdentity(userRecordID: CKRecord.ID(recordName: name), hasiCloudAccount: true))
    }

    /// All but the owner.
    private func names(_ share: CKShare) -> [String] {
        share.participants.dropFirst().map { $0.userIdentity.userRecordID?.recordName ?? "" }
    }

    private static let bob = WireParticipant.person(1, "_bob", .accepted)
    private static let carol = WireParticipant.person(2, "_carol")

    @Test func `R-308: a share that is made public here ends invitations of others, too, and keeps who has joined`()
        throws
    {
        let mine = try fetched([Self.bob, Self.carol])
        mine.publicPermission = .readOnly
        let merged = try fetched([Self.bob, Self.carol, .person(3, "_frank"), .person(4, "_gina", .accepted)])
        merged.takeChanges(of: mine)
        #expect(names(merged) == ["_bob", "_gina"] && merged.publicPermission == .readOnly)
        #expect(try merged.edit().isChange, "and can be saved")
    }

    @Test func `R-308: a share that is made private here keeps nobody, and has those who were invited since`() throws {
        let mine = try fetched([Self.bob], .readOnly)
        mine.publicPermission = .none
        mine.addParticipant(person("_dave"))
        mine.addParticipant(person("_bob"))
        var gina = WireParticipant.person(4, "_gina", .accepted)
        gina.role = .publicUser
        let merged = try fetched([Self.bob, gina], .readWrite)
        merged.takeChanges(of: mine)
        #expect(names(merged) == ["_dave", "_bob"] && merged.publicPermission == .none)
        #expect(try merged.edit().isChange)
    }

    @Test func `R-308, R-309: whoever is invited here is not if the share was made public elsewhere`() throws {
        let mine = try fetched([Self.bob])
        mine.addParticipant(person("_dave"))
        mine.participants[1].permission = .readWrite
        let merged = try fetched([Self.bob], .readOnly)
        merged.takeChanges(of: mine)
        #expect(names(merged) == ["_bob"] && merged.publicPermission == .readOnly)
        #expect(merged.participants[1].permission == .readWrite)
        #expect(try merged.edit().isChange)
    }

    @Test func `R-309: a removal is not forgotten because the share was made public elsewhere`() throws {
        let mine = try fetched([Self.bob, Self.carol])
        mine.removeParticipant(mine.participants[1])
        let merged = try fetched([Self.bob], .readOnly)
        merged.takeChanges(of: mine)
        #expect(names(merged).isEmpty && merged.hasSharingChanges)
    }

    @Test func `R-308: a share that is made private here and elsewhere keeps whom both have invited`() throws {
        let mine = try fetched([Self.bob], .readOnly)
        mine.publicPermission = .none
        mine.addParticipant(person("_dave"))
        let merged = try fetched([Self.carol])
        merged.takeChanges(of: mine)
        #expect(names(merged) == ["_carol", "_dave"])
    }
}
