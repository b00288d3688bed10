// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkService

extension ZoneChanges {
    var halves: (ZoneChanges, ZoneChanges) {
        let middle = records.count / 2
        let number = middle == 0 ? changeNumber - ChangeNumber(records.count) : records[middle - 1].changeNumber
        let early = Set(records[..<middle].map(\.name))
        return (
            ZoneChanges(
                database: database, zone: zone, changeNumber: number, records: Array(records[..<middle]),
                replaced: replaced.filter { early.contains($0.name) }, memories: [:],
                clientTokensMax: clientTokensMax, sharing: sharing.filter { $0.number <= number }),
            ZoneChanges(
                database: database, zone: zone, changeNumber: changeNumber, records: Array(records[middle...]),
                replaced: replaced.filter { !early.contains($0.name) }, memories: memories,
                clientTokensMax: clientTokensMax, sharing: sharing.filter { $0.number > number },
                hasHierarchies: hasHierarchies)
        )
    }
}

extension RecordState {
    /// As if it were of no batch.
    var onItsOwn: RecordState {
        RecordState(
            name: name, type: type, fields: fields, changeNumber: changeNumber, isDeleted: isDeleted, parent: parent,
            createdAt: createdAt, createdBy: createdBy, createdByDevice: createdByDevice, modifiedAt: modifiedAt,
            modifiedBy: modifiedBy, batchEnd: changeNumber)
    }
}
