// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling

/// Reads pages of zones' feeds before clients ask for them, while the client is busy with the page before.
///
/// A page that was read ahead is used only if more pages follow it. What has changed since it was read has later
/// numbers, and comes with those. The last page of a fetch is always read when the client asks for it, so a fetch sees
/// everything that was committed before. No page is older than the one before it. A page that was read ahead for an
/// earlier fetch is not used by a later one. That one may have seen newer changes (I-3).
///
/// In a zone of another, a page that was read ahead is used only if the reader has access when it is asked for (I-5).
///
/// ``ReadAheadCache`` holds the pages and has the rules. It bounds them in number, also of one owner, in age, and in bytes.
final class PagesAhead: Sendable {
    typealias Page = Result<ZonePage, FailureReason>
    private typealias Pages = ReadAheadCache<Answer<Page>>

    private let scheduler: any Scheduler
    private let read: @Sendable (ZoneQuestion, _ isAhead: Bool) async -> Page
    private let mayRead: @Sendable (ZoneQuestion, _ zone: ZoneID) async -> Bool
    private let pages = Mutex(Pages())
    /// Whether a timer is set that forgets pages for which nobody asks.
    private let isWatched = Atomic(false)

    /// - Parameter mayRead: whether the reader may have a page of this incarnation of the zone now.
    init(
        scheduler: any Scheduler, read: @escaping @Sendable (ZoneQuestion, _ isAhead: Bool) async -> Page,
        mayRead: @escaping @Sendable (ZoneQuestion, _ zone: ZoneID) async -> Bool
    ) {
        self.scheduler = scheduler
        self.read = read
        self.mayRead = mayRead
    }

    /// The answer to a question, from a page that was read ahead or from a new read. Begins to read the next pages, if
    /// there are more, and the owner has room for them.
    ///
    /// - Parameters:
    ///   - owner: whose client asks.
    ///   - lane: where pages are read ahead; nil: beside all lanes.
    func page(_ question: ZoneQuestion, of owner: WorkOwner, on lane: (any TaskExecutor)?) async -> Page {
        let ahead = await pageReadAhead(question)
        let page: Page = if let ahead { .success(ahead) } else { await read(question, false) }
        let executor: any TaskExecutor = if let lane { lane } else { scheduler }
        let asker = PageAsker(owner: owner, lane: executor)
        readAhead(of: page, isNew: ahead == nil, question, asker, depth: Pages.depth)
        // The store gets the next question before this page is encoded, so that both work at the same time.
        await Task.yield()
        return page
    }

    /// Nil if there is none that may be used.
    private func pageReadAhead(_ question: ZoneQuestion) async -> ZonePage? {
        let now = scheduler.now
        let answer = pages.withLock { $0.take(question, at: now) }
        guard let answer, case .success(let page) = await answer.value(), Pages.isUsed(page) else { return nil }
        guard question.reader?.viewer == nil else { return await mayRead(question, page.zone) ? page : nil }
        return page
    }

    /// Begins to read this many pages after this one, each when the one before has arrived. Skips those that are
    /// already here.
    ///
    /// - Parameter isNew: whether this page was read just now.
    private func readAhead(of page: Page, isNew: Bool, _ question: ZoneQuestion, _ asker: PageAsker, depth: Int) {
        // Nothing was read ahead of the end of a feed.
        guard case .success(let page) = page, page.moreComing else { return }
        if isNew { pages.withLock { $0.forget(after: page, of: question) } }
        guard depth > 0, let next = Pages.next(after: page, of: question) else { return }
        let now = scheduler.now
        let begun = pages.withLock { pages -> (reading: Answer<Page>, isBegun: Bool)? in
            guard pages.admits(next, of: asker.owner) else { return nil }
            return pages.begin(next, of: asker.owner, at: now, Answer<Page>())
        }
        guard let (answer, isBegun) = begun else { return }
        if !isWatched.exchange(true, ordering: .relaxed) { forgetLater() }
        asker.lane.run { [self] in
            if !isBegun { answer.give(await read(next, true)) }
            readAhead(of: await answer.value(), isNew: !isBegun, next, asker, depth: depth - 1)
        }
    }

    /// As long as there are pages. They have megabytes, and a client may never come back for them.
    private func forgetLater() {
        _ = scheduler.schedule(after: Pages.ageMax) { [weak self] in
            guard let self else { return }
            let now = scheduler.now
            isWatched.store(false, ordering: .relaxed)
            let areLeft = pages.withLock { $0.forgetOld(at: now) }
            if areLeft, !isWatched.exchange(true, ordering: .relaxed) { forgetLater() }
        }
    }
}

/// For whom pages are read ahead.
private struct PageAsker: Sendable {
    let owner: WorkOwner
    let lane: any TaskExecutor
}
