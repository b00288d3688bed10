// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

// The order in which failures win, for a query:
//  1. recordTypeNotQueryable, recordTypeInvalid  
//  2. zoneRequired, zoneNameInvalid              
//  3. queryTooLarge                               Limits.predicate…
// then by the predicate, from left to right, and the sorts:
//  4. queryFieldUnknown         R-184: a name that no field can have, or that no record of the type has
//  5. fieldEncrypted, fieldNotComparable, fieldNotQueryable   
//  6. operatorInvalid      R-176 … R-181: from the predicate alone
//  7. valueKindWrong       R-176: the field holds another type
//  8. negationInvalid      R-178
//  9. zoneNameInvalid      R-761: a reference to a zone with an impossible name
// 10. fieldEncrypted, fieldNotSortable, sortInvalid              
// Then cursorInvalid, and from what is stored the zone and recordTypeUnknown.

extension Query {
    /// A fault of the query that does not depend on stored data; nil if there is none. No part of a refused query is
    /// evaluated.
    package func refusal(fields: QueryFields, scope: DatabaseScope, limits: Limits) -> QueryRefusal? {
        if recordType == RecordType.users { return QueryRefusal(.recordTypeNotQueryable, subject: recordType) }
        guard RecordType.isValid(recordType, limits: limits) || Share.isType(recordType) else {
            return QueryRefusal(.recordTypeInvalid)
        }
        if let zoneName {
            guard ZoneName.isValid(zoneName, limits: limits) else { return QueryRefusal(.zoneNameInvalid) }
        } else if scope == .shared {
            return QueryRefusal(.zoneRequired)
        }
        if let refusal = size.refusal(within: limits) { return refusal }
        do {
            let check = QueryCheck(fields: fields)
            try check.check(predicate)
            if predicate.namesImpossibleZone(limits: limits) { return QueryRefusal(.zoneNameInvalid) }
            for sort in sorts { try check.check(sort) }
            return nil
        } catch {
            return error
        }
    }
}

private struct QueryCheck {
    let fields: QueryFields

    func check(_ predicate: QueryPredicate) throws(QueryRefusal) {
        switch predicate {
        case .always:
            // the index of record names answers a predicate that names no field.
            if fields.unqueryable.contains(.recordID) { throw QueryRefusal(.fieldNotQueryable, subject: "recordName") }
        case .compare(let key, let comparison, let value):
            let isOrder = comparison != .equal && comparison != .notEqual
            if isOrder, !value.kind.isOrdered { throw QueryRefusal(.operatorInvalid, subject: key.description) }
            try check(key, holds: value.kind, asList: false)
        case .between(let key, let low, let high):
            guard low.kind == high.kind, low.kind.isOrdered else {
                throw QueryRefusal(.operatorInvalid, subject: key.description)
            }
            try check(key, holds: low.kind, asList: false)
        case .beginsWith(let key, _): try check(key, holds: .text, asList: false)
        case .isIn(let key, let values): try check(key, holdsOneOf: values, asList: false)
        case .contains(let key, let value): try check(key, holds: value.kind, asList: true)
        case .containsAny(let key, let values): try check(key, holdsOneOf: values, asList: true)
        case .isPresent(let key, _): _ = try field(of: key)
        case .isNear(let key, let place, let metres, _):
            guard EarthPoint(place) != nil, !metres.isNaN else {
                throw QueryRefusal(.operatorInvalid, subject: key.description)
            }
            try check(key, holds: .location, asList: false)
        case .search: break
        case .and(let parts): for part in parts { try check(part) }
        case .not(let part):
            guard part.isNegatable else { throw QueryRefusal(.negationInvalid) }
            try check(part)
        }
    }

    private func check(_ key: QueryKey, holdsOneOf values: [QueryValue], asList: Bool) throws(QueryRefusal) {
        guard let kind = values.first?.kind else {
            _ = try field(of: key)
            return
        }
        guard values.allSatisfy({ $0.kind == kind }) else {
            throw QueryRefusal(.valueKindWrong, subject: key.description)
        }
        try check(key, holds: kind, asList: asList)
    }

