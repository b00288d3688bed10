// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

extension DeviceProgress {
    // NB: kept in the store, where servers of other versions read it. A new form has another version. A server that does not know the form
    // shows nothing, and writes its own data in its form.
    private static let version: UInt64 = 1

    /// The bytes in which the store keeps it.
    package var encoded: [UInt8] {
        var writer = CompactWriter(capacity: 512)
        writer.write(Self.version)
        writer.write(link) { $0.write(link: $1) }
        writer.write(feeds.count)
        for feed in feeds { writer.write(feed: feed) }
        writer.write(requests.count)
        for request in requests { writer.write(request: request) }
        writer.write(throttle) { writer, throttle in
            writer.write(text: throttle.kind)
            writer.write(text: throttle.limit)
            writer.write(throttle.at)
            writer.write(throttle.until)
        }
        writer.write(refusal) { writer, refusal in
            writer.write(signed: Int64(refusal.code))
            writer.write(signed: refusal.count)
            writer.write(refusal.at)
        }
        writer.write(sentAt) { $0.write($1) }
        writer.write(push) { writer, push in
            writer.write(push.sentAt)
            writer.write(push.heardAt) { $0.write($1) }
            writer.write(signed: push.missedCount)
        }
        writer.write(pending) { $0.write(pending: $1) }
        return writer.bytes
    }

