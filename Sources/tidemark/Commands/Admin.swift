// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// What an operator sees and repairs.
struct Admin: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "See and repair what is stored.",
        subcommands: [
            AdminAccounts.self, AdminAssets.self, AdminCredentials.self, AdminDevices.self, AdminKeys.self,
            AdminContainers.self, AdminRoles.self, AdminZones.self, AdminShares.self, AdminExplain.self,
            AdminCompact.self, AdminSchema.self, AdminIndexes.self, AdminRecords.self, AdminImport.self,
            AdminStoreCommand.self,
        ])
}