    /// Checks that a key can be compared with values of a kind.
    private func check(_ key: QueryKey, holds kind: QueryKind, asList: Bool) throws(QueryRefusal) {
        if case .system(let system) = key {
            guard !asList else { throw QueryRefusal(.operatorInvalid, subject: key.description) }
            guard system.kind == kind else { throw QueryRefusal(.valueKindWrong, subject: key.description) }
        } else if kind == .user {
            throw QueryRefusal(.valueKindWrong, subject: key.description)
        }
        guard let type = try field(of: key)?.type else { return }
        guard type.isList == asList else { throw QueryRefusal(.operatorInvalid, subject: key.description) }
        if type == .emptyList { return }
        guard type.kind == kind else { throw QueryRefusal(.valueKindWrong, subject: key.description) }
    }

    /// The schema's data of a field that a predicate may name; nil for system fields and unknown ones.
    private func field(of key: QueryKey) throws(QueryRefusal) -> QueryFields.FieldUse? {
        switch key {
        case .system(let system):
            guard !fields.unqueryable.contains(system) else {
                throw QueryRefusal(.fieldNotQueryable, subject: key.description)
            }
            return nil
        case .field(let name):
            guard let field = try known(name) else { return nil }
            if field.isEncrypted { throw QueryRefusal(.fieldEncrypted, subject: name) }
            guard field.type == .emptyList || field.type.kind != nil else {
                throw QueryRefusal(.fieldNotComparable, subject: name)
            }
            guard field.isQueryable else { throw QueryRefusal(.fieldNotQueryable, subject: name) }
            return field
        }
    }

    private func known(_ name: String) throws(QueryRefusal) -> QueryFields.FieldUse? {
        let field = fields.fields[name]
        guard FieldKeyRule.share.allows(name), field != nil || fields.allowsOthers else {
            throw QueryRefusal(.queryFieldUnknown, subject: name, nearest: fields.nearest(to: name))
        }
        return field
    }

    func check(_ sort: QuerySort) throws(QueryRefusal) {
        let subject = sort.key.description
        if let origin = sort.origin, EarthPoint(origin) == nil { throw QueryRefusal(.sortInvalid, subject: subject) }
        switch sort.key {
        case .system(let system):
            guard sort.origin == nil else { throw QueryRefusal(.sortInvalid, subject: subject) }
            guard !fields.unsortable.contains(system) else { throw QueryRefusal(.fieldNotSortable, subject: subject) }
        case .field(let name):
            guard let field = try known(name) else { return }
            if field.isEncrypted { throw QueryRefusal(.fieldEncrypted, subject: subject) }
            guard field.isSortable else { throw QueryRefusal(.fieldNotSortable, subject: subject) }
            let isLocation = field.type == .location
            guard !field.type.isList, field.type.kind != nil, isLocation == (sort.origin != nil) else {
                throw QueryRefusal(.sortInvalid, subject: subject)
            }
        }
    }
}

extension QueryPredicate {
    /// Whether a reference names a zone that cannot exist.
    fileprivate func namesImpossibleZone(limits: Limits) -> Bool {
        switch self {
        case .compare(_, _, let value), .contains(_, let value): value.namesImpossibleZone(limits: limits)
        case .between(_, let low, let high):
            low.namesImpossibleZone(limits: limits) || high.namesImpossibleZone(limits: limits)
        case .isIn(_, let values), .containsAny(_, let values):
            values.contains { $0.namesImpossibleZone(limits: limits) }
        case .and(let parts): parts.contains { $0.namesImpossibleZone(limits: limits) }
        case .not(let part): part.namesImpossibleZone(limits: limits)
        case .always, .beginsWith, .isPresent, .isNear, .search: false
        }
    }
}

extension QueryValue {
    fileprivate func namesImpossibleZone(limits: Limits) -> Bool {
        guard case .reference(let reference) = self, case .named(let name) = reference.zone else { return false }
        return !ZoneName.isValid(name, limits: limits)
    }
}

extension QueryKind {
    /// Whether `<` and BETWEEN make sense for values of this kind.
    fileprivate var isOrdered: Bool {
        switch self {
        case .number, .date, .text: true
        case .reference, .user, .location: false
        }
    }
}

extension QueryPredicate {
    /// whether the condition may be negated.
    fileprivate var isNegatable: Bool {
        switch self {
        case .and, .search, .isNear, .between: false
        default: true
        }
    }
}
