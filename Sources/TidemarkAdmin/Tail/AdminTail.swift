// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

struct AdminTail: AdminCommand {
    static let configuration = CommandConfiguration(
        "tail", abstract: "Show changes of records as they happen.",
        discussion: """
            Without a database it follows all databases: those of --container, or of the context's container, those of \
            --account, or with --all-containers the whole store. It hears of commits as servers do. Of a record that changes \
            twice meanwhile the last change is shown. The request of a change is the one that an app's error and a server's \
            log name, or the operator's command in the audit.

            Each line has the position in its zone. Give the last position of each zone with --after to go on where it ended. \
            Of many databases there is also one position for all of them: in the lines whose change is "position", in JSON \
            and YAML, at first and then at most every ten seconds, and on standard error at the end. Give it with --after and \
            the same choice of databases. What came after it is shown again, unless the positions of those lines are given \
            too, after it. --exec starts a command for each line, one after the other, with the line as JSON on its standard \
            input.
            """,
        examples: "tidemark admin tail alice --container iCloud.org.example.notes -o json",
        "tidemark admin tail --all-containers --account alice",
        "tidemark admin tail --after all- --once --request 8A010203-0405-8607-8000-000000000011",
        "tidemark admin tail public --type Airport --exec 'curl -sd @- http://127.0.0.1:9000/changed'")
    static let role = OperatorRole.viewer

    @Argument(
        help: "public, or an account's name for its private database. Default: all databases.",
        completion: .live(.databases))
    var database: DatabaseArgument?
    @Option(
        help: ArgumentHelp("Only this account's private databases.", valueName: "account"), completion: .live(.accounts)
    )
    var account: String?
    @Flag(help: "Databases of all containers, whatever the context says.") var allContainers = false
    @Option(help: "Only zones of this name.", completion: .live(.zones)) var zone: String?
    @Option(help: ArgumentHelp("Only records of this type.", valueName: "type")) var type: String?
    @Option(help: ArgumentHelp("Only changes that this request or command made.", valueName: "uuid"))
    var request: RequestArgument?
    @Option(help: ArgumentHelp("Go on after this position. May be repeated.", valueName: "position"))
    var after: [TailStart] = []
    @Option(help: "End after so many changes; 0: do not end.") var limit = 0
    @Flag(help: "End when there is nothing new.") var once = false
    @Option(help: ArgumentHelp("A command of the shell that gets each line.", valueName: "command")) var exec: String?
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit must be 0 (do not end) or more, not \(limit).") }
        guard database == nil || account == nil && !allContainers else {
            throw ValidationError(
                "A database has one account and one container: leave out --account and --all-containers.")
        }
        guard !allContainers || options.container == nil else {
            throw ValidationError("Choose one of --container and --all-containers.")
        }
    }

    func run(_ console: Console) async throws {
        try await run(console, sweepingEvery: Self.sweepInterval)
    }

    /// As servers do.
    private static let sweepInterval = Duration.seconds(10)

    /// - Parameter interval: after which time a change is found of which nobody told (I-4).
    func run(_ console: Console, sweepingEvery interval: Duration) async throws {
        if exec != nil { try console.screen.requireLocalFiles("Commands are started on the machine of the terminal.") }
        let places = TailedPlaces(try await choice(console), console.store)
        let (news, tell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = try console.storage.listen(
            onNotices: { notices in
                if places.hear(of: Array(notices)) { tell.yield() }
            },
            onListening: {
                places.mayHaveMissed()
                tell.yield()
            })
        defer { listener.stop() }
        var follower = TailFollower(self, places, console)
        try await follower.begin()
        // Also if the store fails meanwhile.
        defer { if places.areMany { console.say("Go on with --after \(follower.position)") } }
        func sweepLater() -> ScheduledTimer {
            console.loop.schedule(after: interval) {
                places.sweepIsDue()
                tell.yield()
            }
        }
        var timer = sweepLater()
        defer { timer.cancel() }
        // The first word comes when the listener is connected, so nothing is missed in between.
        for await _ in news {
            let hasSwept = try await follower.follow()
            if follower.left == 0 || once { break }
            if hasSwept { timer = sweepLater() }
        }
    }

    func wants(_ change: AdminStore.RecordHistory) -> Bool {
        (type == nil || change.type == type) && (request == nil || change.cause == request?.cause)
    }

    private func choice(_ console: Console) async throws -> TailedPlaces.Choice {
        if let database {
            let place = try await console.place(database)
            let account: String? = if case .private(let name) = database { name } else { nil }
            return .one(
                PlacedDatabase(
                    id: place.database, container: try console.container(), isPublic: account == nil, account: account))
        }
        var id: AccountID?
        if let account { id = try await console.account(account) }
        let container = !allContainers && console.namesContainer ? try await console.containerID() : nil
        return .all(container: container, account: id)
    }
}
