// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Presence.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Joins those who have a zone open, with a state that the others see. Joining again while this connection is there
/// already replaces its state, and answers who is there.
@usableFromInline
package struct WireJoinPresence: WireMessage {
    /// Private or shared.
    package var database = WireDatabaseScope()
    package var zone: WireZoneID {
        get { presentZone ?? WireZoneID() }
        set { presentZone = newValue }
    }
    package var hasZone: Bool { presentZone != nil }
    private var presentZone: WireZoneID?
    /// The name of the CKShare record of a hierarchy: those who see that hierarchy, and its owner. Empty: those who see
    /// the whole zone. People of one hierarchy never see those of another.
    package var share = ""
    /// At most 1,024 bytes, which only apps read.
    package var state: [UInt8] = []

    @usableFromInline package init() {}
}

extension WireJoinPresence {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.database = try reader.choice()
            case 18:
                var value = self.presentZone ?? WireZoneID()
                self.presentZone = nil
                try reader.read(&value)
                self.presentZone = value
            case 26: self.share = try reader.text(atMost: 65_536)
            case 34: self.state = try reader.content(atMost: 8_192)
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if database != WireDatabaseScope() {
            size += 1 + WireSize.choice(database)
        }
        if let presentZone {
            size += 1 + WireSize.message(presentZone)
        }
        if !share.isEmpty {
            size += 1 + WireSize.text(share)
        }
        if !state.isEmpty {
            size += 1 + WireSize.content(state)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if database != WireDatabaseScope() {
            writer.number(8)
            writer.choice(database)
        }
        if let presentZone {
            writer.number(18)
            writer.message(presentZone)
        }
        if !share.isEmpty {
            writer.number(26)
            writer.text(share)
        }
        if !state.isEmpty {
            writer.number(34)
            writer.content(state)
        }
    }
}

/// Who is there.
@usableFromInline
package struct WireJoinPresenceAnswer: WireMessage {
    /// Names the topic in what follows, on this connection. Pushes of the topic may come before this answer. They tell
    /// what has changed since.
    package var topic: UInt64 = 0
    /// The caller among `members`.
    package var member: UInt64 = 0
    /// All who are there, with the caller.
    package var members: [WirePresenceMember] = []
    /// How many milliseconds a state lives. Whoever publishes nothing for so long is gone.
    package var lifeMilliseconds: UInt32 = 0

    @usableFromInline package init() {}
}

extension WireJoinPresenceAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.topic = try reader.uint64()
            case 16: self.member = try reader.uint64()
            case 26: try reader.append(to: &self.members, atMost: 1_024)
            case 32: self.lifeMilliseconds = try reader.uint32()
            default: try reader.skip(tag, known: 0x1E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if topic != 0 {
            size += 1 + WireSize.uint64(topic)
        }
        if member != 0 {
            size += 1 + WireSize.uint64(member)
        }
        for value in members {
            size += 1 + WireSize.message(value)
        }
        if lifeMilliseconds != 0 {
            size += 1 + WireSize.uint32(lifeMilliseconds)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if topic != 0 {
            writer.number(8)
            writer.uint64(topic)
        }
        if member != 0 {
            writer.number(16)
            writer.uint64(member)
        }
        for value in members {
            writer.number(26)
            writer.message(value)
        }
        if lifeMilliseconds != 0 {
            writer.number(32)
            writer.uint32(lifeMilliseconds)
        }
    }
}

/// Replaces the caller's state, sends a message, or both. With neither it only says that the caller is still there.
@usableFromInline
package struct WirePublishPresence: WireMessage {
    package var topic: UInt64 = 0
    /// Whether `state` counts.
    package var setsState = false
    /// At most 1,024 bytes.
    package var state: [UInt8] = []
    /// Whether `message` counts.
    package var sendsMessage = false
    /// At most 1,024 bytes. Those who are there get it, and nobody else ever does.
    package var message: [UInt8] = []

    @usableFromInline package init() {}
}

extension WirePublishPresence {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.topic = try reader.uint64()
            case 16: self.setsState = try reader.flag()
            case 26: self.state = try reader.content(atMost: 8_192)
            case 32: self.sendsMessage = try reader.flag()
            case 42: self.message = try reader.content(atMost: 8_192)
            default: try reader.skip(tag, known: 0x3E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if topic != 0 {
            size += 1 + WireSize.uint64(topic)
        }
        if setsState {
            size += 1 + WireSize.flag(setsState)
        }
        if !state.isEmpty {
            size += 1 + WireSize.content(state)
        }
        if sendsMessage {
            size += 1 + WireSize.flag(sendsMessage)
        }
        if !message.isEmpty {
            size += 1 + WireSize.content(message)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if topic != 0 {
            writer.number(8)
            writer.uint64(topic)
        }
        if setsState {
            writer.number(16)
            writer.flag(setsState)
        }
        if !state.isEmpty {
            writer.number(26)
            writer.content(state)
        }
        if sendsMessage {
            writer.number(32)
            writer.flag(sendsMessage)
        }
        if !message.isEmpty {
            writer.number(42)
            writer.content(message)
        }
    }
}

/// It was taken, and is on its way.
@usableFromInline
package struct WirePublishPresenceAnswer: WireMessage {
    @usableFromInline package init() {}
}

extension WirePublishPresenceAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            try reader.skip(tag, known: 0x0)
        }
    }

    @usableFromInline package var size: Int { 0 }

    @usableFromInline
    package func write(to writer: inout WireWriter) {}
}

