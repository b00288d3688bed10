// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

// The values of a record that queries see. A store that keeps index values beside the record computes them here.
extension RecordState {
    /// The form in which a key's value is compared. Nil if the record lacks the key, or if the value is a list or
    /// cannot be compared.
    ///
    /// Finds the entry and decodes no other. Encrypted fields are never seen.
    func indexValue(of key: QueryKey, for use: IndexValue.Use) -> IndexValue? {
        switch key {
        case .field(let name): fieldValue(name).flatMap { IndexValue($0, for: use) }
        case .system(let field): indexValue(of: field)
        }
    }

    /// The elements of a list; empty if there is none.
    func indexElements(of name: String, for use: IndexValue.Use) -> [IndexValue] {
        fieldValue(name).map { IndexValue.elements(of: $0, for: use) } ?? []
    }

    package func isPresent(_ key: QueryKey) -> Bool {
        switch key {
        case .field(let name): fields[name].map { !$0.isEncrypted } ?? false
        case .system(let field): indexValue(of: field) != nil
        }
    }

    /// The location in a field; nil if there is none, or if it is not a place on earth.
    func indexPoint(of key: QueryKey) -> EarthPoint? {
        guard case .field(let name) = key, case .location(let location)? = fieldValue(name) else { return nil }
        return EarthPoint(latitude: location.latitude, longitude: location.longitude)
    }

    /// The words of all searchable strings and lists of strings.
    func indexWords(_ fields: QueryFields) -> [IndexText] {
        var strings: [String] = []
        for entry in self.fields where entry.type?.kind == .text && !entry.isEncrypted {
            guard fields.isSearchable(entry.key), let value = try? entry.value() else { continue }
            switch value {
            case .string(let string): strings.append(string)
            case .strings(let list): strings += list
            default: break
            }
        }
        return IndexWords.of(strings)
    }

    /// The keys of the fields whose words are searched, and the bytes of their values.
    func searched(_ fields: QueryFields) -> (keys: [String], byteCount: Int) {
        var (keys, byteCount) = ([String](), 0)
        for entry in self.fields where entry.type?.kind == .text && !entry.isEncrypted {
            let key = entry.key
            guard fields.isSearchable(key) else { continue }
            keys.append(key)
            byteCount += entry.valueByteCount
        }
        return (keys, byteCount)
    }

    /// The bytes of a field's value; 0 for system fields, which are short.
    func byteCount(of key: QueryKey) -> Int {
        guard case .field(let name) = key else { return 0 }
        return fields[name]?.valueByteCount ?? 0
    }

    private func indexValue(of field: QuerySystemKey) -> IndexValue? {
        switch field {
        case .recordID: .reference(.exact(name))
        case .creationDate: .date(milliseconds: createdAt.milliseconds)
        case .modificationDate: .date(milliseconds: modifiedAt.milliseconds)
        case .creatorUserRecordID: .user(createdBy.rawValue)
        case .lastModifiedUserRecordID: .user(modifiedBy.rawValue)
        case .parent: parent.map { .reference(.exact($0)) }
        // No record is shared yet.
        case .share: nil
        }
    }

    private func fieldValue(_ name: String) -> FieldValue? {
        guard let entry = fields[name], !entry.isEncrypted else { return nil }
        return try? entry.value()
    }
}
