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

    package func requiredDirectory() throws(AdminFailure) -> String {
        try Setting.required(assetDirectory, "--asset-directory")
    }

    package func grace() throws(AdminFailure) -> Duration {
        let hours = try Setting.number(
            assetGraceHours, "--asset-grace-hours", default: 24, in: 0...87_600)
        return .seconds(hours * 3_600)
    }
}
