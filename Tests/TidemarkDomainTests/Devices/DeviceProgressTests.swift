// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// What a server knows of a device.
@Suite struct DeviceProgressTests {
    private static let notes = ZoneKey(database: database, name: "Notes")
    private static let feed = FeedName.zone(ZoneID(3), notes)

    private func request(_ number: UInt64, at time: Timestamp, code: Int16 = 0) -> RequestSummary {
        RequestSummary(
            mark: RequestBits(high: 1, low: number), kind: "fetch_zones", at: time, microseconds: 5, code: code)
    }

    /// Something of everything.
    private var full: DeviceProgress {
        var progress = DeviceProgress()
        progress.link = DeviceLink(
            server: "wéb/1", since: 5, endedAt: 9, credential: CredentialID(4), isDeviceTaken: true)
        progress.told(.database(DatabaseID(8)), asked: nil, to: 4, at: 6)
        progress.told(Self.feed, asked: 7, to: 9, at: 7)
        progress.expired(Self.feed, asked: 8, at: 8)
        progress.wrote(in: Self.notes, [10, 11], deletions: 1)
        progress.answered(request(1, at: 3))
        progress.answered(request(2, at: 4, code: FailureReason.zoneBusy.rawValue))
        progress.throttled(Throttling(kind: "fetch_zones", limit: "Too many.", at: 4, until: 5_000))
        progress.sentRecords(refused: RecordsRefusal(code: 12, count: 2, at: 3), at: 3)
        progress.pushed(at: 2)
        progress.heardPushes(at: 3)
        progress.missedPushes(2)
        progress.pending = PendingReport(
            saves: 1, deletes: .max, databaseChanges: 3, wait: .quota, lastError: 25, at: 12)
        return progress
    }

