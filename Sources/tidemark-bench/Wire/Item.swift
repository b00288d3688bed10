// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkWire

/// Record number `number` of the queried items: some 300 bytes of fields, and two numbers by which it is found.
struct Item {
    static let recordType = "Item"
    /// The number of records with the same group.
    static let groupSize = 10

    let number: Int

    var name: String { String(format: "item%07d", number) }

    /// - Parameter count: of all items. The records of a group are far from each other.
    func save(among count: Int) -> SaveMessage {
        SaveMessage(name: name, SaveMessage.Content(type: Self.recordType, fields: fields(among: count)))
    }

    private func fields(among count: Int) -> [UInt8] {
        let fields = [
            Field("body", .string(String(repeating: "the tide comes in and leaves a line, ", count: 6))),
            Field("created", .date(milliseconds: 1_700_000_000_000 + Int64(number))),
            Field("group", .int64(Int64(number % (count / Self.groupSize)))),
            Field("number", .int64(Int64(number))),
            Field("title", .string("Item number \(number)")),
        ]
        do {
            return try FieldMap(fields).bytes
        } catch {
            preconditionFailure("Our own fields are valid: \(error)")
        }
    }
}

/// A question about items, in the form of a client and of the store.
enum ItemQuery {
    case ofGroup(Int)
    /// In the order of the number.
    case from(number: Int)

    private static let group = "group"
    private static let number = "number"

    func wire(in zone: String) -> WireQuery {
        var query = WireQuery()
        query.recordType = Item.recordType
        query.zone.name = zone
        var comparison = WireComparison()
        switch self {
        case .ofGroup(let group):
            (comparison.key, comparison.operator, comparison.value.int64) = (Self.group, .equal, Int64(group))
        case .from(let number):
            (comparison.key, comparison.operator, comparison.value.int64) = (
                Self.number, .greaterOrEqual, Int64(number)
            )
            var sort = WireSort()
            sort.key = Self.number
            query.sorts = [sort]
        }
        query.predicate.compare = comparison
        return query
    }

    func page(in database: DatabaseID, zone: String, limit: Int) -> QueryPageQuery {
        var query = Query(recordType: Item.recordType, zoneName: zone)
        switch self {
        case .ofGroup(let group): query.predicate = .compare(.field(Self.group), .equal, .int64(Int64(group)))
        case .from(let number):
            query.predicate = .compare(.field(Self.number), .greaterOrEqual, .int64(Int64(number)))
            query.sorts = [QuerySort(.field(Self.number))]
        }
        return QueryPageQuery(
            database: database, query: query, recordsMax: limit, bytesMax: Bench.limits.answerBytesMax)
    }
}
