// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

extension ZoneSnapshot {
    /// Fetches records by name: for each name, in order, the living record, or the reason why there is none.
    ///
    /// - Parameters:
    ///   - access: the caller's access. A record that the caller may not read does not exist for it (I-5). In the shared database, the
    ///     shares of this snapshot decide what may be read.
    ///   - limits: once the fields hold `answerBytesMax` bytes, the remaining names are left out, so that an answer stays
    ///     bounded. They are left out, too, from the first record on that was read without its fields. At least one name
    ///     is answered. So are the names from the CKShare record on that is one too many (`sharesTogetherMax`), because each comes
    ///     with all its people. The client asks for the rest.
    package func lookUp(
        _ names: [String], by access: RecordAccess, within limits: Limits
    ) -> [Result<RecordState, FailureReason>] {
        // I-5: in the shared database a zone without access is not there, whatever became of it.
        guard let access = access.sharing(zone == nil ? nil : sharing) else {
            return names.map { _ in .failure(.zoneNotFound) }
        }
        if let refusal { return names.map { _ in .failure(refusal) } }
        var (byteCount, shareCount) = (0, 0)
        var results: [Result<RecordState, FailureReason>] = []
        for name in names {
            let result = lookUp(name, by: access, within: limits)
            if case .success(let record) = result {
                if !unread.isEmpty, unread[name] != nil { return results }
                byteCount += record.fields.byteCount
                if Share.isType(record.type) { shareCount += 1 }
                if shareCount > max(1, limits.sharesTogetherMax) { return results }
            }
            if byteCount > limits.answerBytesMax, !results.isEmpty { return results }
            results.append(result)
        }
        return results
    }

    private func lookUp(
        _ name: String, by access: RecordAccess, within limits: Limits
    ) -> Result<RecordState, FailureReason> {
        guard RecordName.canBeStored(name, limits: limits) else { return .failure(.recordNameInvalid) }
        guard let record = records[name], !record.isDeleted, access.mayRead(record) else {
            return .failure(.recordUnknown)
        }
        return .success(record)
    }
}