    @Test func `R-852: what is stored of a device can be read again, and damaged bytes are nothing`() throws {
        for progress in [DeviceProgress(), full] {
            let bytes = progress.encoded
            #expect(try #require(DeviceProgress(decoding: bytes)) == progress)
            for count in 0..<bytes.count { #expect(DeviceProgress(decoding: Array(bytes[..<count])) == nil) }
            #expect(DeviceProgress(decoding: bytes + [0]) == nil)
        }
        var newer = full.encoded
        newer[0] = 2
        #expect(DeviceProgress(decoding: newer) == nil, "another version")
    }

    @Test func `R-851: 16 requests and 16 feeds of a device are known, the last ones`() {
        var progress = DeviceProgress()
        for number in 1...40 {
            let time = Timestamp(milliseconds: Int64(number))
            progress.answered(request(UInt64(number), at: time))
            progress.told(.database(DatabaseID(Int64(number))), asked: nil, to: 1, at: time)
        }
        #expect(progress.requests.map(\.at.milliseconds) == Array(25...40))
        #expect(Set(progress.feeds.map(\.database.rawValue)) == Set(25...40))
        #expect(progress.encoded.count < 3_072)
    }

    @Test func `R-850: what a device made itself is not unread, and reading on takes it in`() throws {
        var progress = DeviceProgress()
        func missing(upTo head: ChangeNumber) -> Int64? { progress.feeds.first?.missing(upTo: head) }
        progress.wrote(in: Self.notes, [1], deletions: 0)
        #expect(progress.feeds.isEmpty, "a zone that the device does not read")
        progress.told(Self.feed, asked: nil, to: 10, at: 1)
        #expect(missing(upTo: 10) == 0)
        #expect(missing(upTo: 12) == 2)
        progress.wrote(in: Self.notes, [11, 12], deletions: 0)
        #expect(missing(upTo: 12) == 0)
        #expect(missing(upTo: 13) == 1, "another device's")
        // A save that changes nothing is answered with an older number, and a repeated one with the same.
        progress.wrote(in: Self.notes, [4, 12], deletions: 0)
        #expect(missing(upTo: 13) == 1)
        progress.wrote(in: Self.notes, [], deletions: 1)
        #expect(missing(upTo: 14) == 1)
        progress.told(Self.feed, asked: 10, to: 14, at: 2)
        #expect(missing(upTo: 14) == 0)
        #expect(missing(upTo: 15) == 1)
        progress.wrote(in: ZoneKey(database: database, name: "Other"), [15], deletions: 0)
        #expect(missing(upTo: 15) == 1, "in another zone")
    }

    @Test func `R-850: pushes that are acknowledged bring a device on, and a token that expires is counted`() throws {
        var progress = DeviceProgress()
        progress.told(Self.feed, asked: 3, to: 5, at: 1)
        progress.heard(at: 2) { $0.zone == ZoneID(3) ? 8 : nil }
        #expect(progress.feeds.map(\.told) == [8])
        // What a push brought before the device asked is old.
        progress.heard(at: 3) { _ in 6 }
        #expect(progress.feeds.map(\.told) == [8])
        for _ in 0..<2 { progress.expired(Self.feed, asked: 8, at: 4) }
        #expect(progress.feeds.map(\.expiredCount) == [2])
        progress.told(Self.feed, asked: nil, to: 9, at: 5)
        #expect(progress.feeds.map(\.expiredCount) == [0])
        #expect(progress.feeds.map(\.asked) == [nil])
        // A device that comes back with an older token is where that is.
        progress.told(Self.feed, asked: 2, to: 4, at: 6)
        #expect(progress.feeds.map(\.told) == [4])
    }

    @Test func `R-852: of what two servers know of a device, the newer fact wins, whoever merges`() throws {
        var early = DeviceProgress()
        early.link = DeviceLink(server: "a", since: 1, endedAt: 5, credential: CredentialID(1))
        early.told(Self.feed, asked: nil, to: 5, at: 5)
        early.told(.database(DatabaseID(8)), asked: nil, to: 2, at: 4)
        early.answered(request(1, at: 2))
        early.sentRecords(refused: RecordsRefusal(code: 12, count: 1, at: 2), at: 2)
        var late = DeviceProgress()
        late.link = DeviceLink(server: "b", since: 6, credential: CredentialID(1))
        late.told(Self.feed, asked: 5, to: 9, at: 7)
        late.answered(request(2, at: 7))
        late.answered(
            RequestSummary(
                mark: RequestBits(high: 1, low: 3), kind: "modify_records", at: 8, microseconds: 1, code: 0))
        late.sentRecords(refused: nil, at: 8)
        for (one, other) in [(early, late), (late, early)] {
            var merged = one
            merged.merge(other)
            #expect(merged.refusal == nil, "the last send was taken")
            #expect(merged.link?.server == "b")
            #expect(Set(merged.feeds.map(\.told)) == [9, 2])
            #expect(merged.requests.map(\.at) == [2, 7, 8])
            var again = merged
            again.merge(other)
            #expect(again == merged, "once is enough")
        }
    }

    @Test func `R-852: a refusal that is over does not come back, however much was asked since`() throws {
        var refused = DeviceProgress()
        refused.sentRecords(refused: RecordsRefusal(code: 12, count: 1, at: 2), at: 2)
        // Nothing that it sent is among its last requests.
        var taken = DeviceProgress()
        taken.sentRecords(refused: nil, at: 3)
        for number in 1...16 { taken.answered(request(UInt64(number), at: 4)) }
        for (one, other) in [(refused, taken), (taken, refused)] {
            var merged = one
            merged.merge(try #require(DeviceProgress(decoding: other.encoded)))
            #expect(merged.refusal == nil)
            #expect(merged.sentAt == 3)
        }
        // It was refused again since.
        var again = DeviceProgress()
        again.sentRecords(refused: RecordsRefusal(code: 13, count: 1, at: 5), at: 5)
        taken.merge(again)
        #expect(taken.refusal?.code == 13)
    }

    @Test
    func `R-852: the later connection is the device's, whenever a server learns that the one before it has ended`() {
        func link(_ server: String, since: Timestamp, endedAt: Timestamp? = nil) -> DeviceProgress {
            var progress = DeviceProgress()
            progress.link = DeviceLink(server: server, since: since, endedAt: endedAt, credential: CredentialID(1))
            return progress
        }
        func merged(_ one: DeviceProgress, _ other: DeviceProgress) -> DeviceLink? {
            var merged = one
            merged.merge(other)
            return merged.link
        }
        // The device lost its network at 5, and was at another server at 10. The first one noticed at 60.
        let (first, second) = (link("one", since: 1, endedAt: 60), link("two", since: 10))
        #expect(merged(first, second) == second.link)
        #expect(merged(second, first) == second.link)
        // It ends there too.
        let ended = link("two", since: 10, endedAt: 70)
        #expect(merged(second, ended) == ended.link)
        #expect(merged(ended, second) == ended.link)
        #expect(merged(first, ended) == ended.link)
        // And comes back to the first.
        let back = link("one", since: 65)
        #expect(merged(ended, back) == back.link)
        #expect(merged(back, ended) == back.link)
        #expect(merged(DeviceProgress(), back) == back.link)
        #expect(merged(back, DeviceProgress()) == back.link)
    }
}
