// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkSessions
import TidemarkWire

/// A connection that is present in a zone, and what it has heard of it.
final class PresenceClient {
    let client: TestClient
    let zone: WireZoneID
    let share: String
    private(set) var topic: UInt64 = 0
    private(set) var member: UInt64 = 0

    init(_ client: TestClient, _ zone: WireZoneID, share: String = "") {
        (self.client, self.zone, self.share) = (client, zone, share)
    }

    /// - Returns: the states of those who are there.
    @discardableResult
    func join(_ state: String = "") throws -> Set<String> {
        let answer = try client.ask(.joinPresence(request(state)))
        guard case .joinPresence(let joined)? = answer else { throw SessionWorld.Unexpected(answer) }
        (topic, member) = (joined.topic, joined.member)
        return Set(joined.members.map { String(decoding: $0.state, as: UTF8.self) })
    }

    func request(_ state: String) -> WireJoinPresence {
        var request = WireJoinPresence()
        (request.database, request.zone) = (zone.owner.isEmpty ? .private : .shared, zone)
        (request.share, request.state) = (share, Array(state.utf8))
        return request
    }

    /// Why it may not.
    func refusal(_ state: String = "") throws -> WireErrorCode? { try client.ask(.joinPresence(request(state)))?.code }

    /// - Returns: why nothing was published.
    @discardableResult
    func publish(_ state: String? = nil, message: String? = nil) throws -> WireErrorCode? {
        let answer = try client.ask(.publishPresence(publishing(state, message: message)))
        if case .publishPresence? = answer { return nil }
        guard let code = answer?.code else { throw SessionWorld.Unexpected(answer) }
        return code
    }

    func publishing(_ state: String? = nil, message: String? = nil) -> WirePublishPresence {
        var request = WirePublishPresence()
        request.topic = topic
        (request.setsState, request.state) = (state != nil, Array((state ?? "").utf8))
        (request.sendsMessage, request.message) = (message != nil, Array((message ?? "").utf8))
        return request
    }

    func leave() throws {
        var request = WireLeavePresence()
        request.topic = topic
        guard case .leavePresence? = try client.ask(.leavePresence(request)) else {
            throw SessionWorld.Unexpected(nil)
        }
    }

    /// What has come of its topic.
    var news: [WirePresencePush] {
        client.inbox.compactMap { if case .presence(let push)? = $0.answer, push.topic == topic { push } else { nil } }
    }

    var messages: [String] { news.flatMap(\.messages).map { String(decoding: $0.content, as: UTF8.self) } }

    /// The newest state of each who is there, as the pushes tell it.
    var states: Set<String> {
        var members: [UInt64: String] = [:]
        for push in news {
            if push.isWhole { members = [:] }
            for gone in push.gone { members[gone] = nil }
            for member in push.members { members[member.number] = String(decoding: member.state, as: UTF8.self) }
        }
        return Set(members.values)
    }

    /// Why its topic has ended.
    var end: WireErrorCode? { news.first { $0.hasEnd }?.end.code }
}
