// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import TidemarkDomain
internal import TidemarkService
package import TidemarkStore

/// One of a container's databases, and the user who acts in it.
package struct RecordsPlace: Sendable {
    package let container: ContainerID
    package let database: DatabaseID
    /// Nil for no user, who can only read.
    package let user: AdminStore.User?

    /// An operator may do everything, whatever the grants are.
    package var access: RecordAccess { .owner(user?.id ?? Self.nobody) }

    /// An ID that no user has.
    private static let nobody = UserID(0)
}

/// A database on a command line: `public`, or an account's name for its private database. An account that is itself
/// named public is `private:public`.
package enum DatabaseArgument: ExpressibleByArgument, Equatable, Sendable {
    case `public`
    case `private`(account: String)

    private static let mark = "private:"
    private static let publicName = "public"

    package init?(argument: String) {
        if argument == Self.publicName {
            self = .public
        } else {
            let name = argument.hasPrefix(Self.mark) ? String(argument.dropFirst(Self.mark.count)) : argument
            guard AccountName.isValid(name) else { return nil }
            self = .private(account: name)
        }
    }

    package var defaultValueDescription: String { name }

    /// As it can be written again.
    package var name: String {
        switch self {
        case .public: Self.publicName
        case .private(Self.publicName): Self.mark + Self.publicName
        case .private(let account): account
        }
    }

    /// For messages.
    package var text: String {
        switch self {
        case .public: "the public database"
        case .private(let account): "\(account)'s private database"
        }
    }
}

extension Console {
    /// The database in which a command reads or saves records.
    ///
    /// - Parameters:
    ///   - creator: the account that is named as the creator of records saved in the public database.
    ///   - makesUsers: whether an account that was never in the container gets a private database there.
    /// - Throws: ``AdminFailure`` for a container or an account that does not exist.
    package func place(
        _ database: DatabaseArgument, creator: String? = nil, makesUsers: Bool = false
    ) async throws -> RecordsPlace {
        let (key, id) = (try container(), try await containerID())
        switch database {
        case .public:
            let user: AdminStore.User? = if let creator { try await self.user(ofAccount: creator) } else { nil }
            let service = CloudService(storage: storage, scheduler: loop, limits: .standard, onMoved: { _ in })
            switch await service.publicDatabase(of: key) {
            case .success(let found): return RecordsPlace(container: id, database: found.database, user: user)
            case .failure(let reason): throw AdminFailure(reason)
            }
        case .private(let account):
            if !makesUsers { _ = try await privateDatabase(ofAccount: account) }
            let user = try await self.user(ofAccount: account)
            return RecordsPlace(container: id, database: user.privateDatabase, user: user)
        }
    }
}
