// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkWire

extension QuerySize {
    /// The size of a query message: the same as that of the `Query` that is made from it.
    init(_ query: WireQuery) {
        self.init()
        sortCount = query.sorts.count
        guard query.hasPredicate else { return }
        // No recursion: a predicate may be nested deeper than the stack allows.
        var waiting = [(query.predicate, 1)]
        while let (predicate, depth) = waiting.popLast() {
            self.depth = max(self.depth, depth)
            nodeCount += 1
            switch predicate.node {
            case .compare(let node): count([node.value])
            case .between(let node): count([node.low, node.high])
            case .beginsWith(let node):
                nodeCount += 1
                byteCount += node.prefix.utf8.count
            case .isIn(let node), .containsAny(let node): count(node.values)
            case .contains(let node): count([node.value])
            case .search(let text): byteCount += text.utf8.count
            case .and(let node): for part in node.parts { waiting.append((part, depth + 1)) }
            case .not(let part): waiting.append((part, depth + 1))
            case .always, .isPresent, .isNear, nil: break
            }
        }
    }

    private mutating func count(_ values: [WireQueryValue]) {
        nodeCount += values.count
        for value in values {
            switch value.value {
            case .string(let string): byteCount += string.utf8.count
            case .reference(let reference): byteCount += reference.recordName.utf8.count
            case .int64, .double, .date, nil: byteCount += 8
            }
        }
    }
}
