// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// Where assets are stored, and how long assets are kept that no record names.
package struct AssetOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The directory of assets. All servers of a database have the same.",
            discussion: "Or TIDEMARK_ASSET_DIRECTORY. Without it, assets are refused.", valueName: "directory"))
    package var assetDirectory: String?

    @Option(
        help: ArgumentHelp(
            "How long an asset is kept that no record names.",
            discussion: "Or TIDEMARK_ASSET_GRACE_HOURS. Default: 24.", valueName: "hours"))
    package var assetGraceHours: Int?

    package init() {}

    /// Nil if it is not set.
    package var directory: String? { Setting.optional(assetDirectory, "--asset-directory") }

    /// Of an operator's command; nil if it is not set. Over a server there is none: an operator may not name a directory of
    /// the server, and the server's own variable is not the operator's.
    func directory(on screen: Screen) throws(AdminFailure) -> String? {
        guard !screen.hasLocalFiles else { return directory }
        if assetDirectory != nil { try screen.requireLocalFiles("The files of assets are on the servers' disks.") }
        return nil
    }

    package func requiredDirectory() throws(AdminFailure) -> String {
        try Setting.required(assetDirectory, "--asset-directory")
    }

    package func grace() throws(AdminFailure) -> Duration {
        let hours = try Setting.number(
            assetGraceHours, "--asset-grace-hours", default: 24, in: 0...87_600)
        return .seconds(hours * 3_600)
    }
}
