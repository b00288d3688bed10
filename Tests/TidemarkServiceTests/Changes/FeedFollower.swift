// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkDomain
import TidemarkService

/// A device that only reads: it knows what its tokens have told it, and nothing else.
final class FeedFollower: Sendable {
    private struct State {
        var databaseToken: [UInt8] = []
        var zoneTokens: [String: [UInt8]] = [:]
        var records: [String: [String: RecordState]] = [:]
    }

    private let database: DatabaseID
    private let state = Mutex(State())

    init(database: DatabaseID) {
        self.database = database
    }

    func records(in zone: String) -> [String: RecordState] {
        state.withLock { $0.records[zone] ?? [:] }
    }

    /// Reads the database feed, and the feed of each zone in it; a token is kept when what is before it has been read.
    func fetch(from service: CloudService) async {
        while true {
            let token = state.withLock { $0.databaseToken }
            guard case .success(let page) = await service.databaseChanges(of: database, token: token, zonesMax: 2)
            else { return }
            for zone in page.ended { forget(zone.key.name) }
            for zone in page.changed {
                guard await fetch(zone.key, from: service) else { return }
            }
            state.withLock { $0.databaseToken = page.token.bytes }
            if !page.moreComing { return }
        }
    }

    private func forget(_ zone: String) {
        state.withLock {
            $0.zoneTokens[zone] = nil
            $0.records[zone] = nil
        }
    }

    private func fetch(_ key: ZoneKey, from service: CloudService) async -> Bool {
        while true {
            let token = state.withLock { $0.zoneTokens[key.name] ?? [] }
            let answer = await service.zoneChanges(
                in: key, token: token, recordsMax: 3, device: DeviceID(high: 99, low: 99), reader: nil)
            guard case .success(let page) = answer else { return false }
            state.withLock { state in
                for record in page.entries {
                    state.records[key.name, default: [:]][record.name] = record.isDeleted ? nil : record
                }
                state.zoneTokens[key.name] = page.token.bytes
            }
            if !page.moreComing { return true }
        }
    }
}
