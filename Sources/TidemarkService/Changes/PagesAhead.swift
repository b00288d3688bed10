// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling

/// Reads pages of zones' feeds before clients ask for them, while the client is busy with the page before.
///
/// A page that was read ahead is used only if more pages follow it: what has changed since it was read has later
/// numbers, and comes with those. The last page of a fetch is always read when the client asks for it, so a fetch sees
/// everything that was committed before. No page is older than the one before it: a page that was read ahead for an
/// earlier fetch is not used by a later one, which may have seen newer changes (I-3).
///
/// The pages are bounded in number, in age, and in bytes: only small pages are followed by one that is read ahead.
final class PagesAhead: Sendable {
    typealias Page = Result<ZonePage, FailureReason>

    private struct Entry {
        let question: ZoneQuestion
        let begunAt: Duration
        let page: Answer<Page>
    }

    private static let countMax = 32
    /// A client that goes on does so at once.
    private static let ageMax: Duration = .seconds(2)
    /// The most stored bytes of the page before.
    private static let bytesMax = 262_144
    /// How many pages are read ahead of the one that is being answered. With two, the store has work while the client
    /// asks for the first.
    private static let depth = 2

    private let scheduler: any Scheduler
    private let read: @Sendable (ZoneQuestion) async -> Page
    /// The oldest first.
    private let entries = Mutex(Deque<Entry>())

    init(scheduler: any Scheduler, read: @escaping @Sendable (ZoneQuestion) async -> Page) {
        self.scheduler = scheduler
        self.read = read
    }

    /// The answer to a question, from a page that was read ahead or from a new read. Begins to read the next pages, if
    /// there are more.
    func page(_ question: ZoneQuestion) async -> Page {
        let ahead = await pageReadAhead(question)
        let page: Page = if let ahead { .success(ahead) } else { await read(question) }
        readAhead(of: page, isNew: ahead == nil, question, depth: Self.depth)
        // The store gets the next question before this page is encoded, so that both work at the same time.
        await Task.yield()
        return page
    }

    /// Nil if there is none that may be used.
    private func pageReadAhead(_ question: ZoneQuestion) async -> ZonePage? {
        let now = scheduler.now
        let answer = entries.withLock { entries -> Answer<Page>? in
            while let oldest = entries.first, now - oldest.begunAt > Self.ageMax { entries.removeFirst() }
            guard let index = entries.firstIndex(where: { $0.question == question }) else { return nil }
            return entries.remove(at: index).page
        }
        guard let answer, case .success(let page) = await answer.value(), page.moreComing else { return nil }
        return page
    }

    /// Begins to read this many pages after this one, each when the one before has arrived. Skips those that are
    /// already here.
    ///
    /// - Parameter isNew: whether this page was read just now. Then the pages that are already here are older.
    private func readAhead(of page: Page, isNew: Bool, _ question: ZoneQuestion, depth: Int) {
        guard depth > 0, case .success(let page) = page, page.moreComing, byteCount(of: page) <= Self.bytesMax else {
            return
        }
        var next = question
        next.token = page.token.bytes
        let now = scheduler.now
        let (answer, isBegun) = entries.withLock { entries in
            if isNew { entries.removeAll { $0.question == next } }
            if let entry = entries.first(where: { $0.question == next }) { return (entry.page, true) }
            let answer = Answer<Page>()
            entries.append(Entry(question: next, begunAt: now, page: answer))
            if entries.count > Self.countMax { entries.removeFirst() }
            return (answer, false)
        }
        scheduler.run { [self, next] in
            if !isBegun { answer.give(await read(next)) }
            readAhead(of: await answer.value(), isNew: !isBegun, next, depth: depth - 1)
        }
    }

    private func byteCount(of page: ZonePage) -> Int {
        page.entries.withUnsafeBufferPointer { records in
            records.indices.reduce(0) { $0 + records[$1].fields.byteCount }
        }
    }
}
