// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkStore

/// What commands look up before they do anything.
extension Console {
    /// - Throws: ``AdminFailure`` if no container is named, or if it does not exist.
    package func containerID() async throws -> ContainerID {
        let key = try container()
        guard let id = try await store.container(key.identifier, key.environment) else {
            throw AdminFailure.noContainer(key)
        }
        return id
    }

    /// - Throws: ``AdminFailure`` if the account has none in the container.
    package func privateDatabase(ofAccount name: String) async throws -> DatabaseID {
        let key = try container()
        guard let database = try await store.privateDatabase(ofAccount: name, in: key) else {
            _ = try await account(name)
            throw AdminFailure.noDatabase(name, in: key)
        }
        return database
    }

    /// The user that an account is in the container. It is made one if it was never there; with `--dry-run`
    /// `AdminStore.User.planned` stands for it.
    package func user(ofAccount name: String) async throws -> AdminStore.User {
        let key = try container()
        _ = try await account(name)
        let user =
            if isDryRun {
                try await store.plannedUser(ofAccount: name, in: key)
            } else {
                try await store.user(ofAccount: name, in: key, now: now)
            }
        guard let user else { throw AdminFailure.noContainer(key) }
        return user
    }
}

extension AdminFailure {
    package static func noAccount(_ name: String) -> AdminFailure {
        AdminFailure(
            .refused,
            "There is no account named \(name). See: tidemark admin accounts list. To create it: tidemark admin accounts "
                + "create \(name)")
    }

    package static func noContainer(_ key: ContainerKey) -> AdminFailure {
        AdminFailure(
            .refused,
            "There is no container \(key.identifier) in \(key.environment.name). See: tidemark admin containers list. "
                + "To create it: tidemark admin containers create \(key.identifier) --environment \(key.environment.name)"
        )
    }

    /// - Parameter account: nil if none was named.
    package static func noDatabase(_ account: String?, in key: ContainerKey) -> AdminFailure {
        AdminFailure(
            .refused,
            "\(account.map { "The account \($0) has no data" } ?? "Nobody has data") in \(key.identifier), "
                + "\(key.environment.name). See: tidemark admin accounts list, tidemark admin containers list")
    }
}
