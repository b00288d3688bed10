// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService

/// Where the requests of a hub wait for their owners' turns: one gate for each thing that is scarce.
struct RequestGates: Sendable {
    /// What a request waits for.
    enum Kind {
        /// To be read from the store, with an answer that may be large.
        case fetch
        /// To read all zones of a database, which takes PostgreSQL long if there are very many.
        case wholeDatabase
        /// The disk.
        case asset
        /// One of the few connections that change the store.
        case change
    }

    /// The room of an answer that may be a whole page.
    static let pageRoom = 4

    private let fetches: FairGate
    private let wholeDatabases: FairGate
    private let assets: FairGate
    private let changes: FairGate
    /// `Hello`, of which nobody knows yet whose it is.
    let greetings: FairGate
    /// Queries, from what is read to prepare them to their answers.
    let queries: FairGate

    init(_ settings: SessionSettings, _ scheduler: any Scheduler) {
        func gate(_ bounds: FairBounds) -> FairGate {
            FairGate(bounds, patience: settings.turnPatience, scheduler: scheduler)
        }
        fetches = gate(settings.fetches)
        wholeDatabases = gate(settings.wholeDatabases)
        assets = gate(settings.assets)
        changes = gate(settings.changes)
        // Whose turn does not come is told so before the time for `Hello` is over.
        greetings = FairGate(settings.greetings, patience: settings.helloTimeout / 2, scheduler: scheduler)
        queries = FairGate(settings.queries, patience: settings.queryPatience, scheduler: scheduler)
    }

    subscript(kind: Kind) -> FairGate {
        switch kind {
        case .fetch: fetches
        case .wholeDatabase: wholeDatabases
        case .asset: assets
        case .change: changes
        }
    }
}

extension RequestGates.Kind {
    /// What a work has cost its owner.
    ///
    /// - Parameters:
    ///   - time: how long it took. It counts where works of little content may take long.
    ///   - byteCount: the bytes of a request and its answer.
    func charge(for time: Duration, byteCount: Int = 0) -> Int {
        switch self {
        case .wholeDatabase: FairGate.charge(for: time)
        case .fetch, .asset, .change: max(1, byteCount / 1_024)
        }
    }

    /// What a client is told if its turn does not come.
    var refusal: String {
        switch self {
        case .fetch: "Too many fetches are under way. Wait for their answers, and ask again after the delay."
        case .wholeDatabase:
            "Too many fetches of a database's changes are under way. Wait for their answers, and ask again after the "
                + "delay."
        case .asset: "Too many parts of files are under way. Wait for their answers, and go on after the delay."
        case .change:
            "Too many changes of zones, subscriptions and keys are under way. Wait for their answers, and try again "
                + "after the delay."
        }
    }
}
