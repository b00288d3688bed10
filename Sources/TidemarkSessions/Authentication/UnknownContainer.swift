// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The text for a client that names an unknown container, which may be one of its own with a typing error.
struct UnknownContainer {
    let name: String
    let environment: ContainerEnvironment
    /// The containers that the account has used, the newest first.
    let known: [String]

    /// The container that was probably meant.
    var nearest: String? { NearestName.of(name, among: known) }

    /// How many are listed if no name is similar.
    private static let toldMax = 5

    private var hint: String {
        if let nearest { return " Did you mean \(nearest)?" }
        guard !known.isEmpty else { return "" }
        let more = known.count > Self.toldMax ? " and others" : ""
        return " The account's containers here are \(known.prefix(Self.toldMax).joined(separator: ", "))\(more)."
    }

    /// The text of a server that creates no containers.
    var refusal: String {
        "Unknown container \(name).\(hint) An operator creates one: \(command)."
    }

    /// The text of a server that creates no more for this account.
    func refusal(beyond containersMax: Int) -> String {
        """
        Unknown container \(name).\(hint) The account has \(containersMax) containers, and the server creates no more for \
        it. An operator can: \(command).
        """
    }

    private var command: String {
        let option = environment == .development ? "" : " --environment production"
        return "tidemark admin containers create \(name)\(option)"
    }

    /// The text of a server that has just created it. Nil for an account that had no data before, which cannot miss
    /// any.
    var warning: String? {
        guard !known.isEmpty else { return nil }
        return "The container \(name) is new: this server has just created it, because it was named.\(hint)"
    }
}
