// SPDX-License-Identifier: Apache-2.0

public import Foundation

// NB: in swift-corelibs-foundation NSPredicate has no formats: its initializers for them are marked unavailable. The
// initializers here have the same names, and are chosen because the others cannot be. They create a subclass that keeps
// the parsed format. They are in an extension of a protocol, because only there can an initializer create a subclass.

/// Allows `NSPredicate(format:)` to create a predicate of this library.
public protocol _CKPredicateFormats {}

extension NSPredicate: _CKPredicateFormats {}

extension _CKPredicateFormats where Self: NSPredicate {
    /// A predicate in the part of the format language that queries support: `= != < <= > >=`, `BETWEEN`,
    /// `BEGINSWITH`, `IN`, `CONTAINS`, `AND`, `NOT`, `ANY`, `self CONTAINS`, `distanceToLocation:fromLocation:`.
    ///
    ///     NSPredicate(format: "country == %@ AND elevation > %f", reference, 1_000.0)
    ///
    /// In the original, a format with a mistake raises an exception. Here a query with it fails with
    /// `invalidArguments`, and the text names the column of the mistake. Arguments may be of any type that a field can
    /// have. In the original, Swift values must be written `as CVarArg`, which works here too.
    public init(format predicateFormat: String, _ args: Any...) {
        // swift-format-ignore: NeverForceUnwrap
        self = _CKPredicate(format: predicateFormat, arguments: args) as! Self
    }

    /// The same with the arguments in an array.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        // swift-format-ignore: NeverForceUnwrap
        self = _CKPredicate(format: predicateFormat, arguments: arguments ?? []) as! Self
    }
}

/// The predicate that `NSPredicate(format:)` creates: for queries, which a server evaluates. It cannot be
/// evaluated here.
public final class _CKPredicate: NSPredicate {
    /// The tree of the predicate, or why the format is invalid.
    let content: Result<PredicateNode, PredicateMistake>
    private let format: String

    init(format: String, arguments: [Any]) {
        self.format = format
        do throws(PredicateMistake) {
            content = .success(try PredicateParser.parse(format, arguments))
        } catch {
            content = .failure(PredicateMistake(error.text(of: format)))
        }
        super.init(block: Self.notHere)
    }

    init(_ node: PredicateNode) {
        format = node.text
        content = .success(node)
        super.init(block: Self.notHere)
    }

    /// Nil: predicates are archived with their queries.
    public required init?(coder: NSCoder) { nil }

    /// NB: Foundation treats a predicate with a block as different from all others. One with a value would equal all
    /// formats.
    private static func notHere(_ object: Any?, _ bindings: [String: Any]?) -> Bool {
        preconditionFailure("A predicate with a format is evaluated by the server: give it to a CKQuery.")
    }

    /// The format with its arguments inserted.
    public override var predicateFormat: String { (try? content.get().text) ?? format }

    /// Not supported: stops the program.
    public override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        Self.notHere(object, bindings)
    }

    /// Whether both have the same format.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? _CKPredicate else { return false }
        switch (content, other.content) {
        case (.success(let node), .success(let otherNode)): return node == otherNode
        case (.failure, .failure): return format == other.format
        default: return false
        }
    }

    /// Equal for equal predicates.
    public override var hash: Int { predicateFormat.hashValue }

    /// The same object, because it cannot change.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// For people to read.
    public override var description: String { predicateFormat }
}

extension PredicateNode {
    /// The tree of any predicate that can be sent.
    init(_ predicate: NSPredicate) throws(PredicateMistake) {
        if let predicate = predicate as? _CKPredicate {
            self = try predicate.content.get()
        } else if let compound = predicate as? NSCompoundPredicate {
            self = try Self.compound(compound)
        } else {
            switch (predicate as any PredicateText).predicateFormat {
            case "TRUEPREDICATE": self = .always(true)
            case "FALSEPREDICATE": self = .always(false)
            default: throw PredicateMistake("A predicate of a block cannot be sent to a server. Write a format.")
            }
        }
    }

    private static func compound(_ compound: NSCompoundPredicate) throws(PredicateMistake) -> PredicateNode {
        var parts: [PredicateNode] = []
        for part in compound.subpredicates { parts.append(try PredicateNode(part)) }
        switch compound.compoundPredicateType {
        case .and: return .and(parts)
        case .not:
            guard parts.count == 1 else { throw PredicateMistake("NOT has one subpredicate.") }
            return .not(parts[0])
        default: throw PredicateMistake("OR is not offered. Use IN, or several queries.")
        }
    }
}

/// Foundation says that its text is useless outside the process. That is true, but it is used only inside the process.
private protocol PredicateText {
    var predicateFormat: String { get }
}

extension NSPredicate: PredicateText {}
