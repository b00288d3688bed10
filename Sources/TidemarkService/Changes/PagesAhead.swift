// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling

/// Pages of zones' feeds that are read before they are asked for, while the client is busy with the page before.
///
/// Such a page counts only if it says that there is more: what has changed since it was read has later numbers, and comes
/// with the pages after it. The last page of a fetch is always read when it is asked for, so that a fetch sees whatever was
/// committed before it. Bounded in number, in bytes (only small pages are followed by one that is read ahead) and in age.
final class PagesAhead: Sendable {
    typealias Page = Result<ZonePage, FailureReason>

    /// A request for a page.
    struct Question: Sendable, Equatable {
        let key: ZoneKey
        let token: [UInt8]
        let recordsMax: Int
        let device: DeviceID
        let tellsEnds: Bool
    }

    private struct Entry {
        let question: Question
        let begunAt: Duration
        let page: Answer<Page>
    }

    private static let countMax = 32
    /// A client that goes on at all goes on at once.
    private static let ageMax: Duration = .seconds(2)
    /// Of the stored bytes of the page before.
    private static let bytesMax = 262_144

    private let scheduler: any Scheduler
    private let read: @Sendable (Question) async -> Page
    /// The oldest first.
    private let entries = Mutex(Deque<Entry>())

    init(scheduler: any Scheduler, read: @escaping @Sendable (Question) async -> Page) {
        self.scheduler = scheduler
        self.read = read
    }

    /// The answer to a question, read ahead or now; and the next page, if there is more, is begun.
    func page(_ question: Question) async -> Page {
        if let page = await pageReadAhead(question) {
            await readAhead(of: page, question)
            return .success(page)
        }
        let page = await read(question)
        if case .success(let page) = page { await readAhead(of: page, question) }
        return page
    }

    /// Nil if there is none, or none that counts.
    private func pageReadAhead(_ question: Question) async -> ZonePage? {
        let now = scheduler.now
        let answer = entries.withLock { entries -> Answer<Page>? in
            while let oldest = entries.first, now - oldest.begunAt > Self.ageMax { entries.removeFirst() }
            guard let index = entries.firstIndex(where: { $0.question == question }) else { return nil }
            return entries.remove(at: index).page
        }
        guard let answer, case .success(let page) = await answer.value(), page.moreComing else { return nil }
        return page
    }

    private func readAhead(of page: ZonePage, _ question: Question) async {
        guard page.moreComing, byteCount(of: page) <= Self.bytesMax else { return }
        let next = Question(
            key: question.key, token: page.token.bytes, recordsMax: question.recordsMax, device: question.device,
            tellsEnds: question.tellsEnds)
        let answer = Answer<Page>()
        let begunAt = scheduler.now
        entries.withLock { entries in
            entries.append(Entry(question: next, begunAt: begunAt, page: answer))
            if entries.count > Self.countMax { entries.removeFirst() }
        }
        scheduler.run { [read] in answer.give(await read(next)) }
        // So that the store is asked before this page is encoded, and both work at the same time.
        await Task.yield()
    }

    private func byteCount(of page: ZonePage) -> Int {
        page.entries.withUnsafeBufferPointer { records in
            records.indices.reduce(0) { $0 + records[$1].fields.byteCount }
        }
    }
}
