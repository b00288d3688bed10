// SPDX-License-Identifier: Apache-2.0

/// A place where commands go, by a name of the operator's.
package struct AdminContext: Codable, Sendable, Equatable {
    package let name: String
    package var target: AdminContextTarget
    package var container: String?
    package var environment: EnvironmentName?
    /// PEM: further authorities whose certificates a server may have; nil: only those of the system.
    var authorityFile: String?
    /// How its server is started, if somebody on this machine can start it; a whole command.
    package var start: String?

    package init(
        name: String, target: AdminContextTarget, container: String? = nil, environment: EnvironmentName? = nil,
        start: String? = nil, authorityFile: String? = nil
    ) {
        self.authorityFile = authorityFile
        self.name = name
        self.target = target
        self.container = container
        self.environment = environment
        self.start = start
    }
}

/// A database, or a server with an operator's credential.
package enum AdminContextTarget: Codable, Sendable, Equatable {
    /// libpq's URL, which may have a password in it.
    case database(url: String)
    case server(url: String, credential: String)
}

/// What a context file holds.
package struct ContextList: Codable, Sendable, Equatable {
    /// By name, without two of one name.
    package private(set) var contexts: [AdminContext] = []
    package private(set) var selected: String?

    package init() {}

    package subscript(name: String) -> AdminContext? { contexts.first { $0.name == name } }

    /// Adds the context in the place of another of its name.
    package mutating func set(_ context: AdminContext) {
        contexts.removeAll { $0.name == context.name }
        contexts.append(context)
        contexts.sort { $0.name < $1.name }
    }

    /// - Returns: false if there is no such context.
    package mutating func select(_ name: String) -> Bool {
        guard self[name] != nil else { return false }
        selected = name
        return true
    }

    /// - Returns: false if there is no such context.
    package mutating func remove(_ name: String) -> Bool {
        guard self[name] != nil else { return false }
        contexts.removeAll { $0.name == name }
        if selected == name { selected = nil }
        return true
    }
}
