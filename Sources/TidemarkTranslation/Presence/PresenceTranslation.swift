// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension WirePresenceMember {
    package init(_ member: PresenceMember) {
        self.init()
        number = member.number
        user = member.userName
        state = member.state
    }
}

extension WirePresenceMessage {
    package init(_ message: PresenceMessage) {
        self.init()
        member = message.member
        user = message.userName
        content = message.content
    }
}

extension WirePresencePush {
    /// What has changed in a topic.
    package init(_ news: PresenceNews, of topic: UInt64) {
        self.init()
        self.topic = topic
        members = news.members.map { WirePresenceMember($0) }
        gone = news.gone
        messages = news.messages.map { WirePresenceMessage($0) }
    }

    /// Everybody who is there.
    package init(all members: [PresenceMember], of topic: UInt64) {
        self.init()
        self.topic = topic
        self.members = members.map { WirePresenceMember($0) }
        isWhole = true
    }

    /// The topic has ended for the receiver.
    package init(endOf topic: UInt64, _ reason: FailureReason) {
        self.init()
        self.topic = topic
        end = reason.wire()
    }
}

extension ServerMessage {
    /// What has changed in a topic of presence. It answers nothing.
    package static func presence(_ push: WirePresencePush) -> [UInt8] {
        answer(0, .presence(push))
    }
}
