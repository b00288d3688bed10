// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

extension CloudDatabase {
    /// The server's digest and versions of a zone.
    ///
    /// - Parameter name: the name after which a page of names begins, empty for the first page; nil: no names are wanted.
    func inventory(
        of zoneID: CKRecordZone.ID, listingAfter name: String?
    ) async throws(CKError) -> SyncEngineInventory {
        var request = WireVerifyZone()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.lists = name != nil
        request.after = name ?? ""
        guard case .verifyZone(let answer) = try await self.request({ [request] _ in .verifyZone(request) }).answer
        else { throw Self.wrongAnswer(to: .verifyZone) }
        // A server that gets nowhere would keep the client here for ever.
        let isForward = answer.next.isEmpty || name.map { $0.utf8.lexicographicallyPrecedes(answer.next.utf8) } ?? false
        guard isForward else { throw Self.wrongAnswer(to: .verifyZone) }
        var inventory = SyncEngineInventory(
            token: CKServerChangeToken(bytes: answer.token), recordCount: answer.recordCount, digest: answer.digest)
        inventory.versions = answer.versions.map { (name: $0.name, number: $0.number) }
        inventory.next = answer.next.isEmpty ? nil : answer.next
        return inventory
    }
}
