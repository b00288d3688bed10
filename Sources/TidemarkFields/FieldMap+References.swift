// SPDX-License-Identifier: Apache-2.0

extension FieldMap {
    /// Calls `body` with each reference, also in lists, in the order of the keys.
    ///
    /// It walks over the entries and decodes only references. Most records have none.
    package func forEachReference(_ body: (FieldReference) -> Void) {
        guard mayNameOthers else { return }
        var cursor = FieldCursor()
        while cursor.advance(in: bytes.span) {
            let code = cursor.current.typeCode
            guard code == FieldType.reference.rawValue || code == FieldType.referenceList.rawValue else { continue }
            switch try? FieldReader.value(bytes, cursor.current) {
            case .reference(let reference)?: body(reference)
            case .references(let list)?: list.forEach(body)
            default: break
            }
        }
    }

    /// The records whose deletion deletes this one.
    package var deleteSelfTargets: Set<String> {
        var targets: Set<String> = []
        forEachReference { if $0.action == .deleteSelf { targets.insert($0.recordName) } }
        return targets
    }

    /// Whether a reference names a zone. It is then another one than the record's.
    package var refersElsewhere: Bool {
        var found = false
        forEachReference { if $0.zone != nil { found = true } }
        return found
    }
}
