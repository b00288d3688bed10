// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields

/// Decides which pages of zones' feeds are read before clients ask for them. Values in, decisions out: no clock, no lock, no store.
///
/// | a page is | from | the client asks for it |
/// | --- | --- | --- |
/// | unknown | the start, and when it was asked for or forgotten | it is read now |
/// | ahead | a page before it that is small, says that more follow, and has arrived | used if more follow it too; else read now |
///
/// A page is forgotten after two seconds, if it is the oldest of more than 32, and when the page before it is read again. Each owner may
/// have eight: beyond that, nothing is read ahead.
///
/// `Reading` is what the pages are read by.
struct ReadAheadCache<Reading: Sendable>: Sendable {
    private struct Entry: Sendable {
        let question: ZoneQuestion
        let owner: WorkOwner
        let begunAt: Duration
        let reading: Reading
    }

    static var countMax: Int { 32 }
    static var countPerOwnerMax: Int { 8 }
    /// A client that goes on does so at once.
    static var ageMax: Duration { .seconds(2) }
    /// The most stored bytes of the page before.
    static var bytesMax: Int { 262_144 }
    /// How many pages are read ahead of the one that is being answered. With two, the store has work while the client
    /// asks for the first.
    static var depth: Int { 2 }

    /// The oldest first.
    private var entries = Deque<Entry>()

    init() {}

    var count: Int { entries.count }

    /// The page that is read ahead of this one; nil if none is.
    static func next(after page: ZonePage, of question: ZoneQuestion) -> ZoneQuestion? {
        guard page.moreComing, byteCount(of: page) <= bytesMax else { return nil }
        var next = question
        next.token = page.token.bytes
        return next
    }

    /// Whether a page that was read ahead may be the answer. Later changes come with later pages.
    static func isUsed(_ page: ZonePage) -> Bool { page.moreComing }

    /// A client asks for the page. It is forgotten.
    mutating func take(_ question: ZoneQuestion, at now: Duration) -> Reading? {
        forgetOld(at: now)
        guard let index = entries.firstIndex(where: { $0.question == question }) else { return nil }
        return entries.remove(at: index).reading
    }

    /// Forgets pages that have waited for too long.
    ///
    /// - Returns: whether others are left.
    @discardableResult
    mutating func forgetOld(at now: Duration) -> Bool {
        while let oldest = entries.first, now - oldest.begunAt > Self.ageMax { entries.removeFirst() }
        return !entries.isEmpty
    }

    /// A page was read just now. A page that was to follow an earlier page with the same end is older, whatever its
    /// number of records, and is forgotten.
    mutating func forget(after page: ZonePage, of question: ZoneQuestion) {
        let token = page.token.bytes
        entries.removeAll {
            $0.question.token == token && $0.question.device == question.device && $0.question.key == question.key
        }
    }

    /// Whether the page is here, or its owner has room for another one.
    func admits(_ question: ZoneQuestion, of owner: WorkOwner) -> Bool {
        entries.contains { $0.question == question }
            || entries.count(where: { $0.owner == owner }) < Self.countPerOwnerMax
    }

    /// The page is wanted ahead. Ask ``admits(_:of:)`` first.
    ///
    /// - Parameters:
    ///   - owner: whose client asks.
    ///   - reading: what the page is read by if it is not here.
    /// - Returns: what the page is read by, and whether that had begun before.
    mutating func begin(
        _ question: ZoneQuestion, of owner: WorkOwner, at now: Duration, _ reading: @autoclosure () -> Reading
    ) -> (reading: Reading, isBegun: Bool) {
        if let entry = entries.first(where: { $0.question == question }) { return (entry.reading, true) }
        let reading = reading()
        entries.append(Entry(question: question, owner: owner, begunAt: now, reading: reading))
        if entries.count > Self.countMax { entries.removeFirst() }
        return (reading, false)
    }

    private static func byteCount(of page: ZonePage) -> Int {
        page.entries.withUnsafeBufferPointer { records in
            records.indices.reduce(0) { $0 + records[$1].fields.byteCount }
        }
    }
}
