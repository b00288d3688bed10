// SPDX-License-Identifier: Apache-2.0

/// Evaluates a predicate on records in memory. Constants are prepared once.
///
/// The predicate should have been checked: ``Query/refusal(fields:scope:limits:)``. An unchecked one is evaluated too;
/// parts of it that make no sense are false.
package struct QueryEvaluator: Sendable {
    private let root: Node
    private let fields: QueryFields
    /// What it compares of a record.
    let parts: [RecordTexts.Part]

    package init(_ predicate: QueryPredicate, fields: QueryFields = .unknown) {
        root = Node(predicate)
        self.fields = fields
        parts = Array(root.parts(fields))
    }

    /// - Parameters:
    ///   - zoneName: the zone of the record, to which its references lead.
    ///   - texts: those of the record, for others that compare them.
    package func matches(_ record: RecordState, in zoneName: String, texts: inout RecordTexts) -> Bool {
        root.matches(Subject(record: record, zoneName: zoneName, fields: fields), &texts)
    }

    package func matches(_ record: RecordState, in zoneName: String) -> Bool {
        var texts = RecordTexts()
        return matches(record, in: zoneName, texts: &texts)
    }
}

private struct Subject {
    let record: RecordState
    let zoneName: String
    let fields: QueryFields
}

/// A constant in the form in which it is compared. A reference equals nothing in zones to which it does not lead.
private struct Constant: Sendable {
    let value: IndexValue?
    let reference: QueryReference?

    init(_ value: QueryValue, for use: IndexValue.Use) {
        if case .reference(let reference) = value {
            self.reference = reference
            self.value = .reference(.exact(reference.recordName))
        } else {
            reference = nil
            self.value = IndexValue(value, for: use, in: "")
        }
    }

    func value(in zoneName: String) -> IndexValue? {
        reference?.isReachable(from: zoneName) ?? true ? value : nil
    }
}

/// A predicate with its constants prepared.
private indirect enum Node: Sendable {
    case always(Bool)
    case equal(QueryKey, [Constant])
    case ordered(QueryKey, QueryComparison, Constant)
    case between(QueryKey, Constant, Constant)
    case beginsWith(QueryKey, IndexText)
    case containsAny(QueryKey, [Constant])
    case isPresent(QueryKey, Bool)
    case isNear(QueryKey, EarthPoint?, squaredChord: Double, isInclusive: Bool)
    case search([IndexText])
    case and([Node])
    case not(Node)

    init(_ predicate: QueryPredicate) {
        switch predicate {
        case .always(let result): self = .always(result)
        case .compare(let key, .equal, let value): self = .equal(key, [Constant(value, for: .equality)])
        case .compare(let key, .notEqual, let value): self = .not(.equal(key, [Constant(value, for: .equality)]))
        case .compare(let key, let comparison, let value):
            self = .ordered(key, comparison, Constant(value, for: .order))
        case .between(let key, let low, let high):
            self = .between(key, Constant(low, for: .order), Constant(high, for: .order))
        case .beginsWith(let key, let prefix): self = .beginsWith(key, .exact(prefix))
        case .isIn(let key, let values): self = .equal(key, values.map { Constant($0, for: .equality) })
        case .contains(let key, let value): self = .containsAny(key, [Constant(value, for: .equality)])
        case .containsAny(let key, let values): self = .containsAny(key, values.map { Constant($0, for: .equality) })
        case .isPresent(let key, let isPresent): self = .isPresent(key, isPresent)
        case .isNear(let key, let place, let metres, let isInclusive):
            self = .isNear(
                key, EarthPoint(place), squaredChord: EarthPoint.squaredChord(metres: metres), isInclusive: isInclusive)
        case .search(let text): self = .search(IndexWords.of([text]))
        case .and(let parts): self = .and(parts.map(Node.init))
        case .not(let part): self = .not(Node(part))
        }
    }

    /// What it compares of a record, each once.
    func parts(_ fields: QueryFields) -> Set<RecordTexts.Part> {
        switch self {
        case .always, .isPresent, .isNear, .containsAny(.system, _): []
        case .and(let nodes): nodes.reduce(into: []) { $0.formUnion($1.parts(fields)) }
        case .not(let node): node.parts(fields)
        case .search: [.words(fields)]
        case .equal(let key, _): [.value(key, .equality)]
        case .containsAny(.field(let name), _): [.elements(name)]
        case .ordered(let key, _, _), .between(let key, _, _), .beginsWith(let key, _): [.value(key, .order)]
        }
    }

    func matches(_ subject: Subject, _ texts: inout RecordTexts) -> Bool {
        switch self {
        case .always(let result): return result
        case .and(let nodes):
            for node in nodes where !node.matches(subject, &texts) { return false }
            return true
        case .not(let node): return !node.matches(subject, &texts)
        case .isPresent(let key, let isPresent): return subject.record.isPresent(key) == isPresent
        case .search(let words):
            guard !words.isEmpty else { return false }
            let found = texts.words(of: subject.record, subject.fields)
            return words.allSatisfy(found.contains)
        case .isNear(let key, let place, let limit, let isInclusive):
            guard let place, let point = subject.record.indexPoint(of: key) else { return false }
            let squaredChord = point.squaredChord(to: place)
            return isInclusive ? squaredChord <= limit : squaredChord < limit
        default: return comparisonMatches(subject, &texts)
        }
    }

    private func comparisonMatches(_ subject: Subject, _ texts: inout RecordTexts) -> Bool {
        switch self {
        case .equal(let key, let constants):
            guard let value = texts.value(of: key, for: .equality, of: subject.record) else { return false }
            return constants.contains { $0.value(in: subject.zoneName) == value }
        case .containsAny(.field(let name), let constants):
            let elements = texts.elements(of: name, of: subject.record)
            return constants.contains { $0.value(in: subject.zoneName).map(elements.contains) ?? false }
        case .ordered(let key, let comparison, let constant):
            guard let value = texts.value(of: key, for: .order, of: subject.record) else { return false }
            return Self.compare(value, constant, subject) { comparison.holds($0, $1) }
        case .between(let key, let low, let high):
            guard let value = texts.value(of: key, for: .order, of: subject.record) else { return false }
            return Self.compare(value, low, subject) { $0 >= $1 } && Self.compare(value, high, subject) { $0 <= $1 }
        case .beginsWith(let key, let prefix):
            guard case .text(let text)? = texts.value(of: key, for: .order, of: subject.record) else { return false }
            return text.hasPrefix(prefix)
        default: return false
        }
    }

    private static func compare(
        _ value: IndexValue, _ constant: Constant, _ subject: Subject, _ holds: (IndexValue, IndexValue) -> Bool
    ) -> Bool {
        guard let constant = constant.value(in: subject.zoneName), value.isComparable(with: constant) else {
            return false
        }
        return holds(value, constant)
    }
}

extension QueryComparison {
    fileprivate func holds(_ value: IndexValue, _ constant: IndexValue) -> Bool {
        switch self {
        case .equal: value == constant
        case .notEqual: value != constant
        case .less: value < constant
        case .lessOrEqual: value <= constant
        case .greater: value > constant
        case .greaterOrEqual: value >= constant
        }
    }
}
