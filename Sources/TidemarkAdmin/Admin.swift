// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// What an operator sees and repairs.
package struct Admin: ParsableCommand {
    package static let configuration = CommandConfiguration(
        // The console shows the usage of a command as a shell takes it.
        commandName: "admin", _superCommandName: "tidemark", abstract: "See and repair what is stored.",
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

    /// What to type in the place of a command that does not exist, or of an option of an earlier version; nil if the
    /// arguments have no such one.
    ///
    /// - Parameter arguments: of the program, without its name.
    package static func hint(for arguments: [String]) -> String? {
        guard arguments.first == "admin" else { return nil }
        let arguments = Array(arguments.dropFirst())
        if let text = CommandPath.mistake(in: arguments, of: Admin.self) { return text }
        if let text = CommandPath.misplacedOption(in: arguments, of: Admin.self) { return text }
        if arguments.contains("--json") { return "In place of --json use: -o json" }
        let words = Array(arguments.prefix { !$0.hasPrefix("-") }.prefix(2))
        if arguments.contains("--account"), CommandTree.admin.takesAccount(words) {
            return "The account needs no option: tidemark admin \(words.joined(separator: " ")) ACCOUNT"
        }
        return nil
    }
}
