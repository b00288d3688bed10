// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

extension RequestRouter {
    /// Joins those who have a zone open.
    func joinPresence(_ request: WireJoinPresence, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        var viewpoint = try ownDatabase(request.database, isWrite: false, context.member)
        guard let identity = context.member.identity else { throw Refusal(.notAuthenticated) }
        let (session, hall) = (context.session, context.session.hub.presence)
        try hall.checkBytes(request.state)
        try hall.takeToken(of: session, identity.account, now: session.hub.scheduler.now)
        viewpoint = try await knowingOwners(of: CollectionOfOne(request.zone), for: viewpoint, context.member)
        let key = try viewpoint.requiredZoneKey(of: request.zone)
        guard key.name != ZoneName.default else {
            throw Refusal(.requestInvalid, "The default zone has no presence. Use a custom zone.")
        }
        let joined = try await join(request, key, by: viewpoint.access, session, identity)
        var answer = WireJoinPresenceAnswer()
        answer.topic = joined.topic
        answer.member = joined.member
        answer.members = joined.members.map { WirePresenceMember($0) }
        answer.lifeMilliseconds = UInt32(clamping: Int64(hall.bounds.life / .milliseconds(1)))
        return ServerMessage.answer(context.id, .joinPresence(answer))
    }

    /// Joins, unless a change of the zone's shares was heard since access was read. Then it is read again.
    private func join(
        _ request: WireJoinPresence, _ key: ZoneKey, by access: RecordAccess, _ session: Session, _ identity: Identity
    ) async throws(Refusal) -> PresenceHall.Joined {
        let hall = session.hub.presence
        // First: what changes after access was read is heard, or found by the sweep.
        hall.follow(key.database)
        defer { hall.leave(key.database) }
        for _ in 0..<4 {
            let changeCount = hall.changeCount(in: key.database)
            let found = await service.presencePlace(of: key, share: request.share, by: access)
            if case .failure(.feedUnavailable) = found {
                throw Refusal(
                    .requestInvalid,
                    "Only parts of this zone are shared with you. Name the share of the part to be present in.")
            }
            let place = try found.orRefusal()
            let joined = try hall.join(
                session, identity, place: place, key: key, isOwner: access.scope == .private, state: request.state,
                changeCount: changeCount)
            if let joined { return joined }
        }
        throw Refusal(.zoneBusy)
    }

    /// Replaces a state, sends a message, or both.
    func publishPresence(_ request: WirePublishPresence, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        guard let identity = context.member.identity else { throw Refusal(.notAuthenticated) }
        let (session, hall) = (context.session, context.session.hub.presence)
        if request.setsState { try hall.checkBytes(request.state) }
        if request.sendsMessage { try hall.checkBytes(request.message) }
        try hall.takeToken(of: session, identity.account, now: session.hub.scheduler.now)
        try hall.publish(
            session, topic: request.topic, state: request.setsState ? request.state : nil,
            message: request.sendsMessage ? request.message : nil)
        return ServerMessage.answer(context.id, .publishPresence(WirePublishPresenceAnswer()))
    }

    func leavePresence(_ request: WireLeavePresence, _ context: RequestContext) async throws(Refusal) -> [UInt8] {
        context.session.hub.presence.leave(context.session, topic: request.topic)
        return ServerMessage.answer(context.id, .leavePresence(WireLeavePresenceAnswer()))
    }
}
