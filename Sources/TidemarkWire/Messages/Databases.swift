// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Databases.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// The name of a request that changes records or zones, so that a repeat is not applied twice. The name is
/// Hello.life and the counter. The server remembers outcomes for more than a day. If it cannot tell whether a repeat
/// was carried out, it answers SERVER_RESPONSE_LOST. Then fetch changes, and send what is still needed as a new
/// request. If the nonce is the cause, another client has the same life: connect again with a new one.
@usableFromInline
package struct WireRequestStamp: WireMessage {
    /// 1 for the first such request of a life of the device, then growing.
    package var counter: UInt64 = 0
    /// The lowest counter whose answer the device still waits for. The server forgets outcomes below it.
    package var lowestUnanswered: UInt64 = 0
    /// When the request was first sent: milliseconds since 1970 on the server's clock. Servers of version 0.1 read it;
    /// later ones ignore it.
    package var issuedAt: Int64 = 0
    /// Whether this was sent before, on this connection or another one.
    package var repeated = false
    /// HelloAnswer.memory_epoch of the connection on which it was first sent. 0: the client does not say whether it
    /// repeats.
    package var epoch: UInt64 = 0
    /// Random bits made for this request, at most 56, the same in each repeat. A client must know them to get the
    /// outcome. A copy of a running machine does not know them, and gets SERVER_RESPONSE_LOST. 0: none.
    package var nonce: UInt64 = 0

    @usableFromInline package init() {}
}

extension WireRequestStamp {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.counter = try reader.uint64()
            case 16: self.lowestUnanswered = try reader.uint64()
            case 24: self.issuedAt = try reader.int64()
            case 32: self.repeated = try reader.flag()
            case 40: self.epoch = try reader.uint64()
            case 48: self.nonce = try reader.uint64()
            default: try reader.skip(tag, known: 0x7E)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if counter != 0 {
            size += 1 + WireSize.uint64(counter)
        }
        if lowestUnanswered != 0 {
            size += 1 + WireSize.uint64(lowestUnanswered)
        }
        if issuedAt != 0 {
            size += 1 + WireSize.int64(issuedAt)
        }
        if repeated {
            size += 1 + WireSize.flag(repeated)
        }
        if epoch != 0 {
            size += 1 + WireSize.uint64(epoch)
        }
        if nonce != 0 {
            size += 1 + WireSize.uint64(nonce)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if counter != 0 {
            writer.number(8)
            writer.uint64(counter)
        }
        if lowestUnanswered != 0 {
            writer.number(16)
            writer.uint64(lowestUnanswered)
        }
        if issuedAt != 0 {
            writer.number(24)
            writer.int64(issuedAt)
        }
        if repeated {
            writer.number(32)
            writer.flag(repeated)
        }
        if epoch != 0 {
            writer.number(40)
            writer.uint64(epoch)
        }
        if nonce != 0 {
            writer.number(48)
            writer.uint64(nonce)
        }
    }
}

/// The keys that the client wants of each record. Absent: all. Present and empty: only system fields.
@usableFromInline
package struct WireDesiredKeys: WireMessage {
    package var keys: [String] = []

    @usableFromInline package init() {}
}

extension WireDesiredKeys {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 10: try reader.append(to: &self.keys, atMost: 4_096, bytesMax: 65_536)
            default: try reader.skip(tag, known: 0x2)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        for value in keys {
            size += 1 + WireSize.text(value)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        for value in keys {
            writer.number(10)
            writer.text(value)
        }
    }
}

/// One of a container's three databases, with CloudKit's numbers.
@usableFromInline
package enum WireDatabaseScope: WireChoice {
    case unspecified
    case `public`
    case `private`
    case shared
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .public
        case 2: self = .private
        case 3: self = .shared
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .public: 1
        case .private: 2
        case .shared: 3
        case .unrecognized(let number): number
        }
    }
}
