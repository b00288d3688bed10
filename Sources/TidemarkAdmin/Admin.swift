// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// What an operator sees and repairs.
package struct Admin: ParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "See and repair what is stored.",
        subcommands: [
            AdminAccounts.self, AdminAddresses.self, AdminAssets.self, AdminAudit.self, AdminBackup.self,
            AdminCompact.self, AdminConfig.self, AdminConnections.self, AdminConsole.self, AdminContainers.self,
            AdminContextCommand.self,
            AdminCredentials.self, AdminDatabases.self, AdminDebug.self, AdminDevices.self, AdminDoctor.self,
            AdminExplain.self, AdminIdentities.self, AdminImport.self, AdminIndexes.self, AdminKeys.self,
            AdminLimits.self,
            AdminOperators.self, AdminRecords.self, AdminRoles.self, AdminSchema.self, AdminShares.self,
            AdminStats.self, AdminStoreCommand.self, AdminSubscriptions.self, AdminTail.self, AdminXray.self,
            AdminZones.self,
        ],
        defaultSubcommand: AdminConsole.self)

    package init() {}

    /// Names the command that has taken the place of one of an earlier version; nil if the arguments name no such one.
    ///
    /// - Parameter arguments: of the program, without its name.
    package static func hint(for arguments: [String]) -> String? {
        guard arguments.first == "admin" else { return nil }
        let arguments = Array(arguments.dropFirst())
        if let text = noCommand(arguments) { return text }
        let words = arguments.prefix(2).joined(separator: " ")
        if let command = renamed[words] { return "Use: \(command)" }
        if arguments.contains("--json") { return "In place of --json use: -o json" }
        if arguments.contains("--account"), !words.hasPrefix("import") {
            return "The account needs no option: tidemark admin \(words) ACCOUNT"
        }
        return nil
    }

    /// Says that no command begins as some words do; nil: there is one.
    static func noCommand(_ words: [String]) -> String? {
        guard let noun = words.first, !noun.hasPrefix("-"), !nouns.contains(noun) else { return nil }
        return "There is no command \(noun). See what there is: tidemark admin --help"
    }

    private static let nouns = Set(configuration.subcommands.map { $0._commandName })

    private static let renamed = [
        "accounts add-address": "tidemark admin addresses create",
        "accounts addresses": "tidemark admin addresses list",
        "accounts quota": "tidemark admin accounts set-quota, or tidemark admin accounts show",
        "accounts remove-address": "tidemark admin addresses delete",
        "containers quota":
            "tidemark admin containers set-quota, tidemark admin containers show or tidemark admin databases list",
        "credentials issue": "tidemark admin credentials create",
    ]
}
