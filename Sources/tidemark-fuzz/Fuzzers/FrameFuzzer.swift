// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWebSocket

extension Fuzzer {
    /// Frames and their messages, for both roles, with and without compression. Every split of the bytes gives the same
    /// events and the same end, and no message is larger than allowed.
    static let frames = Fuzzer(name: "frames", seeds: { FrameSeeds.all }) { input throws(Finding) in
        var script = FuzzInput(input)
        let setting = ReaderSetting(flags: script.byte())
        let bytes = script.remainder()
        let whole = setting.read([bytes[...]])
        var random = FuzzRandom(input)
        let split = setting.read(random.split(bytes))
        try whole.check(setting.limits)
        try split.check(setting.limits)
        // With a small window one of the two may be refused, as ``inflate`` explains.
        if setting.deflate == nil || !setting.hasSmallWindow || whole.error == nil && split.error == nil {
            try Finding.unless(whole.events == split.events, "whole \(whole), split \(split)")
            // zlib reads ahead of the UTF-8 check, so it is open which of two errors of a compressed message comes
            // first.
            try Finding.unless(
                setting.deflate == nil ? whole.error == split.error : (whole.error == nil) == (split.error == nil),
                "whole \(whole), split \(split)")
        }
        return !whole.events.isEmpty && whole.error == nil
    }
}

/// The settings of a fuzzer's reader, from one byte.
struct ReaderSetting {
    let role: WebSocketRole
    let deflate: DeflateParameters?
    let hasSmallWindow: Bool
    let limits: MessageLimits

    /// Bit 0: server; 1: compression; 2: without context; 3: narrow limits; 4: a small window.
    init(flags: UInt8) {
        role = flags & 1 == 1 ? .server : .client
        var parameters = DeflateParameters()
        parameters.clientKeepsContext = flags & 4 == 0
        parameters.serverKeepsContext = flags & 4 == 0
        hasSmallWindow = flags & 16 != 0
        if hasSmallWindow { (parameters.clientWindowBits, parameters.serverWindowBits) = (9, 8) }
        deflate = flags & 2 == 2 ? parameters : nil
        var limits = MessageLimits()
        limits.messageBytesMax = flags & 8 == 0 ? 65_536 : 200
        limits.frameBytesMax = flags & 8 == 0 ? 65_536 : 150
        limits.emptyFragmentCountMax = 3
        limits.finalBlockCountMax = 3
        self.limits = limits
    }

    /// All events of a stream in these pieces.
    func read(_ pieces: [ArraySlice<UInt8>]) -> ReaderLog {
        var reader = MessageReader(role: role, limits: limits, deflate: deflate)
        var log = ReaderLog()
        for piece in pieces {
            var bytes = Array(piece)
            do throws(WebSocketError) {
                // A typed error does not pass through the closure, so it is returned as a value.
                try bytes.withUnsafeMutableBytes { log.take(from: &reader, $0) }.get()
            } catch {
                log.error = error.code
                return log
            }
            if log.isClosed { return log }
        }
        return log
    }
}

/// The events that a reader returned for a stream.
struct ReaderLog {
    enum Event: Equatable {
        case text([UInt8])
        case binary([UInt8])
        case ping([UInt8])
        case pong([UInt8])
        case close(UInt16?, String)
    }

    var events: [Event] = []
    var error: WebSocketError.Code?
    var isClosed = false

    fileprivate mutating func take(
        from reader: inout MessageReader, _ bytes: UnsafeMutableRawBufferPointer
    ) -> Result<Void, WebSocketError> {
        var offset = 0
        do throws(WebSocketError) {
            while let event = try reader.next(in: bytes, at: &offset) {
                switch event {
                case .message(.text, let payload): events.append(.text(payload.bytes))
                case .message(.binary, let payload): events.append(.binary(payload.bytes))
                case .ping(let payload): events.append(.ping(payload.bytes))
                case .pong(let payload): events.append(.pong(payload.bytes))
                case .close(let code, let reason):
                    events.append(.close(code?.rawValue, reason))
                    isClosed = true
                    return .success(())
                }
            }
            precondition(offset == bytes.count, "bytes are left")
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Checks what must hold for every event.
    func check(_ limits: MessageLimits) throws(Finding) {
        for event in events {
            switch event {
            case .text(let bytes):
                try Finding.unless(bytes.count <= limits.messageBytesMax, "\(bytes.count) bytes of text")
                try Finding.unless(String(validating: bytes, as: UTF8.self) != nil, "text that is not UTF-8")
            case .binary(let bytes):
                try Finding.unless(bytes.count <= limits.messageBytesMax, "a message of \(bytes.count) bytes")
            case .ping(let bytes), .pong(let bytes):
                try Finding.unless(bytes.count <= FrameHeader.controlPayloadBytesMax, "\(bytes.count) bytes of control")
            case .close(let code, let reason):
                try Finding.unless(reason.utf8.count <= 123 && (code != nil || reason.isEmpty), "\(event)")
            }
        }
    }
}

private enum FrameSeeds {
    static let all: [[UInt8]] = seeds(0, nil) + seeds(1, 0x1234_5678)

    /// The seeds of a role, given by its bit in the flags.
    private static func seeds(_ role: UInt8, _ key: UInt32?) -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        func add(_ flags: UInt8, _ frames: [UInt8]...) {
            seeds.append(Array([[role | flags], frames.flatMap { $0 }].joined()))
        }
        add(0, frame(.text, "h\u{E9}llo", key))
        add(0, frame(.ping, "p", key), frame(.pong, "", key), frame(.close, "bye", key))
        add(0, frame(.binary, String(repeating: "x", count: 300), key))
        add(0, frame(.text, "ab", key, isFinal: false), frame(.ping, "", key), frame(.continuation, "\u{20AC}", key))
        add(8, frame(.binary, String(repeating: "x", count: 126), key), frame(.binary, "", key))
        add(2, compressed("compressed compressed compressed", key), frame(.text, "plain", key))
        add(6, compressed("compressed compressed", key), compressed("once more", key))
        add(18, compressed("a small window", key))
        return seeds
    }

    private static func frame(_ opcode: Opcode, _ text: String, _ key: UInt32?, isFinal: Bool = true) -> [UInt8] {
        var payload = Array(text.utf8)
        if opcode == .close { payload.insert(contentsOf: [0x03, 0xE8], at: 0) }
        var output: [UInt8] = []
        payload.withUnsafeBytes {
            FrameEncoder.append(opcode, isFinal: isFinal, payload: $0, maskKey: key, to: &output)
        }
        return output
    }

    private static func compressed(_ text: String, _ key: UInt32?) -> [UInt8] {
        var parameters = DeflateParameters()
        (parameters.serverKeepsContext, parameters.clientKeepsContext) = (false, false)
        let deflater = Deflater(role: .client, parameters: parameters, level: 6)
        let payload = Array(text.utf8).withUnsafeBytes { deflater?.compress($0) } ?? [0]
        var output: [UInt8] = []
        payload.withUnsafeBytes {
            FrameEncoder.append(.text, isCompressed: true, payload: $0, maskKey: key, to: &output)
        }
        return output
    }
}