/// The caller is not there any more.
@usableFromInline
package struct WireLeavePresence: WireMessage {
    package var topic: UInt64 = 0

    @usableFromInline package init() {}
}

extension WireLeavePresence {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.topic = try reader.uint64()
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if topic != 0 {
            size += 1 + WireSize.uint64(topic)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if topic != 0 {
            writer.number(8)
            writer.uint64(topic)
        }
    }
}

/// The others are told.
@usableFromInline
package struct WireLeavePresenceAnswer: WireMessage {
    @usableFromInline package init() {}
}

extension WireLeavePresenceAnswer {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            try reader.skip(tag, known: 0x0)
        }
    }

    @usableFromInline package var size: Int { 0 }

    @usableFromInline
    package func write(to writer: inout WireWriter) {}
}

/// One connection of somebody who has the zone open.
@usableFromInline
package struct WirePresenceMember: WireMessage {
    /// Nobody else has it, also on other servers. Whoever joins again has another one.
    package var number: UInt64 = 0
    /// The user's record name.
    package var user = ""
    package var state: [UInt8] = []

    @usableFromInline package init() {}
}

extension WirePresenceMember {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.number = try reader.uint64()
            case 18: self.user = try reader.text(atMost: 4_096)
            case 26: self.state = try reader.content(atMost: 8_192)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if number != 0 {
            size += 1 + WireSize.uint64(number)
        }
        if !user.isEmpty {
            size += 1 + WireSize.text(user)
        }
        if !state.isEmpty {
            size += 1 + WireSize.content(state)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if number != 0 {
            writer.number(8)
            writer.uint64(number)
        }
        if !user.isEmpty {
            writer.number(18)
            writer.text(user)
        }
        if !state.isEmpty {
            writer.number(26)
            writer.content(state)
        }
    }
}

/// A message of somebody who has the zone open.
@usableFromInline
package struct WirePresenceMessage: WireMessage {
    /// Who sent it.
    package var member: UInt64 = 0
    /// The sender's record name.
    package var user = ""
    package var content: [UInt8] = []

    @usableFromInline package init() {}
}

extension WirePresenceMessage {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.member = try reader.uint64()
            case 18: self.user = try reader.text(atMost: 4_096)
            case 26: self.content = try reader.content(atMost: 8_192)
            default: try reader.skip(tag, known: 0xE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if member != 0 {
            size += 1 + WireSize.uint64(member)
        }
        if !user.isEmpty {
            size += 1 + WireSize.text(user)
        }
        if !content.isEmpty {
            size += 1 + WireSize.content(content)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if member != 0 {
            writer.number(8)
            writer.uint64(member)
        }
        if !user.isEmpty {
            writer.number(18)
            writer.text(user)
        }
        if !content.isEmpty {
            writer.number(26)
            writer.content(content)
        }
    }
}

/// What has changed in a topic. It comes with id 0, and is not counted in `pushes_sent`.
@usableFromInline
package struct WirePresencePush: WireMessage {
    package var topic: UInt64 = 0
    /// New ones, and those with another state.
    package var members: [WirePresenceMember] = []
    /// Numbers of those who are gone.
    package var gone: [UInt64] = []
    /// Whether nobody is there but `members`: the receiver was slow, and was left out for a while.
    package var isWhole = false
    /// Oldest first. The receiver's own are among them.
    package var messages: [WirePresenceMessage] = []
    /// The topic has ended for the receiver, for this reason.
    package var end: WireFailure {
        get { presentEnd ?? WireFailure() }
        set { presentEnd = newValue }
    }
    package var hasEnd: Bool { presentEnd != nil }
    private var presentEnd: WireFailure?

    @usableFromInline package init() {}
}

extension WirePresencePush {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.topic = try reader.uint64()
            case 18: try reader.append(to: &self.members, atMost: 1_024)
            case 26:
                try reader.appendPacked(to: &self.gone, atMost: 1_024) { (reader) throws(WireError) in
                    try reader.uint64()
                }
            case 24:
                try reader.append(to: &self.gone, atMost: 1_024) { (reader) throws(WireError) in
                    try reader.uint64()
                }
            case 32: self.isWhole = try reader.flag()
            case 42: try reader.append(to: &self.messages, atMost: 1_024)
            case 50:
                var value = self.presentEnd ?? WireFailure()
                self.presentEnd = nil
                try reader.read(&value)
                self.presentEnd = value
            default: try reader.skip(tag, known: 0x7E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if topic != 0 {
            size += 1 + WireSize.uint64(topic)
        }
        for value in members {
            size += 1 + WireSize.message(value)
        }
        if !gone.isEmpty {
            let length = gone.reduce(0) { $0 + WireSize.uint64($1) }
            size += 1 + WireSize.content(length)
        }
        if isWhole {
            size += 1 + WireSize.flag(isWhole)
        }
        for value in messages {
            size += 1 + WireSize.message(value)
        }
        if let presentEnd {
            size += 1 + WireSize.message(presentEnd)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if topic != 0 {
            writer.number(8)
            writer.uint64(topic)
        }
        for value in members {
            writer.number(18)
            writer.message(value)
        }
        if !gone.isEmpty {
            writer.number(26)
            writer.number(UInt64(gone.reduce(0) { $0 + WireSize.uint64($1) }))
            for value in gone { writer.uint64(value) }
        }
        if isWhole {
            writer.number(32)
            writer.flag(isWhole)
        }
        for value in messages {
            writer.number(42)
            writer.message(value)
        }
        if let presentEnd {
            writer.number(50)
            writer.message(presentEnd)
        }
    }
}
