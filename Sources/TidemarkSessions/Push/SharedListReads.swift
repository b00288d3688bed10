// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkDomain

/// Which lists of zones are to be read (``SharedZoneLists``). For each viewer at most one read is under way, and at most one more
/// is wanted after it. That one shows whatever happened in the meantime. A pure value.
///
/// What a viewer's own device causes is read at once, in a turn of its account. What somebody else causes is read later,
/// one list after another, because an owner may have very many viewers. Accounts take turns: one may have a long list in each of
/// very many containers.
struct SharedListReads {
    private var wanted: Set<DatabaseID> = []
    private var underWay: Set<DatabaseID> = []
    /// The viewers in ``underWay`` whose result must be dropped: nobody wants it any more, or the list has changed since.
    private var outdated: Set<DatabaseID> = []
    /// Those that are to be read later, by account and in this order. Some may have been read meanwhile. None is empty.
    private var later: [AccountID: Deque<DatabaseID>] = [:]
    /// The accounts of ``later``. The first is next.
    private var turns: Deque<AccountID> = []
    private var isReadingLater = false

    /// A list is to be read.
    ///
    /// - Returns: whether the caller is to read it. If not, the task that reads it now reads it once more.
    mutating func want(_ viewer: DatabaseID) -> Bool {
        wanted.insert(viewer)
        return underWay.insert(viewer).inserted
    }

    /// A list of this account is to be read later (``takeLater()``).
    mutating func wantLater(_ viewer: DatabaseID, of account: AccountID) {
        if wanted.insert(viewer).inserted, !underWay.contains(viewer) { lineUp(viewer, account) }
    }

    private mutating func lineUp(_ viewer: DatabaseID, _ account: AccountID) {
        if later[account] == nil { turns.append(account) }
        later[account, default: []].append(viewer)
    }

    /// For the task that reads a list: whether it is to be read (again) now. If not, the reading has ended.
    mutating func takeNext(of viewer: DatabaseID) -> Bool {
        outdated.remove(viewer)
        guard wanted.remove(viewer) == nil else { return true }
        underWay.remove(viewer)
        return false
    }

    /// The reading has ended, and the list could not be read. It is to be read later.
    ///
    /// - Parameter account: whose it is; nil: nobody wants it any more.
    mutating func failed(_ viewer: DatabaseID, of account: AccountID?) {
        underWay.remove(viewer)
        outdated.remove(viewer)
        guard let account else { return forget(viewer) }
        wanted.insert(viewer)
        lineUp(viewer, account)
    }

    /// Nobody wants the list any more.
    mutating func forget(_ viewer: DatabaseID) {
        wanted.remove(viewer)
        outdate(viewer)
    }

    /// If a read is under way, its result must be dropped.
    mutating func outdate(_ viewer: DatabaseID) {
        if underWay.contains(viewer) { outdated.insert(viewer) }
    }

    /// Whether the list is to be read, or read once more.
    func isWanted(_ viewer: DatabaseID) -> Bool { wanted.contains(viewer) }

    /// For the task that reads a list: whether what it has read must be dropped.
    func isOutdated(_ viewer: DatabaseID) -> Bool { outdated.contains(viewer) }

    /// Whether the caller is to read the lists that ``takeLater()`` gives.
    mutating func beginsLater() -> Bool {
        guard !isReadingLater, !turns.isEmpty else { return false }
        isReadingLater = true
        return true
    }

    /// The next list that was to be read later. The caller is to read it. Nil: there is none now.
    mutating func takeLater() -> DatabaseID? {
        while let account = turns.popFirst() {
            var line = later.removeValue(forKey: account) ?? []
            var next: DatabaseID?
            while next == nil, let viewer = line.popFirst() {
                if wanted.contains(viewer), underWay.insert(viewer).inserted { next = viewer }
            }
            if !line.isEmpty {
                later[account] = line
                turns.append(account)
            }
            if let next { return next }
        }
        isReadingLater = false
        return nil
    }

    /// The store cannot be read now. What is left waits until ``beginsLater()`` is asked again.
    mutating func pauseLater() { isReadingLater = false }
}
