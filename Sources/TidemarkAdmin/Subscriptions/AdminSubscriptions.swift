// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

struct AdminSubscriptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions", abstract: "Which changes an account's devices are told of.",
        subcommands: [List.self, Delete.self])

    /// A scope on a command line.
    enum Scope: String, ExpressibleByArgument, CaseIterable, Sendable {
        case `private`, shared, `public`

        var value: DatabaseScope {
            switch self {
            case .private: .private
            case .shared: .shared
            case .public: .public
            }
        }
    }

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List an account's subscriptions in a container.",
            examples: "tidemark admin subscriptions list alice --container iCloud.org.example.notes")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let user = try await AdminSubscriptions.user(account, console)
            try await console.show(
                try await console.storage.subscriptions(of: user.user, withFired: false),
                as: [
                    Column("SUBSCRIPTION", key: "subscription", isName: true) { .text($0.id) },
                    Column("DATABASE", key: "database") { .text($0.scope.word) },
                    Column("KIND", key: "kind") { .text($0.kind.word) },
                    Column("ZONE", key: "zone") { .optional($0.zoneName) },
                    Column("RECORD TYPE", key: "recordType") { .optional($0.recordType) },
                    Column("INFO BYTES", key: "notificationInfoBytes", wide: true) {
                        .number($0.notificationInfo.count)
                    },
                    Column("FIRES ON", key: "firesOn", wide: true) { .optional($0.query?.options.words) },
                    Column("PREDICATE", key: "predicate", wide: true) { .optional($0.query?.predicate.word) },
                ])
        }
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete a subscription. The account's devices are no longer told of its changes.",
            discussion: "Servers know it within half a minute. An app that misses it may save it again.",
            examples: "tidemark admin subscriptions delete alice notes-changed --container iCloud.org.example.notes")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The subscription's ID.") var id: String
        @Option(help: "private, shared or public.") var database = Scope.private
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let user = try await AdminSubscriptions.user(account, console)
            let isMissing = AdminFailure(
                .refused,
                "\(account) has no subscription \(id) in its \(database.rawValue) database. See: tidemark admin "
                    + "subscriptions list \(account)")
            let all = try await console.storage.subscriptions(of: user.user, withFired: false)
            guard let subscription = all.first(where: { $0.id == id && $0.scope == database.value }) else {
                throw isMissing
            }
            let deviceCount = try await console.store.devices(of: try await console.account(account)).count
            try await console.confirm(
                "delete the subscription \(id) of \(account)",
                loss: "\(account) has \(Amount.text(all.count, "subscription")) in the container, and "
                    + "\(Amount.text(deviceCount, "device")) that would not be told of its changes any more. Only an app can "
                    + "save it again.")
            let gone = try await console.storage.deleteSubscriptions([id], scope: database.value, of: user.user)
            guard !gone.isEmpty else { throw isMissing }
            // It is a hint: servers read subscriptions again when they are old.
            try? await console.storage.post(AdminSubscriptions.notices(ofEnd: subscription, of: user))
            console.say("Deleted \(id).")
        }
    }

    /// Those that a server posts when a client deletes a subscription.
    private static func notices(ofEnd subscription: Subscription, of user: AccountUser) -> [ServerNotice] {
        var notices = [subscription.query.map { ServerNotice.queriesChanged($0.database) }].compactMap(\.self)
        if subscription.scope != .private, let shared = user.sharedDatabase {
            notices.append(.zone(ZoneNotice(database: shared, life: .nobody, zoneName: "")))
        }
        return notices
    }

    private static func user(_ account: String, _ console: Console) async throws -> AccountUser {
        let (key, id) = (try console.container(), try await console.account(account))
        guard let user = try await console.store.users(of: id).first(where: { $0.container == key }) else {
            throw AdminFailure.noDatabase(account, in: key)
        }
        return user
    }
}
