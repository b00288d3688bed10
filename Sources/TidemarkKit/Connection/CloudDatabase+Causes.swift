// SPDX-License-Identifier: Apache-2.0

extension CloudDatabase.RecordResults {
    /// if a parent was refused on this device, the server never got it. Then its child fails with the parent's
    /// reason. For parents that the server refuses, the server itself does this.
    ///
    /// - Parameters:
    ///   - refused: saves that were not sent.
    ///   - saves: saves that were sent.
    mutating func tellCauses(
        _ refused: [CKRecord.ID: CKError], to saves: [CloudDatabase.Save]
    ) {
        var causes = refused
        var waiting = causes.isEmpty ? [] : saves
        var count = 0
        // Children may come before their parents, so it repeats until nothing changes.
        repeat {
            count = waiting.count
            waiting.removeAll { save in
                let id = save.copy.recordID
                guard case .set(let parent) = save.changes.parent,
                    let cause = causes[CKRecord.ID(recordName: parent, zoneID: id.zoneID)],
                    case .failure(let error) = self.saves[id], error.code == .referenceViolation
                else { return false }
                causes[id] = cause
                self.saves[id] = .failure(CKError(following: cause))
                return true
            }
        } while waiting.count < count
    }
}

extension CKError {
    /// The error of a record that was not saved because its parent was refused.
    fileprivate init(following cause: CKError) {
        let text = cause.localizedDescription
        self.init(
            cause.code, message: "Not saved, because the parent in the same request was refused: \(text)",
            userInfo: cause.userInfo)
    }
}
