// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// What an operator sees and repairs.
package struct Admin: ParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "See and repair what is stored.", subcommands: [AdminDevices.self, AdminXray.self])

    package init() {}
}
