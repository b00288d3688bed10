// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// YAML as nodes with their places. JSON is YAML too, so the same reader has it. The only file that knows Yams.
enum YAMLText {
    /// Nil: there is nothing in it but comments.
    static func read(_ text: String) throws(SettingsProblem) -> SettingsNode? {
        let parser: Yams.Parser
        let root: Yams.Node?
        do {
            parser = try Yams.Parser(yaml: text, encoding: .utf8)
            root = try parser.singleRoot()
        } catch let error as YamlError {
            throw problem(error)
        } catch {
            throw SettingsProblem(place: nil, text: "It cannot be read as YAML: \(error).")
        }
        guard let root else { return nil }
        // NB: nodes know their anchors only as long as the parser lives.
        return try withExtendedLifetime(parser) { () throws(SettingsProblem) in try node(root, depth: 0) }
    }

    /// Deeper than any settings are.
    private static let depthMax = 8

    private static func node(_ node: Yams.Node, depth: Int) throws(SettingsProblem) -> SettingsNode {
        let place = place(node.mark) ?? .start
        guard depth < depthMax else { throw SettingsProblem(place: place, text: "This is nested too deeply.") }
        guard node.anchor == nil else {
            throw SettingsProblem(place: place, text: "Anchors (&name) have no meaning here. Write the value itself.")
        }
        switch node {
        case .scalar(let scalar):
            let isQuoted = scalar.style != .plain
            return SettingsNode(content: .scalar(scalar.string, isQuoted: isQuoted), place: place)
        case .sequence(let sequence):
            var nodes: [SettingsNode] = []
            for element in sequence { nodes.append(try Self.node(element, depth: depth + 1)) }
            return SettingsNode(content: .list(nodes), place: place)
        case .mapping(let mapping):
            var entries: [SettingsNode.Entry] = []
            for pair in mapping {
                let key = try Self.node(pair.key, depth: depth + 1)
                entries.append(SettingsNode.Entry(key: key, value: try Self.node(pair.value, depth: depth + 1)))
            }
            return SettingsNode(content: .map(entries), place: place)
        case .alias:
            throw SettingsProblem(place: place, text: "Aliases (*name) have no meaning here. Write the value itself.")
        }
    }

    private static func place(_ mark: Yams.Mark?) -> FilePlace? {
        mark.map { FilePlace(line: $0.line, column: $0.column) }
    }

    private static func problem(_ error: YamlError) -> SettingsProblem {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            SettingsProblem(place: place(mark), text: "This is no YAML: \(problem).")
        case .duplicatedKeysInMapping(let keys, let context):
            // The mark is that of the first key, where it comes first.
            SettingsProblem(
                place: place(context.mark),
                text: "\(keys.first ?? "A key") is set here and again further down. Remove one of the two.")
        case .reader(let problem, _, _, _):
            SettingsProblem(place: nil, text: "It has a character that YAML does not allow: \(problem).")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            SettingsProblem(place: nil, text: "It cannot be read as YAML: \(error).")
        }
    }
}
