// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Where a command goes: an option wins over a variable of the environment, and both over the context.
package struct AdminTarget: Sendable, Equatable {
    package let databaseURL: String
    package let container: String?
    package let environment: ContainerEnvironment

    package init(databaseURL: String, container: String?, environment: ContainerEnvironment) {
        self.databaseURL = databaseURL
        self.container = container
        self.environment = environment
    }

    package static let passwordWarning =
        "Warning: everybody who may list processes can read the password in --database-url. Set "
        + "TIDEMARK_DATABASE_URL instead, or use a password file (~/.pgpass)."

    /// - Throws: ``AdminFailure`` if no database is named.
    package init(_ options: AdminOptions, variables: [String: String]) throws(AdminFailure) {
        func value(_ option: String?, _ variable: String) -> String? {
            option ?? variables[variable].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let url = value(options.databaseURL, "TIDEMARK_DATABASE_URL") else {
            throw AdminFailure(.usage, "Missing --database-url: give it, or set TIDEMARK_DATABASE_URL.")
        }
        databaseURL = url
        container = value(options.container, "TIDEMARK_CONTAINER")
        environment = (options.environment ?? .development).value
    }
}
