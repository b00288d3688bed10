// SPDX-License-Identifier: Apache-2.0

/// Finds which refused item of a request is the cause of another item's failure.
struct RefusalCauses {
    private let request: RecordsRequest
    /// The position of each record's save and delete in the request.
    private let saveOfName: [String: Int]
    private let deleteOfName: [String: Int]
    /// For saves that failed because of others: how the first save of the chain failed.
    private var origins: [Int: ItemFailure] = [:]

    init(_ request: RecordsRequest) {
        self.request = request
        func places(_ names: [String]) -> [String: Int] {
            Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        }
        saveOfName = places(request.saves.map(\.name))
        deleteOfName = places(request.deletes)
    }

    /// The failure of a save whose cause is the refused save of `name`. Nil if that save was not refused, or if its
    /// reason cannot be passed on.
    mutating func failure(of index: Int, after name: String?, _ saves: [PlannedSave]) -> ItemFailure? {
        guard let cause = name.flatMap({ saveOfName[$0] }), case .refuse(let failure) = saves[cause] else { return nil }
        let origin = origins[cause] ?? failure
        guard origin.reason.canBeOfAnother else { return nil }
        origins[index] = origin
        return ItemFailure(following: origin)
    }

    /// Whether the request tried to give the record another parent and was refused.
    func hasRefusedMove(of name: String, on table: ZoneTable, _ saves: [PlannedSave]) -> Bool {
        guard let index = saveOfName[name], case .refuse = saves[index] else { return false }
        let parent = table.living(name)?.parent
        return request.saves[index].parent.applied(to: parent) != parent
    }

    /// Why a child still blocks the delete of its parent, if the request tried to delete or move the child and was
    /// refused. Nil if the request did not try, or if the reason cannot be passed on.
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
    /// Whether the reason can be passed on to items that fail as a consequence. Reasons that tell an app what to do
    /// with that very record cannot. They are a conflict, which brings the record that is in the way, and a record that
    /// is gone.
    fileprivate var canBeOfAnother: Bool { !isConflict && self != .recordMissing }
}

extension ItemFailure {
    /// The failure of an item whose cause is the failure of another item of its request.
    fileprivate init(following cause: ItemFailure) {
        self.init(cause.reason)
        let text = cause.detail ?? cause.reason.text
        detail = "Not saved, because its parent, which the same request saves, was refused: \(text)"
    }
}
