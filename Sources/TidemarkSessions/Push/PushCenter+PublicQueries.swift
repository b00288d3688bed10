// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

// The sweep of public databases, for devices with query subscriptions in them. Their changes concern the users of a
// whole container. So a device is told only if a push may really be missing.
extension PushCenter {
    /// Databases of one read.
    private static let databasesPerRead = 50

    /// A user's subscriptions were read, and the devices are told next. What changes after that differs from the marks.
    ///
    /// - Parameter database: the private or the shared one of the user. The subscriptions of both have been read at once.
    func startPublicQueries(of database: DatabaseID) async {
        let new = state.withLock { state in
            [database, state.watches[database]?.twin].compactMap(\.self)
                .flatMap { state.queryAudience.publicDatabases(of: $0) }.filter { !state.publicQueries.watches($0) }
                .sorted()
        }
        // Without a mark the next sweep tells everyone.
        guard !new.isEmpty, let marks = try? await service.changeMarks(of: new).get() else { return }
        state.withLock { state in for (database, mark) in marks { state.publicQueries.starts(database, at: mark) } }
    }

    /// Servers have posted all that these changes fire.
    func takeIn(_ evaluated: [EvaluatedChanges]) {
        guard !evaluated.isEmpty else { return }
        state.withLock { state in for changes in evaluated { state.publicQueries.evaluated(changes) } }
    }

    /// Compares the public databases of connected devices with the store.
    ///
    /// - Parameter isAfterGap: whether other servers' notices may have been lost. Then all are told that records may have
    ///   changed, also if the store does not answer (I-4).
    func sweepPublicQueries(isAfterGap: Bool = false) async {
        let databases = state.withLock { state in
            let databases = state.queryAudience.publicDatabases()
            state.publicQueries.keep(databases)
            return databases.sorted()
        }
        for start in stride(from: 0, to: databases.count, by: Self.databasesPerRead) {
            let some = Array(databases[start..<min(start + Self.databasesPerRead, databases.count)])
            let marks = (try? await service.changeMarks(of: some).get()) ?? [:]
            for database in some {
                guard let mark = marks[database] else { continue }
                let isLost = state.withLock { $0.publicQueries.swept(database, mark, isAfterGap: isAfterGap) }
                if isLost, !isAfterGap { tellOfQueries(in: database) }
            }
        }
        if isAfterGap { tellOfPublicQueries() }
    }
}
