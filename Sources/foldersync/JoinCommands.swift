// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// Joins a folder that somebody else shares, and keeps it in sync.
struct AcceptFolder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Join a folder that somebody shares, and keep it in sync.",
        discussion: "Later, start it again with: foldersync FOLDER")

    @Argument(help: "The link that foldersync share printed. It is asked of the server that the environment names.")
    var link: String

    @Argument(help: "The folder to keep in sync. It is created if it does not exist.")
    var folder: String

    @OptionGroup var options: SyncOptions

    func run() async throws {
        try await FolderSyncError.told {
            let place = try await SharedFolder.accept(link, known: try Journal.place(ofFolder: folder)) { place in
                try options.rejoin(folder, place)
            }
            try await options.sync(folder, with: place)
        }
    }
}

/// Leaves a folder that somebody else shares.
struct LeaveFolder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Leave a folder that somebody shares with this account.",
        discussion: "The files stay, here and with everybody else. If foldersync is running for the folder, it stops.")

    @Argument(help: "The folder.") var folder: String
    @OptionGroup var part: SubfolderOption

    func run() async throws {
        try await FolderSyncError.told {
            let place = try FolderPlace.find(folder, zoneName: nil)
            try await SharedFolder(place, part.path).leave()
            // It may be joined again on another device. If this program is killed before it records that, the next sync
            // or the next acceptance does.
            try Journal.zoneIsLeft(place, inFolder: folder)
            print("Left. The files stay.")
        }
    }
}

/// Shows who takes part in a shared folder.
struct ListMembers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "members", abstract: "Show who takes part in a shared folder, and its link.",
        discussion: """
            Who may change the share sees everybody. Others see those who have joined. People who have joined are shown \
            with the names that the operator of the server has set.
            """)

    @Argument(help: "The folder.") var folder: String
    @Option(help: "The zone that holds the folder. Not needed if the folder was in sync before.") var zone: String?
    @OptionGroup var part: SubfolderOption

    func validate() throws {
        try FolderPlace.check(zone)
    }

    func run() async throws {
        try await FolderSyncError.told {
            let shared = SharedFolder(try FolderPlace.find(folder, zoneName: zone), part.path)
            guard let share = try await shared.share() else { throw FolderSyncError.notSharedYet }
            if let url = share.url { print("\(url.absoluteString) (\(share.publicPermission.words(for: nil)))") }
            for participant in share.participants {
                let isCaller = participant == share.currentUserParticipant
                var names = Array(participant.names.prefix(1))
                // Who has no other name has an ID, which is in the last column.
                if isCaller { names.removeAll { $0 == participant.participantID } }
                if let name = participant.userIdentity.nameComponents?.inOneLine { names.insert(name, at: 0) }
                if isCaller { names.append("you") }
                let columns = [
                    names.joined(separator: ", "), participant.role.word,
                    participant.permission.words(for: participant), participant.acceptanceStatus.word,
                    participant.participantID,
                ]
                print(columns.map(TerminalReport.printable).joined(separator: "  "))
            }
        }
    }
}

extension PersonNameComponents {
    fileprivate var inOneLine: String { [givenName, familyName].compactMap { $0 }.joined(separator: " ") }
}

extension CKShare.ParticipantPermission {
    /// - Parameter participant: nil: everybody who has the link.
    fileprivate func words(for participant: CKShare.Participant?) -> String {
        let words =
            switch self {
            case .readOnly: "may read"
            case .readWrite: "may write"
            case .none, .unknown: "may do nothing"
            }
        if participant != nil { return words }
        return self == .none ? "for those who are invited" : "everybody with the link \(words)"
    }
}

extension CKShare.ParticipantRole {
    fileprivate var word: String {
        switch self {
        case .owner: "owner"
        case .administrator: "administrator"
        case .privateUser: "invited"
        case .publicUser: "by link"
        case .unknown: "unknown"
        }
    }
}

extension CKShare.ParticipantAcceptanceStatus {
    fileprivate var word: String {
        switch self {
        case .pending: "not joined yet"
        case .accepted: "joined"
        case .removed: "removed"
        case .unknown: "unknown"
        }
    }
}
