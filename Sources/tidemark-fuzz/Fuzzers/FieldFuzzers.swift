// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

extension Fuzzer {
    /// Any bytes as a record's fields: valid bytes are exactly those that writing their values gives, and unchecked
    /// bytes do no harm.
    static let fieldMap = Fuzzer(name: "field-map", seeds: { FieldSeeds.all }) { input throws(Finding) in
        try FieldLaws.checkTrusting(input)
        for rule in [FieldKeyRule.app, .share] {
            guard let map = try? FieldMap(validating: input, keys: rule) else { continue }
            try FieldLaws.checkWriting(map, rule)
            return true
        }
        return false
    }

    /// Two maps, the first after a byte with its length: merging and selecting do what a dictionary does.
    static let fieldMerge = Fuzzer(name: "field-merge", seeds: { FieldSeeds.pairs }) { input throws(Finding) in
        var script = FuzzInput(input)
        let (left, right) = (script.bytes(), script.remainder())
        _ = FieldMap(trusting: left).merging(FieldMap(trusting: right))
        guard let record = try? FieldMap(validating: left), let changes = try? FieldMap(validating: right) else {
            return false
        }
        try FieldLaws.checkMerging(record, changes)
        try FieldLaws.checkSelecting(record, FieldSelection(changes.keys), Set(changes.keys))
        try FieldLaws.checkSelecting(record, FieldSelection(record.keys), Set(record.keys))
        return true
    }
}

private enum FieldLaws {
    /// Reading ends silently where bytes are not canonical. Nothing traps (see `FieldMap.init(trusting:)`).
    static func checkTrusting(_ input: [UInt8]) throws(Finding) {
        let map = FieldMap(trusting: input)
        let selection = FieldSelection(["a", "title", "z9"])
        for entry in map {
            _ = (entry.key, entry.type, entry.isEncrypted)
            _ = try? entry.value()
        }
        _ = map.containsRemovals
        _ = map["title"]
        _ = map.merging(map)
        try Finding.unless(map.selecting(selection).byteCount <= input.count, "a selection larger than the whole")
    }

    static func checkWriting(_ map: FieldMap, _ rule: FieldKeyRule) throws(Finding) {
        var fields: [Field] = []
        for entry in map {
            guard let value = try? entry.value() else { throw Finding("valid, but \(entry.key) cannot be read") }
            try Finding.unless(value.type == entry.type, "\(entry.key): \(value.type) is not its type")
            fields.append(Field(entry.key, value, isEncrypted: entry.isEncrypted))
        }
        let written: FieldMap
        do throws(FieldError) {
            written = try FieldMap(fields.reversed(), keys: rule)
        } catch {
            throw Finding("read, but not written: \(error)")
        }
        try Finding.unless(written.bytes == map.bytes, "written as \(written.bytes)")
        try Finding.unless(map.count == fields.count && map.keys == fields.map(\.key), "\(map.count) entries")
    }

    static func checkMerging(_ record: FieldMap, _ changes: FieldMap) throws(Finding) {
        let merged = record.merging(changes)
        var model: [String: [UInt8]] = [:]
        for map in [record, changes] {
            for (key, bytes) in entries(map) { model[key] = bytes }
        }
        let expected = model.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.flatMap(\.value)
        try Finding.unless(merged.bytes == expected, "merged to \(merged.bytes), not \(expected)")
        try Finding.unless(!merged.containsRemovals, "a removal is left")
        try Finding.unless((try? FieldMap(validating: merged.bytes)) == merged, "merged to what is not valid")
        try Finding.unless(merged.merging(changes) == merged, "merging twice is not merging once")
        try Finding.unless(merged.merging(FieldMap()) == merged, "no changes change something")
    }

    /// The bytes of each entry; none for a removal.
    private static func entries(_ map: FieldMap) -> [(String, [UInt8])] {
        map.map { entry in
            (entry.key, entry.type == .removed ? [] : map.selecting(FieldSelection([entry.key])).bytes)
        }
    }

    static func checkSelecting(_ map: FieldMap, _ selection: FieldSelection, _ keys: Set<String>) throws(Finding) {
        let selected = map.selecting(selection)
        try Finding.unless(selected.keys == map.keys.filter(keys.contains), "selected \(selected.keys)")
        for entry in selected {
            try Finding.unless((try? entry.value()) != nil && map[entry.key] != nil, "\(entry.key) is garbled")
        }
    }
}

enum FieldSeeds {
    static let all: [[UInt8]] = several + lists.map { map([Field("list", $0)]) }

    private static let several: [[UInt8]] = [
        map([]),
        map([Field("title", .string("h\u{E9}llo")), Field("count", .int64(-3)), Field("a", .double(.nan))]),
        map([Field("gone", .removed), Field("none", .emptyList), Field("secret", .bytes([1, 2]), isEncrypted: true)]),
        map([
            Field("r", .reference(FieldReference(recordName: "x", action: .deleteSelf))),
            Field("s", .reference(FieldReference(recordName: "y", zone: .init(name: "z", ownerName: "_o")))),
        ]),
    ]

    private static let lists: [FieldValue] =
        [
            .strings(["a", ""]), .int64s([0, -1, .max]), .doubles([0, .infinity]), .bytesList([[], [0]]),
            .references([FieldReference(recordName: "x")]), .location(place), .locations([place, place]),
            .asset(file), .assets([file, FieldAsset(sha256: file.sha256, byteCount: 0)]),
            .date(milliseconds: 1_700_000_000_000), .dates(milliseconds: [-1, 0, 1]),
            .dates([FieldDate(milliseconds: 5)] + fineDates), .location(finePlace),
        ] + fineDates.map { .date($0) }

    private static let fineDates = [0.1, 721_692_800.123_456_7, -Double.leastNonzeroMagnitude].compactMap(
        FieldDate.init(secondsSince2001:))

    private static var finePlace: FieldLocation {
        var place = place
        place.timestamp = fineDates[0]
        return place
    }

    private static let place = FieldLocation(
        latitude: 52.5, longitude: 13.4, altitude: -0.0, horizontalAccuracy: 5, verticalAccuracy: -1, course: 90,
        speed: .nan, timestampMilliseconds: 1_700_000_000_000)

    private static let file = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 1_000)

    private static let changes: [UInt8] = map([
        Field("a", .removed), Field("title", .int64(1)), Field("z", .string("new")),
    ])

    static let pairs: [[UInt8]] = [
        pair(all[1], all[2]), pair(all[1], changes), pair(all[0], all[2]), pair(all[4], all[0]), pair(all[3], all[3]),
    ]

    private static func pair(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        FuzzScript().content(left).adding(right).bytes
    }

    static func map(_ fields: [Field]) -> [UInt8] {
        (try? FieldMap(fields))?.bytes ?? []
    }
}
