// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// People on one board, who see each other's cursors move.
@main
struct Cursors: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cursors",
        abstract: "Shows the cursors of all who have a board open.",
        usage: "cursors NAME [--zone ZONE] [--share | --join LINK]",
        discussion: """
            The server is named by the environment: TIDEMARK_URL, TIDEMARK_TOKEN, TIDEMARK_CA, TIDEMARK_CONTAINER \
            (`tidemark dev` prints them). The board is a zone without records.

            h, j, k and l move the cursor. w waves to the others. q ends the program.
            """)

    @Argument(help: "Your name. The others see its first letter.")
    var name: String

    @Option(help: "The board.")
    var zone = "board"

    @Flag(help: "Let everybody in who has the link, and print it.")
    var share = false

    @Option(help: ArgumentHelp("The board of somebody else.", valueName: "link"))
    var join: String?

    @Option(help: ArgumentHelp("Move so many times without a key, and end.", valueName: "count"))
    var walk: Int?

    func run() async throws {
        let (database, zoneID, link) = try await open(CKContainer.default())
        let presence = database.presence(in: zoneID)
        let terminal = Keyboard.take()
        defer { if let terminal { Keyboard.giveBack(terminal) } }
        let screen = BoardScreen(isTerminal: terminal != nil, link: link)
        try await withThrowingTaskGroup(of: Void.self) { [name, walk] group in
            group.addTask {
                for try await members in presence.members { await screen.show(members) }
            }
            group.addTask {
                for try await message in presence.messages {
                    await screen.show(message: String(decoding: message.content, as: UTF8.self))
                }
            }
            group.addTask { try await Self.move(name, presence, walk: walk) }
            // The keys end it, or the presence, which says why: somebody may have been removed from the share.
            _ = try await group.next()
            group.cancelAll()
        }
    }

    /// Moves the cursor until there are no more keys.
    private static func move(_ name: String, _ presence: TidemarkPresence, walk: Int?) async throws {
        var cursor = BoardCursor(name: name, column: 0, row: 0)
        func publish() throws { try presence.update(JSONEncoder().encode(cursor)) }
        try publish()
        if let walk {
            for number in 0..<max(0, walk) {
                try await Task.sleep(for: .milliseconds(200))
                cursor.move(number.isMultiple(of: 2) ? .right : .down)
                try publish()
            }
        } else {
            for await key in Keyboard.keys {
                if key == UInt8(ascii: "q") || key == Keyboard.interrupt { break }
                if key == UInt8(ascii: "w") { try? await presence.send(Data("\(name) waves".utf8)) }
                guard let step = BoardCursor.Step(key: key) else { continue }
                cursor.move(step)
                try publish()
            }
        }
    }

    /// The board, which is made if it is not there, and its link if it is shared here.
    private func open(_ container: CKContainer) async throws -> (CKDatabase, CKRecordZone.ID, link: String?) {
        if let join {
            guard let url = URL(string: join) else { throw ValidationError("This is no link: \(join)") }
            let joined = try await container.accept(try await container.shareMetadata(for: url))
            return (container.sharedCloudDatabase, joined.recordID.zoneID, nil)
        }
        let database = container.privateCloudDatabase
        let zoneID = CKRecordZone.ID(zoneName: zone)
        try await database.save(CKRecordZone(zoneID: zoneID))
        guard share else { return (database, zoneID, nil) }
        let link = try await self.link(of: zoneID, in: database)
        FileHandle.standardOutput.write(Data("link: \(link)\n".utf8))
        return (database, zoneID, link)
    }

    /// The link of the board, which is shared if it is not.
    private func link(of zoneID: CKRecordZone.ID, in database: CKDatabase) async throws -> String {
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
        if let known = try? await database.record(for: id) as? CKShare, let url = known.url {
            return url.absoluteString
        }
        let share = CKShare(recordZoneID: zoneID)
        share.publicPermission = .readWrite
        let saved = try await database.save(share)
        return (saved as? CKShare)?.url?.absoluteString ?? ""
    }
}

/// Draws the board anew with each change; without a terminal, it prints a line.
private actor BoardScreen {
    private let isTerminal: Bool
    private let link: String?
    private var board = Board()

    init(isTerminal: Bool, link: String?) { (self.isTerminal, self.link) = (isTerminal, link) }

    func show(_ members: [TidemarkPresenceMember]) {
        let message = board.message
        board = Board(members)
        board.message = message
        draw(board.line)
    }

    func show(message: String) {
        board.message = message
        draw(Board.shown(message))
    }

    private func draw(_ line: String) {
        let text = isTerminal ? board.screen(link: link) : line + "\n"
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
