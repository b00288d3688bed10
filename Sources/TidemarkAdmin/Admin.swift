// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// What an operator sees and repairs.
package struct Admin: ParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "See and repair what is stored.",
        subcommands: [
            AdminAccounts.self, AdminAddresses.self, AdminAssets.self, AdminCompact.self, AdminContainers.self,
            AdminCredentials.self, AdminDatabases.self, AdminDevices.self, AdminExplain.self, AdminImport.self,
            AdminIndexes.self, AdminKeys.self, AdminRecords.self, AdminRoles.self, AdminSchema.self, AdminShares.self,
            AdminStoreCommand.self, AdminXray.self, AdminZones.self,
        ])

    package init() {}
}
