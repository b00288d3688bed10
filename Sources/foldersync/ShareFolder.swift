// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// Shares a folder, changes with whom, or ends that.
struct ShareFolder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Share a folder, and print the link with which others join.",
        discussion: """
            Others join with: foldersync accept LINK FOLDER

            With --with only the people that are named can join. With --public everybody who has the link can. Sharing again
            adds people, or changes what they may do. The link stays the same.

            With --subfolder only that directory of the folder is shared. Others have it at the same place in their folder. Its
            files come as soon as a foldersync of this account has kept the folder in sync once more. A directory in a shared
            one, or around one, cannot be shared by itself.
            """)

    /// What others may do with a folder.
    enum Access: String, ExpressibleByArgument, CaseIterable {
        case nothing = "none"
        case read, write

        var permission: CKShare.ParticipantPermission {
            switch self {
            case .nothing: .none
            case .read: .readOnly
            case .write: .readWrite
            }
        }
    }

    @Argument(help: "The folder. Another foldersync may keep it in sync meanwhile.")
    var folder: String

    @Option(help: "The zone that holds the folder. Not needed if the folder was in sync before.")
    var zone: String?

    @OptionGroup var part: SubfolderOption

    @Option(
        help: ArgumentHelp(
            "Invite this person: an e-mail address, a telephone number with +, or a user record's name. May be repeated.",
            valueName: "name"))
    var with: [String] = []

    @Option(help: "What the people of --with may do: read or write.")
    var access = Access.write

    @Option(name: .customLong("public"), help: "What everybody who has the link may do: none, read or write.")
    var publicAccess: Access?

    @Option(help: ArgumentHelp("Remove this person, as members shows them. May be repeated.", valueName: "name"))
    var remove: [String] = []

    @Flag(help: "End the sharing for everybody.")
    var stop = false

    func validate() throws {
        try FolderPlace.check(zone)
        if access == .nothing {
            throw ValidationError("--access takes read or write. To remove a person: --remove NAME")
        }
        let changesPeople = !with.isEmpty || !remove.isEmpty
        if stop, changesPeople || publicAccess != nil { throw ValidationError("--stop takes no other choice.") }
        if let publicAccess, publicAccess != .nothing, changesPeople {
            throw ValidationError("Use --public to let in everybody with the link, or --with to name people, not both.")
        }
        if !stop, !changesPeople, publicAccess == nil {
            throw ValidationError("Say with whom: --with NAME, or --public read or write for everybody with the link.")
        }
    }

    func run() async throws {
        try await FolderSyncError.told {
            let shared = SharedFolder(try FolderPlace.find(folder, zoneName: zone), part.path)
            if stop {
                try await shared.end()
                print("The folder is not shared any more. The others keep their files.")
                return
            }
            let share = try await shared.change { try await change($0, shared) }
            guard let url = share.url else { throw FolderSyncError.notSharedYet }
            print(url.absoluteString)
        }
    }

    private func change(_ share: CKShare, _ shared: SharedFolder) async throws {
        // Nobody is invited or removed as long as a share is public.
        if let publicAccess { share.publicPermission = publicAccess.permission }
        for name in remove { share.removeParticipant(try SharedFolder.participant(named: name, of: share)) }
        for name in with {
            let person = try await shared.person(named: name)
            person.permission = access.permission
            share.addParticipant(person)
        }
    }
}
