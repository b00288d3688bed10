// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// Where assets are stored, and how long assets are kept that no record names.
package struct AssetOptions: ParsableArguments, Sendable {
    @Option(help: ServeSetting.help("asset-directory")) package var assetDirectory: String?

    @Option(help: ServeSetting.help("asset-grace-hours")) package var assetGraceHours: Int?

    package init() {}

    /// Nil if it is not set.
    package var directory: String? {
        get throws(AdminFailure) { try Setting.optional(assetDirectory, "--asset-directory") }
    }

    /// The asset directory of an operator's command; nil if it is not set. Over a server there is none: an operator may
    /// not name a directory of the server, and the server's own variable is not the operator's.
    func directory(on screen: Screen) throws(AdminFailure) -> String? {
        guard !screen.hasLocalFiles else { return try directory }
        if assetDirectory != nil { try screen.requireLocalFiles("The files of assets are on the servers' disks.") }
        return nil
    }

    package func requiredDirectory() throws(AdminFailure) -> String {
        try Setting.required(assetDirectory, "--asset-directory")
    }

    package func grace() throws(AdminFailure) -> Duration {
        let hours = try Setting.number(
            assetGraceHours, "--asset-grace-hours", default: 24)
        return .seconds(hours * 3_600)
    }
}
