// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling

/// Reads pages of zones' feeds before clients ask for them, while the client is busy with the page before.
///
/// A page that was read ahead is used only if more pages follow it. Later changes have later numbers, and come with
/// those pages. The last page of a fetch is always read when the client asks for it, so a fetch sees everything that
/// was committed before. No page is older than the one before it. A page that was read ahead for an earlier fetch is
/// not used by a later one. The later fetch may have seen newer changes (I-3).
///
/// In a zone of another user, a page that was read ahead is used only if the reader has access after the request came
/// (I-5).
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

    /// The result of `make` for the page that answers a question: a page that was read ahead, or a new one. Begins to read the next pages,
    /// if there are more, and the owner has room for them.
    ///
    /// In a zone of another user, the result for a page that was read ahead is given only if the reader has access (I-5). The access is
    /// read at the same time. Without it, the result is dropped, and the page is read again, with the access.
    ///
    /// NB: the read of the access begins when the page is here. If both were under way at once, PostgreSQL could look at the
    /// access first, and at the records after access has ended.
    ///
    /// - Parameters:
    ///   - owner: whose client asks.
    ///   - lane: where pages are read ahead; nil: beside all lanes.
    ///   - make: may be called twice, so nothing else may come of it.
    func answer<Made: Sendable>(
        _ question: ZoneQuestion, of owner: WorkOwner, on lane: (any TaskExecutor)?, _ make: (ZonePage) async -> Made
    ) async -> Result<Made, FailureReason> {
        let executor: any TaskExecutor = if let lane { lane } else { scheduler }
        let asker = PageAsker(owner: owner, lane: executor)
        guard let ahead = await pageReadAhead(question) else { return await newAnswer(question, asker, make) }
        guard question.reader?.viewer != nil else {
            await readOn(after: .success(ahead), isNew: false, question, asker)
            return .success(await make(ahead))
        }
        async let isAllowed = mayRead(question, ahead.zone)
        await readOn(after: .success(ahead), isNew: false, question, asker)
        let made = await make(ahead)
        guard await isAllowed else { return await newAnswer(question, asker, make) }
        return .success(made)
    }

    /// A page was read just now for another answer. A page that was read ahead to follow an earlier page with the same
    /// end is older (I-3).
    func forget(after page: ZonePage, of question: ZoneQuestion) {
        pages.withLock { $0.forget(after: page, of: question) }
    }

    private func newAnswer<Made: Sendable>(
        _ question: ZoneQuestion, _ asker: PageAsker, _ make: (ZonePage) async -> Made
    ) async -> Result<Made, FailureReason> {
        let page = await read(question, false)
        await readOn(after: page, isNew: true, question, asker)
        switch page {
        case .success(let page): return .success(await make(page))
        case .failure(let reason): return .failure(reason)
        }
    }

    /// Nil if there is none that may be used.
    private func pageReadAhead(_ question: ZoneQuestion) async -> ZonePage? {
        let now = scheduler.now
        let answer = pages.withLock { $0.take(question, at: now) }
        guard let answer, case .success(let page) = await answer.value(), Pages.isUsed(page) else { return nil }
        return page
    }

    /// The store gets its next questions before an answer is made of this page, so that both work at the same time.
    private func readOn(after page: Page, isNew: Bool, _ question: ZoneQuestion, _ asker: PageAsker) async {
        readAhead(of: page, isNew: isNew, question, asker, depth: Pages.depth)
        await Task.yield()
    }

    /// Begins to read this many pages after this one, each when the one before has arrived. Skips those that are
    /// already here.
    ///
    /// - Parameter isNew: whether this page was read just now.
    private func readAhead(of page: Page, isNew: Bool, _ question: ZoneQuestion, _ asker: PageAsker, depth: Int) {
        // Nothing was read ahead of the end of a feed.
        guard case .success(let page) = page, page.moreComing else { return }
        if isNew { forget(after: page, of: question) }
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