    /// Nil if the bytes are not of this version.
    package init?(decoding bytes: [UInt8]) {
        var reader = CompactReader(bytes)
        guard reader.readNumber() == Self.version else { return nil }
        do throws(DeviceProgressFault) {
            link = try reader.optional { reader throws(DeviceProgressFault) in try reader.link() }
            for _ in 0..<(try reader.count(atMost: Self.feedsMax)) { feeds.append(try reader.feed()) }
            for _ in 0..<(try reader.count(atMost: Self.requestsMax)) { requests.append(try reader.request()) }
            throttle = try reader.optional { reader throws(DeviceProgressFault) in
                Throttling(
                    kind: try reader.text(), limit: try reader.text(), at: try reader.time(), until: try reader.time())
            }
            refusal = try reader.optional { reader throws(DeviceProgressFault) in
                RecordsRefusal(code: try reader.code(), count: try reader.signed(), at: try reader.time())
            }
            sentAt = try reader.optional { reader throws(DeviceProgressFault) in try reader.time() }
            push = try reader.optional { reader throws(DeviceProgressFault) in
                var push = PushProgress(sentAt: try reader.time())
                push.heardAt = try reader.optional { reader throws(DeviceProgressFault) in try reader.time() }
                push.missedCount = try reader.signed()
                return push
            }
            pending = try reader.optional { reader throws(DeviceProgressFault) in try reader.pending() }
        } catch {
            return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}

/// The bytes are not those of a ``DeviceProgress``.
private struct DeviceProgressFault: Error {}

extension CompactWriter {
    fileprivate mutating func write(_ time: Timestamp) { write(signed: time.milliseconds) }

    fileprivate mutating func write<Value>(_ value: Value?, _ write: (inout CompactWriter, Value) -> Void) {
        self.write(value == nil ? 0 : 1)
        if let value { write(&self, value) }
    }

    fileprivate mutating func write(link: DeviceLink) {
        write(text: link.server)
        write(link.since)
        write(link.endedAt) { $0.write($1) }
        write(signed: link.credential.rawValue)
        write(link.isDeviceTaken ? 1 : 0)
    }

    fileprivate mutating func write(feed: FeedProgress) {
        write(signed: feed.database.rawValue)
        write(feed.zone) { $0.write(signed: $1.rawValue) }
        write(feed.mark)
        write(feed.asked) { $0.write(signed: $1) }
        write(signed: feed.told)
        write(feed.toldAt)
        write(signed: feed.own)
        write(signed: feed.lastOwn)
        write(signed: feed.expiredCount)
    }

    fileprivate mutating func write(request: RequestSummary) {
        write(request.mark.high)
        write(request.mark.low)
        write(text: request.kind)
        write(request.at)
        write(signed: request.microseconds)
        write(signed: Int64(request.code))
    }

    fileprivate mutating func write(pending: PendingReport) {
        for number in [
            pending.saves, pending.deletes, pending.databaseChanges, UInt32(pending.wait.rawValue), pending.lastError,
        ] {
            write(UInt64(number))
        }
        write(pending.at)
    }
}

extension CompactReader {
    fileprivate mutating func number() throws(DeviceProgressFault) -> UInt64 {
        guard let number = readNumber() else { throw DeviceProgressFault() }
        return number
    }

    fileprivate mutating func signed() throws(DeviceProgressFault) -> Int64 {
        guard let number = readSigned() else { throw DeviceProgressFault() }
        return number
    }

    fileprivate mutating func flag() throws(DeviceProgressFault) -> Bool {
        switch try number() {
        case 0: false
        case 1: true
        default: throw DeviceProgressFault()
        }
    }

    fileprivate mutating func optional<Value>(
        _ read: (inout CompactReader) throws(DeviceProgressFault) -> Value
    ) throws(DeviceProgressFault) -> Value? {
        try flag() ? read(&self) : nil
    }

    fileprivate mutating func count(atMost most: Int) throws(DeviceProgressFault) -> Int {
        guard let count = readCount(), count <= most else { throw DeviceProgressFault() }
        return count
    }

    fileprivate mutating func text() throws(DeviceProgressFault) -> String {
        guard let bytes = readContent(), let text = String(validating: bytes, as: UTF8.self) else {
            throw DeviceProgressFault()
        }
        return text
    }

    fileprivate mutating func time() throws(DeviceProgressFault) -> Timestamp {
        Timestamp(milliseconds: try signed())
    }

    fileprivate mutating func code() throws(DeviceProgressFault) -> Int16 {
        guard let code = Int16(exactly: try signed()) else { throw DeviceProgressFault() }
        return code
    }

    fileprivate mutating func small() throws(DeviceProgressFault) -> UInt32 {
        guard let number = UInt32(exactly: try number()) else { throw DeviceProgressFault() }
        return number
    }

    fileprivate mutating func link() throws(DeviceProgressFault) -> DeviceLink {
        DeviceLink(
            server: try text(), since: try time(),
            endedAt: try optional { reader throws(DeviceProgressFault) in try reader.time() },
            credential: CredentialID(try signed()), isDeviceTaken: try flag())
    }

    fileprivate mutating func feed() throws(DeviceProgressFault) -> FeedProgress {
        let database = DatabaseID(try signed())
        let zone = try optional { reader throws(DeviceProgressFault) in ZoneID(try reader.signed()) }
        let mark = try number()
        let asked = try optional { reader throws(DeviceProgressFault) in try reader.signed() }
        var feed = FeedProgress(
            database: database, zone: zone, mark: mark, asked: asked, told: try signed(), toldAt: try time())
        (feed.own, feed.lastOwn, feed.expiredCount) = (try signed(), try signed(), try signed())
        return feed
    }

    fileprivate mutating func request() throws(DeviceProgressFault) -> RequestSummary {
        RequestSummary(
            mark: RequestBits(high: try number(), low: try number()), kind: try text(), at: try time(),
            microseconds: try signed(), code: try code())
    }

    fileprivate mutating func pending() throws(DeviceProgressFault) -> PendingReport {
        let (saves, deletes, databaseChanges) = (try small(), try small(), try small())
        // A newer reason to wait is shown as none.
        let wait = PendingReport.Obstacle(rawValue: UInt8(truncatingIfNeeded: try small())) ?? .nothing
        return PendingReport(
            saves: saves, deletes: deletes, databaseChanges: databaseChanges, wait: wait, lastError: try small(),
            at: try time())
    }
}
