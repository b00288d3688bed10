// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What is said to somebody who names a container that there is not: perhaps they have mistyped one of their own.
struct UnknownContainer {
    let name: String
    /// Those that the account has used, the newest first.
    let known: [String]

    /// The one that was meant.
    var nearest: String? { NearestName.of(name, among: known) }

    /// So many are told if none is near.
    private static let toldMax = 5

    private var hint: String {
        if let nearest { return " Did you mean \(nearest)?" }
        guard !known.isEmpty else { return "" }
        let more = known.count > Self.toldMax ? " and others" : ""
        return " The account's containers here are \(known.prefix(Self.toldMax).joined(separator: ", "))\(more)."
    }

    /// For a server that makes no containers.
    var refusal: String {
        "Unknown container \(name).\(hint) An operator creates one: tidemark admin containers create \(name)."
    }

    /// For a server that has just made it; nil for an account that had no data before, so that none can be missed.
    var warning: String? {
        guard !known.isEmpty else { return nil }
        return "The container \(name) is new: this server has just created it, because it was named.\(hint)"
    }
}
