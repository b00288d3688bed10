// SPDX-License-Identifier: Apache-2.0

/// Keys in the order of their bytes, each once. The entries of a map, which have the same order, are looked up in them.
struct FieldKeys: Sendable, Hashable {
    /// The bytes of all keys, one after the other, ascending.
    private var bytes: [UInt8] = []
    /// Where each key ends in ``bytes``.
    private var ends: [Int] = []

    init() {}

    /// - Parameter keys: in any order, some perhaps several times. Those that are too long for a record are left out.
    init(_ keys: some Sequence<String>) {
        var given = FieldKeys()
        for key in keys where key.utf8.count <= FieldLimits.keyBytesMax { given.append(key.utf8) }
        let unsorted = given
        var last: Int?
        for index in unsorted.ends.indices.sorted(by: { unsorted.compare($0, $1) < 0 }) {
            if let last, unsorted.compare(last, index) == 0 { continue }
            append(unsorted.bytes[unsorted.start(of: index)..<unsorted.ends[index]])
            last = index
        }
    }

    var count: Int { ends.count }

    /// Adds a key that comes after all others.
    mutating func append(_ key: some Collection<UInt8>) {
        bytes.append(contentsOf: key)
        ends.append(bytes.count)
    }

    /// Adds a key that is not there. Takes a few microseconds for each thousand keys that there are.
    ///
    /// - Returns: the index of the key.
    mutating func insert(_ key: [UInt8]) -> Int {
        let index = place(of: 0..<key.count, in: key.span).index
        let keyStart = start(of: index)
        bytes.insert(contentsOf: key, at: keyStart)
        ends.insert(keyStart, at: index)
        for later in index..<ends.count { ends[later] += key.count }
        return index
    }

    /// The index of a key, or the one that it would have.
    ///
    /// The key is not before `first`. Keys are compared with it in steps that double, until one is past it. Then the
    /// remaining range is halved. So a key near `first` takes one or two comparisons, and any other about twice the
    /// logarithm of its distance.
    func place(of key: Range<Int>, in map: Span<UInt8>, from first: Int = 0) -> (index: Int, isFound: Bool) {
        var (low, high, step) = (first, ends.count, 0)
        while low < high {
            let middle = low + min(step, (high - low) / 2)
            let order = FieldWire.compare(
                map, key.lowerBound, key.upperBound, bytes.span, start(of: middle), ends[middle])
            if order == 0 { return (middle, true) }
            if order < 0 {
                high = middle
            } else {
                low = middle + 1
                step = 2 * step + 1
            }
        }
        return (low, false)
    }

    private func start(of index: Int) -> Int { index == 0 ? 0 : ends[index - 1] }

    private func compare(_ left: Int, _ right: Int) -> Int {
        FieldWire.compare(bytes.span, start(of: left), ends[left], bytes.span, start(of: right), ends[right])
    }
}
