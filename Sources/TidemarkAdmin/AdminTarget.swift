// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Where a command goes (R-836).
///
/// An option wins over a variable of the environment, and both over the context. A context that is named by `--context`
/// counts as an option. A selected one gives container and environment only together with its database: in another
/// database, they would be somebody else's.
package struct AdminTarget: Sendable, Equatable {
    package let place: AdminContextTarget
    package let container: String?
    package let environment: ContainerEnvironment
    /// The context from which the place is; nil: an option or a variable named it.
    package let context: AdminContext?

    package static let passwordWarning =
        "Warning: everybody who may list processes can read the password in --database-url. Set "
        + "TIDEMARK_DATABASE_URL instead, or use a password file (~/.pgpass)."

    package init(
        place: AdminContextTarget, container: String?, environment: ContainerEnvironment, context: AdminContext?
    ) {
        self.place = place
        self.container = container
        self.environment = environment
        self.context = context
    }

    /// - Parameters:
    ///   - variables: of the environment.
    ///   - contexts: reads them; called only if they are needed.
    /// - Throws: ``AdminFailure`` if nothing names a place, or for a context that does not exist.
    package init(
        _ options: AdminOptions, variables: [String: String],
        contexts: () throws(AdminFailure) -> ContextList
    ) throws(AdminFailure) {
        func variable(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }
        let named = try options.context.map { name throws(AdminFailure) in try Self.context(name, of: try contexts()) }
        let url = options.databaseURL ?? (named == nil ? variable("TIDEMARK_DATABASE_URL") : nil)
        let context: AdminContext?
        if named != nil || url != nil {
            context = named
        } else {
            let list = try contexts()
            context = try (variable("TIDEMARK_CONTEXT") ?? list.selected).map { name throws(AdminFailure) in
                try Self.context(name, of: list)
            }
        }
        if let url {
            (place, self.context) = (.database(url: url), nil)
        } else if let context {
            (place, self.context) = (context.target, context)
        } else {
            throw AdminFailure(
                .usage,
                "Missing --database-url: give it, set TIDEMARK_DATABASE_URL, or select a context (tidemark admin context "
                    + "add). `tidemark dev` makes one.")
        }
        // What `--context` names counts as an option, and a selected one comes last.
        container =
            options.container ?? named?.container ?? variable("TIDEMARK_CONTAINER") ?? context?.container
        environment = try Self.environment(
            options.environment ?? named?.environment, variable("TIDEMARK_ENVIRONMENT"), context?.environment)
    }

    private static func context(_ name: String, of list: ContextList) throws(AdminFailure) -> AdminContext {
        guard let context = list[name] else { throw AdminFailure.noContext(name) }
        return context
    }

    private static func environment(
        _ option: EnvironmentName?, _ variable: String?, _ ofContext: EnvironmentName?
    ) throws(AdminFailure) -> ContainerEnvironment {
        if let option { return option.value }
        guard let variable else { return (ofContext ?? .development).value }
        guard let name = EnvironmentName(rawValue: variable) else {
            throw AdminFailure(.usage, "TIDEMARK_ENVIRONMENT must be development or production, not \(variable).")
        }
        return name.value
    }

    /// The URL of the database.
    ///
    /// - Throws: ``AdminFailure`` if the context names a server.
    func databaseURL() throws(AdminFailure) -> String {
        switch place {
        case .database(let url): return url
        case .server(let url, _):
            throw AdminFailure(
                .refused,
                "The context \(context?.name ?? "") is the server \(url), and this needs a database. Give --database-url, "
                    + "or select a context of a database.")
        }
    }

    /// What to say if the place cannot be reached; nil: nothing more than the error says.
    var advice: String? {
        guard let context, let start = context.start else { return nil }
        return "The server of the context \(context.name) does not run. Start it: \(start)"
    }
}
