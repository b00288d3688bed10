// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

/// What a client finds in any message that it receives.
extension WireServerEnvelope {
    /// All records, whatever was asked: those of pages, queries, conflicts, links and pushes.
    package var records: [WireRecord] {
        switch answer {
        case .modifyRecords(let answer)?: answer.zones.flatMap { $0.saves.compactMap(\.record) }
        case .fetchRecords(let answer)?:
            answer.results.compactMap { if case .record(let record)? = $0.result { record } else { nil } }
        case .queryRecords(let answer)?: answer.matches.map(\.record)
        case .fetchZoneChanges(let answer)?: answer.records
        case .fetchDatabaseChanges(let answer)?: answer.then.records
        case .push(let push)?: push.changes.answer.then.records
        case .fetchShareMetadata(let answer)?: answer.results.compactMap(\.record)
        case .acceptShares(let answer)?: answer.results.compactMap(\.record)
        default: []
        }
    }

    /// Why it failed, or some of it; empty if nothing did. A message without an answer is `networkFailure`: the
    /// connection has ended.
    package var failureCodes: [WireErrorCode] {
        let codes: [WireErrorCode] =
            switch answer {
            case .failure(let failure)?: [failure.code]
            case .modifyRecords(let answer)?:
                answer.zones.flatMap { $0.saves.map(\.failure.failure.code) + $0.deletes.map(\.failure.code) }
            case .modifyZones(let answer)?: (answer.saves + answer.deletes).map(\.failure.code)
            case .fetchRecords(let answer)?: answer.results.map(\.failure.code)
            case .fetchZones(let answer)?: answer.zones.map(\.failure.code)
            case .fetchShareMetadata(let answer)?: answer.results.map(\.failure.code)
            case .acceptShares(let answer)?: answer.results.map(\.failure.code)
            case nil: [.networkFailure]
            default: []
            }
        return codes.filter { $0 != .unspecified }
    }

    /// The tags of what it says was saved.
    package var savedTags: [[UInt8]] {
        guard case .modifyRecords(let answer)? = answer else { return [] }
        return answer.zones.flatMap { $0.saves.map(\.saved.tag) }.filter { !$0.isEmpty }
    }
}

extension WireFetchZoneChangesAnswer {
    package var records: [WireRecord] {
        changes.compactMap { if case .record(let record)? = $0.change { record } else { nil } }
    }
}

extension WireSaveResult {
    fileprivate var record: WireRecord? {
        switch result {
        case .saved(let saved)?: saved.hasRecord ? saved.record : nil
        case .failure(let failure)?: failure.hasServerRecord ? failure.serverRecord : nil
        case nil: nil
        }
    }
}

extension WireShareMetadataResult {
    fileprivate var record: WireRecord? {
        if case .metadata(let metadata)? = result, metadata.hasShare { metadata.share } else { nil }
    }
}

/// A version of a record, as its tag names it.
package struct RecordPoint: Hashable, Sendable {
    package let zone: ZoneID
    package let number: ChangeNumber

    package init(zone: ZoneID, number: ChangeNumber) {
        self.zone = zone
        self.number = number
    }

    /// Nil for a tag that no server made.
    package init?(tag: [UInt8]) {
        guard case .version(_, let zone, let number) = ChangeTag(bytes: tag) else { return nil }
        self.init(zone: zone, number: number)
    }

    /// Up to where a page goes. Nil for other tokens than those of zones.
    package init?(token: [UInt8]) {
        guard case .zone(_, _, _, _, let position)? = ChangeToken(bytes: token) else { return nil }
        self.init(zone: position.zone, number: position.number)
    }
}
