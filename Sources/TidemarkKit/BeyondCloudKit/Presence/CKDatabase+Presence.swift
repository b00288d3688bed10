// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

extension CKDatabase {
    /// Who else has a zone open now, and short messages between them. CloudKit has no such method.
    ///
    /// The device is present from the first use of the result until nobody uses it any more. Nothing of it is stored. Each call for one
    /// zone returns the same object while there is one. From the first use on, the container's connection stays open.
    ///
    /// - Parameters:
    ///   - zoneID: a custom zone of the private or of the shared database.
    ///   - share: the CKShare record of a hierarchy, for those who see that hierarchy. Nil: those who see the whole zone. People of
    ///     different hierarchies never see each other.
    public func presence(in zoneID: CKRecordZone.ID, share: CKRecord.ID? = nil) -> TidemarkPresence {
        let context = container.context
        let key = PresenceRegistry.Key(
            scope: scope, zoneName: zoneID.zoneName, ownerName: zoneID.ownerName, share: share?.recordName ?? "")
        return context.presences.presence(key) {
            TidemarkPresence(context: context, key, zoneID: zoneID)
        }
    }
}

extension CloudDatabase {
    func joinPresence(
        in zoneID: CKRecordZone.ID, share: String, state: [UInt8]
    ) async throws(CKError) -> WireJoinPresenceAnswer {
        var request = WireJoinPresence()
        request.database = wireScope
        request.zone = WireZoneID(zoneID)
        request.share = share
        request.state = state
        guard case .joinPresence(let answer) = try await self.request({ [request] _ in .joinPresence(request) }).answer
        else { throw Self.wrongAnswer(to: .joinPresence) }
        return answer
    }

    /// - Parameters:
    ///   - state: nil: as it is.
    ///   - message: nil: none.
    func publishPresence(topic: UInt64, state: [UInt8]?, message: [UInt8]?) async throws(CKError) {
        var request = WirePublishPresence()
        request.topic = topic
        (request.setsState, request.state) = (state != nil, state ?? [])
        (request.sendsMessage, request.message) = (message != nil, message ?? [])
        let reply = try await self.request { [request] _ in .publishPresence(request) }
        guard case .publishPresence = reply.answer else { throw Self.wrongAnswer(to: .publishPresence) }
    }

    func leavePresence(topic: UInt64) async throws(CKError) {
        var request = WireLeavePresence()
        request.topic = topic
        let reply = try await self.request { [request] _ in .leavePresence(request) }
        guard case .leavePresence = reply.answer else { throw Self.wrongAnswer(to: .leavePresence) }
    }
}
