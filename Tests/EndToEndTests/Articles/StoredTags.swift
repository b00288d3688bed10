// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkDomain
import TidemarkFields
import TidemarkTestKit

/// Which tags of notes the server has, as it commits them. What it had in a zone when that ended is gone with the zone: nobody
/// can be blamed for it. What it did not have then is still somebody's to send.
final class StoredTags: Sendable {
    private struct State {
        /// By zone, and by the name of the note.
        var living: [ZoneID: [String: Set<String>]] = [:]
        var gone: Set<String> = []
    }

    private let state = Mutex(State())

    /// All that was stored in a zone when it ended.
    var gone: Set<String> { state.withLock { $0.gone } }

    func note(_ commit: MemoryCommit) {
        state.withLock { state in
            switch commit {
            case .zoneCreated(let zone):
                state.living[zone.id] = [:]
            case .zoneEnded(let zone):
                let records = state.living.removeValue(forKey: zone.id) ?? [:]
                for tags in records.values { state.gone.formUnion(tags) }
            case .records(let changes):
                for record in changes.records {
                    guard !record.isDeleted, case .strings(let tags)? = try? record.fields["tags"]?.value() else {
                        state.living[changes.zone]?[record.name] = nil
                        continue
                    }
                    state.living[changes.zone]?[record.name] = Set(tags)
                }
            }
        }
    }
}
