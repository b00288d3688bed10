// SPDX-License-Identifier: Apache-2.0

/// Which refused item of a request is why another one fails.
struct RefusalCauses {
    private let request: RecordsRequest
    /// Where each record is saved or deleted.
    private let saveOfName: [String: Int]
    private let deleteOfName: [String: Int]
    /// Of saves that failed after others: how the first of those failed.
    private var origins: [Int: ItemFailure] = [:]

    init(_ request: RecordsRequest) {
        self.request = request
        func places(_ names: [String]) -> [String: Int] {
            Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        }
        saveOfName = places(request.saves.map(\.name))
        deleteOfName = places(request.deletes)
    }

    /// How a save fails that fails because the save of `name` was refused; nil if it was not, or for a reason that another
    /// item cannot have.
    mutating func failure(of index: Int, after name: String?, _ saves: [PlannedSave]) -> ItemFailure? {
        guard let cause = name.flatMap({ saveOfName[$0] }), case .refuse(let failure) = saves[cause] else { return nil }
        let origin = origins[cause] ?? failure
        guard origin.reason.canBeOfAnother else { return nil }
        origins[index] = origin
        return ItemFailure(following: origin)
    }

    /// Whether the request would have given the record another parent, and was refused to.
    func hasRefusedMove(of name: String, on table: ZoneTable, _ saves: [PlannedSave]) -> Bool {
        guard let index = saveOfName[name], case .refuse = saves[index] else { return false }
        let parent = table.living(name)?.parent
        return request.saves[index].parent.applied(to: parent) != parent
    }

    /// Why a child is still in the way of its parent's delete, if the request would have deleted or moved it and was refused to;
    /// nil if it is there by itself, or for a reason that another item cannot have.
    func reason(
        ofChild name: String, on table: ZoneTable, _ saves: [PlannedSave], _ deletes: [PlannedDelete]
    ) -> FailureReason? {
        if let index = deleteOfName[name], case .refuse(let reason) = deletes[index] {
            return reason.canBeOfAnother ? reason : nil
        }
        guard hasRefusedMove(of: name, on: table, saves), let index = saveOfName[name],
            case .refuse(let failure) = saves[index], failure.reason.canBeOfAnother
        else { return nil }
        return failure.reason
    }
}

extension FailureReason {
    /// Whether an item may say it because another one failed so. What tells an app what to do with that very record may not:
    /// a conflict, which comes with the record that is in the way, and a record that is gone.
    fileprivate var canBeOfAnother: Bool { !isConflict && self != .recordMissing }
}

extension ItemFailure {
    /// Of an item that fails because another one of its request failed.
    fileprivate init(following cause: ItemFailure) {
        self.init(cause.reason)
        let text = cause.detail ?? cause.reason.text
        detail = "Not saved, because its parent, which the same request saves, was refused: \(text)"
    }
}
